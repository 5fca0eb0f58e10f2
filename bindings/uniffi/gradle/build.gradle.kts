// brr for the JVM. scripts/build-uniffi puts the generated sources into src/main/kotlin and the
// library into src/main/resources, where JNA finds it. Take the folder into your build with
// `includeBuild("path/to/it")` and depend on "brr:brr".
plugins {
    kotlin("jvm") version "2.4.20"
    `java-library`
    `maven-publish`
}

group = "brr"
version = "0.1.0"

repositories {
    mavenCentral()
}

dependencies {
    api("net.java.dev.jna:jna:5.17.0")
}

kotlin {
    jvmToolchain(17)
}

publishing {
    publications {
        create<MavenPublication>("brr") {
            from(components["java"])
            pom {
                description.set("On-device text privatization: word-level metric differential privacy")
                licenses {
                    license { name.set("MIT OR Apache-2.0") }
                }
            }
        }
    }
}
