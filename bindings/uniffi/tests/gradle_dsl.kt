// As much of Gradle's language as bindings/uniffi/gradle speaks, and nothing behind it: with this
// in front, the compiler tells whether the build files are well-formed. scripts/test-uniffi puts
// them into the functions `settings` and `build`.
@file:Suppress("unused", "UNUSED_PARAMETER", "UnusedReceiverParameter")

class Property { fun set(value: String) = Unit }
class License { val name = Property() }
class Licenses { fun license(of: License.() -> Unit) = Unit }
class Pom {
    val description = Property()
    fun licenses(of: Licenses.() -> Unit) = Unit
}
class MavenPublication {
    fun from(component: String) = Unit
    fun pom(of: Pom.() -> Unit) = Unit
}
class Publications { fun <T> create(name: String, of: MavenPublication.() -> Unit) = Unit }
class Publishing { fun publications(of: Publications.() -> Unit) = Unit }
class Plugin { infix fun version(version: String) = Unit }
class Plugins {
    fun kotlin(module: String) = Plugin()
    val `java-library` = Plugin()
    val `maven-publish` = Plugin()
}
class Repositories { fun mavenCentral() = Unit }
class Dependencies { fun api(coordinates: String) = Unit }
class Kotlin { fun jvmToolchain(version: Int) = Unit }
class RootProject { var name = "" }
class Components { operator fun get(name: String) = name }

val rootProject = RootProject()
val components = Components()
var group = ""
var version = ""
fun plugins(of: Plugins.() -> Unit) = Unit
fun repositories(of: Repositories.() -> Unit) = Unit
fun dependencies(of: Dependencies.() -> Unit) = Unit
fun kotlin(of: Kotlin.() -> Unit) = Unit
fun publishing(of: Publishing.() -> Unit) = Unit
