// The generated Kotlin sources on a JVM: every call, every kind of failure,
// threads. Run by scripts/test-uniffi: api MODEL_FILE UNCHECKED_MODEL_FILE LANGUAGE_FILE

import java.io.File
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.concurrent.thread
import uniffi.brr.BrrException
import uniffi.brr.Budget
import uniffi.brr.Language
import uniffi.brr.Layout
import uniffi.brr.Mechanism
import uniffi.brr.Model
import uniffi.brr.Options
import uniffi.brr.Privatizer
import uniffi.brr.Standing
import uniffi.brr.Unknown

const val TEXT = "The film was a waste of an evening, wasn't it?"

inline fun <reified E : BrrException> failure(call: () -> Unit): String {
    try {
        call()
    } catch (error: BrrException) {
        check(error is E) { "expected ${E::class.java}, got $error" }
        return error.message!!
    }
    error("it should have failed")
}

fun models(path: String) {
    val bytes = File(path).readBytes()
    val english = Model.english()
    for (model in listOf(Model.open(path), Model.fromBytes(bytes))) {
        check(model.words() == english.words() && model.bits() == english.bits())
    }
    check(english.words() > 1000u && english.bits() % 64u == 0uL)

    val missing = failure<BrrException.File> { Model.open("/nowhere/model.brr") }
    check(missing.startsWith("cannot read /nowhere/model.brr: "))
    val other = failure<BrrException.Model> { Model.fromBytes("not a model".toByteArray()) }
    check(other.startsWith("not a brr model"))
    bytes[bytes.size / 2] = (bytes[bytes.size / 2] + 1).toByte()
    check("checksum" in failure<BrrException.Model> { Model.fromBytes(bytes) })
}

fun standings(path: String) {
    check(Model.english().standing() == Standing.PINNED)
    val model = Model.open(path)
    check(model.standing() == Standing.UNCHECKED)
    val message = failure<BrrException.UncheckedModel> { Privatizer(model, Options(budget = Budget.Keep(0.999))) }
    check("check()" in message)
    val options = Options(budget = Budget.Epsilon(1.0))
    val before = Privatizer(model, options).guarantee()
    model.check()
    check(model.standing() == Standing.CHECKED)
    val after = Privatizer(model, options).guarantee()
    check(before.expectedKeep == null && after.expectedKeep!! > 0.9 && after.worst < before.worst)
}

fun budgets(model: Model) {
    fun wrong(budget: Budget) = failure<BrrException.Budget> { Privatizer(model, Options(budget = budget)) }
    check(wrong(Budget.Epsilon(-1.0)) == "epsilon must be a positive finite number, got -1")
    check(wrong(Budget.Epsilon(Double.NaN)).startsWith("epsilon must be"))
    check(wrong(Budget.Bound(0.0)).startsWith("the privacy-loss bound must be"))
    check(wrong(Budget.Keep(7.0)) == "the share of kept words must lie between 0 and 1, got 7")

    val privatizer = Privatizer(model, Options(Mechanism.BRR, Budget.Epsilon(0.5)))
    val promise = privatizer.guarantee()
    check(promise.epsilon <= 0.5 && promise.epsilon > 0.499)
    check(promise.metric == "hamming-${model.bits()}")
    check(0 < promise.nearest && promise.nearest < promise.bound && promise.bound < promise.worst)
    check(promise.worst.isFinite() && promise.unknownLoss.isFinite() && promise.unknownLoss > 0)
    check(promise.losses.isEmpty())
    val tree = Privatizer(model, Options(Mechanism.TREE, Budget.Epsilon(0.85))).guarantee()
    check(tree.losses.size == 16 && tree.losses[0] == 0.0 && tree.losses[15] == tree.worst)
    check(privatizer.totalLoss(0u) == 0.0 && privatizer.totalLoss(10u) >= 10 * promise.worst)

    for (mechanism in Mechanism.entries) {
        val bound = Privatizer(model, Options(mechanism, Budget.Bound(13.0))).guarantee().bound
        check(bound > 12 && bound <= 13)
    }
    val default = Privatizer(model).guarantee()
    check(default == Privatizer(model, Options(Mechanism.EXPONENTIAL, Budget.Keep(0.5))).guarantee())
    check(default.expectedKeep!! > 0.44 && default.expectedKeep!! <= 0.5)
    check(Privatizer(model, Options(unknown = Unknown.DROP)).totalLoss(1u).isInfinite())
    check("punctuation marks" in Privatizer(model).adjacency())
    check("infinite loss" in Privatizer(model, Options(unknown = Unknown.DROP)).adjacency())
}

fun texts(model: Model) {
    for (mechanism in Mechanism.entries) {
        val high = Privatizer(model, Options(mechanism, Budget.Epsilon(20.0)))
        // A word changes one time in 260,000, two of four one time in ten billion.
        val kept = high.privatize("the film was good").text.split(" ")
        check(kept.zip(listOf("the", "film", "was", "good")).count { (a, b) -> a == b } >= 3)
        val low = Privatizer(model, Options(mechanism, Budget.Epsilon(0.01)))
        val drawn = List(5) { low.privatize(TEXT).text }.toSet()
        check(drawn.size == 5 && TEXT.lowercase() !in drawn)
    }
    val privatizer = Privatizer(model)
    val private = privatizer.privatize(TEXT)
    check(private.tokens == 11uL && private.unknown == 0uL && private.text.endsWith("?"))
    check(privatizer.privatize("").text == "")
    val words = Privatizer(model, Options(layout = Layout.WORDS)).privatize(TEXT)
    check(words.tokens == 11uL && "?" !in words.text && "," !in words.text)
    val unknown = privatizer.privatize("qqqqxzzz")
    check(unknown.unknown == 1uL && "qqqqxzzz" !in unknown.text)
    check(Privatizer(model, Options(unknown = Unknown.MASK)).privatize("qqqqxzzz").text == "<unk>")
}

fun contexts(model: Model, path: String, otherModel: String) {
    val bytes = File(path).readBytes()
    val missing = failure<BrrException.File> { Language.open("/nowhere/english.lm") }
    check(missing.startsWith("cannot read /nowhere/english.lm: "))
    val garbage = failure<BrrException.Model> { Language.fromBytes("garbage".toByteArray()) }
    check(garbage.startsWith("not a language model"))
    val plain = "all is well. nothing changes at so large a bound!"
    for (language in listOf(Language.english(), Language.open(path), Language.fromBytes(bytes))) {
        val high = Privatizer(model, Options(budget = Budget.Bound(400.0), context = language))
        language.close() // the privatizer keeps it alive
        check(high.privatize(plain).text == plain)
    }
    val language = Language.english()
    val decoded = Privatizer(model, Options(budget = Budget.Bound(20.0), context = language))
    val private = decoded.privatize(TEXT)
    check(private.tokens == 11uL && private.text.endsWith("?") && "," in private.text)
    val drawn = Privatizer(model, Options(budget = Budget.Bound(20.0)))
    check(decoded.guarantee().copy(expectedKeep = null) == drawn.guarantee().copy(expectedKeep = null))
    val mismatch = failure<BrrException.Model> {
        Privatizer(Model.open(otherModel), Options(budget = Budget.Epsilon(1.0), context = language))
    }
    check("another vocabulary" in mismatch)
}

fun explanations(model: Model) {
    for (mechanism in Mechanism.entries) {
        val privatizer = Privatizer(model, Options(mechanism, Budget.Epsilon(1.0)))
        val likely = privatizer.outcomes("film", top = 3u, draws = 200u)
        check(likely.size <= 3 && likely[0].word == "film")
        check(likely.all { it.low <= it.probability && it.probability <= it.high })
        // The one call that can fail over a word: its message does not quote it.
        val message = failure<BrrException.Input> { privatizer.outcomes("qqqqxzzz") }
        check("the model does not have that word" in message && "qqqq" !in message)
    }
    // A lone surrogate is no text; what says so does not quote the text either.
    val error = runCatching { Privatizer(model).privatize("secret \ud800") }.exceptionOrNull()
    check(error != null && "secret" !in error.toString())
}

fun threads(model: Model) {
    // So much noise that no word weighs 20 times another: two of 80 draws of 11 words are equal
    // with a probability below 1e-30.
    val privatizer = Privatizer(model, Options(budget = Budget.Epsilon(0.01)))
    val drawn = ConcurrentLinkedQueue<String>()
    val running = List(4) {
        thread {
            repeat(20) {
                val private = privatizer.privatize(TEXT)
                if (private.tokens == 11uL) drawn.add(private.text)
            }
        }
    }
    running.forEach { it.join() }
    check(drawn.size == 80 && drawn.toSet().size == 80)
}

fun lifetimes() {
    val model = Model.english()
    val privatizer = Privatizer(model)
    model.close()
    check(privatizer.privatize(TEXT).tokens == 11uL) // it keeps its model alive
    privatizer.close()
    check(runCatching { privatizer.privatize(TEXT) }.exceptionOrNull() is IllegalStateException)
}

fun main(args: Array<String>) {
    models(args[0])
    standings(args[1])
    val model = Model.english()
    budgets(model)
    texts(model)
    contexts(model, args[2], args[1])
    explanations(model)
    threads(model)
    lifetimes()
    println("all passed")
}
