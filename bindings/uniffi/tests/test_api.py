"""The generated Python sources: every call, every kind of failure, threads.

Python has a binding of its own (bindings/python); this one is generated to test
the same library that Kotlin and Swift load. Run by scripts/test-uniffi.
"""

import math
import os
import threading
import unittest

from brr import (
    Budget, BrrError, Case, Language, Layout, Mechanism, Model, Options, Privatizer, Standing, Unknown,
    Words,
)

FILE = os.environ["BRR_MODEL"]
UNCHECKED = os.environ["BRR_UNCHECKED_MODEL"]
LANGUAGE = os.environ["BRR_LANGUAGE"]
TEXT = "The film was a waste of an evening, wasn't it?"


def privatizer(**options):
    return Privatizer(Model.english(), Options(**options))


class Models(unittest.TestCase):
    def test_built_in_from_file_and_from_bytes_are_one(self):
        with open(FILE, "rb") as file:
            models = [Model.english(), Model.open(FILE), Model.from_bytes(file.read())]
        self.assertEqual(len({(model.words(), model.bits()) for model in models}), 1)
        self.assertGreater(models[0].words(), 1000)
        self.assertEqual(models[0].bits() % 64, 0)

    def test_a_file_is_believed_after_a_check(self):
        self.assertEqual(Model.english().standing(), Standing.PINNED)
        self.assertEqual(Model.open(FILE).standing(), Standing.PINNED)
        model = Model.open(UNCHECKED)
        self.assertEqual(model.standing(), Standing.UNCHECKED)
        with self.assertRaisesRegex(BrrError.UncheckedModel, r"check\(\)"):
            Privatizer(model, Options(budget=Budget.KEEP(0.999)))
        options = Options(budget=Budget.EPSILON(1.0))
        before = Privatizer(model, options).guarantee()
        self.assertIsNone(before.expected_keep)
        model.check()
        self.assertEqual(model.standing(), Standing.CHECKED)
        after = Privatizer(model, options).guarantee()
        self.assertGreater(after.expected_keep, 0.9)
        self.assertLess(after.worst, before.worst)

    def test_failures_are_typed_and_say_what_happened(self):
        with self.assertRaisesRegex(BrrError.File, "^cannot read /nowhere/model.brr: "):
            Model.open("/nowhere/model.brr")
        with self.assertRaisesRegex(BrrError.Model, "^not a brr model"):
            Model.open(__file__)
        with open(FILE, "rb") as file:
            damaged = bytearray(file.read())
        damaged[len(damaged) // 2] ^= 1
        with self.assertRaisesRegex(BrrError.Model, "checksum"):
            Model.from_bytes(bytes(damaged))


class Context(unittest.TestCase):
    def test_decoded_texts_have_as_many_tokens_and_the_same_guarantee(self):
        budget = Budget.BOUND(20.0)
        decoded = privatizer(budget=budget, context=Language.english())
        private = decoded.privatize(TEXT)
        self.assertEqual(private.tokens, 11)
        self.assertRegex(private.text, r"^[^?,]*,[^?,]*\?$")
        with_it, without = decoded.guarantee(), privatizer(budget=budget).guarantee()
        with_it.expected_keep = without.expected_keep = None
        self.assertEqual(with_it, without)

    def test_nothing_changes_at_a_large_bound(self):
        text = "all is well. nothing changes at so large a bound!"
        with open(LANGUAGE, "rb") as file:
            languages = [Language.english(), Language.open(LANGUAGE), Language.from_bytes(file.read())]
        for language in languages:
            for mechanism in Mechanism:
                p = privatizer(mechanism=mechanism, budget=Budget.BOUND(400.0), context=language)
                self.assertEqual(p.privatize(text).text, text)

    def test_failures_are_typed_and_say_what_happened(self):
        with self.assertRaisesRegex(BrrError.File, "^cannot read /nowhere/english.lm: "):
            Language.open("/nowhere/english.lm")
        with self.assertRaisesRegex(BrrError.Model, "^not a language model"):
            Language.from_bytes(b"garbage")
        options = Options(budget=Budget.EPSILON(1.0), context=Language.english())
        with self.assertRaisesRegex(BrrError.Model, "another vocabulary"):
            Privatizer(Model.open(UNCHECKED), options)


class Policies(unittest.TestCase):
    def test_public_words_stay_and_capital_letters_come_from_the_output(self):
        tree = {"mechanism": Mechanism.TREE, "budget": Budget.EPSILON(0.8)}
        p = privatizer(public=Words.NAMED("function-words"), case=Case.SENTENCE, **tree)
        private = p.privatize("THE doctor was NOT here")
        self.assertRegex(private.text, "^The [A-Za-z]+ was not here$")
        self.assertEqual((private.tokens, private.public), (5, 4))
        self.assertIn("public list function-words", p.adjacency())
        self.assertEqual(p.kept_words(), "private words stay as they are")
        own = privatizer(private=Words.GIVEN(["doctor", "Nurse"]), **tree)
        self.assertIn(own.privatize("a doctor").text, ["a doctor", "a nurse"])
        with self.assertRaisesRegex(BrrError.Argument, "not both"):
            privatizer(public=Words.NAMED("names"), private=Words.NAMED("places"))
        with self.assertRaisesRegex(BrrError.Input, "^line 2 "):
            privatizer(private=Words.GIVEN(["doctor", "qzxj"]), **tree)


class Budgets(unittest.TestCase):
    def test_wrong_ones_are_typed_and_say_what_is_wrong(self):
        for budget, message in [
            (Budget.EPSILON(-1.0), "^epsilon must be a positive finite number, got -1$"),
            (Budget.EPSILON(math.nan), "^epsilon must be"),
            (Budget.BOUND(0.0), "^the privacy-loss bound must be"),
            (Budget.KEEP(7.0), "^the share of kept words must lie between 0 and 1, got 7$"),
        ]:
            with self.assertRaisesRegex(BrrError.Budget, message):
                privatizer(budget=budget)

    def test_guarantees_are_finite_and_follow_from_epsilon(self):
        brr = Mechanism.BRR
        promise = privatizer(mechanism=brr, budget=Budget.EPSILON(0.5)).guarantee()
        self.assertTrue(0.499 < promise.epsilon <= 0.5)
        self.assertEqual(promise.metric, f"hamming-{Model.english().bits()}")
        self.assertTrue(0 < promise.nearest < promise.bound < promise.worst < math.inf)
        self.assertTrue(0 < promise.unknown_loss < math.inf)
        half = privatizer(mechanism=brr, budget=Budget.EPSILON(0.25)).guarantee()
        ratio = promise.epsilon / half.epsilon
        self.assertAlmostEqual(promise.bound / half.bound, ratio, places=9)
        self.assertAlmostEqual(promise.worst / half.worst, ratio, places=9)

    def test_each_way_to_state_a_budget_is_met(self):
        for mechanism in Mechanism:
            bound = privatizer(mechanism=mechanism, budget=Budget.BOUND(13.0)).guarantee()
            self.assertTrue(12 < bound.bound <= 13)
            # From below, by at most a step of the model's tables.
            keep = privatizer(mechanism=mechanism, budget=Budget.KEEP(0.75)).guarantee().expected_keep
            self.assertTrue(0.69 < keep <= 0.75)

    def test_the_default_is_what_the_comments_say(self):
        default = Privatizer(Model.english()).guarantee()
        named = privatizer(mechanism=Mechanism.EXPONENTIAL, budget=Budget.KEEP(0.5)).guarantee()
        self.assertEqual(default, named)
        self.assertTrue(0.44 < default.expected_keep <= 0.5)

    def test_adjacency_says_what_is_public(self):
        self.assertIn("punctuation marks", privatizer().adjacency())
        self.assertNotIn("punctuation", privatizer(layout=Layout.WORDS).adjacency())
        self.assertIn("infinite loss", privatizer(unknown=Unknown.DROP).adjacency())

    def test_losses_add_up(self):
        p = privatizer(budget=Budget.EPSILON(0.5))
        self.assertEqual(p.total_loss(0), 0)
        self.assertGreaterEqual(p.total_loss(10), 10 * p.guarantee().worst)
        self.assertEqual(privatizer(unknown=Unknown.MASK).total_loss(1), math.inf)

    def test_a_tree_has_a_loss_for_each_level(self):
        p = privatizer(mechanism=Mechanism.TREE, budget=Budget.EPSILON(0.85)).guarantee()
        self.assertEqual((len(p.losses), p.losses[0], p.losses[-1]), (16, 0, p.worst))
        self.assertTrue(all(0.84 * i <= x <= 0.85 * i + 1e-9 for i, x in enumerate(p.losses)))
        self.assertEqual(privatizer(budget=Budget.EPSILON(0.5)).guarantee().losses, [])


class Texts(unittest.TestCase):
    def test_a_high_budget_keeps_words_a_low_one_replaces_them(self):
        for mechanism in Mechanism:
            high = privatizer(mechanism=mechanism, budget=Budget.EPSILON(20.0))
            # A word changes one time in 260,000, two of four one time in ten billion.
            kept = high.privatize("the film was good").text.split(" ")
            same = sum(a == b for a, b in zip(kept, ["the", "film", "was", "good"], strict=True))
            self.assertGreaterEqual(same, 3)
            low = privatizer(mechanism=mechanism, budget=Budget.EPSILON(0.01))
            texts = {low.privatize(TEXT).text for _ in range(5)}
            self.assertEqual(len(texts), 5)
            self.assertNotIn(TEXT.lower(), texts)

    def test_tokens_are_counted_and_layout_kept(self):
        p = privatizer()
        private = p.privatize(TEXT)
        self.assertEqual((private.tokens, private.unknown), (11, 0))
        self.assertTrue(private.text.endswith("?"))
        self.assertEqual(p.privatize("").text, "")
        words = privatizer(layout=Layout.WORDS).privatize(TEXT)
        self.assertEqual(words.tokens, 11)
        self.assertNotRegex(words.text, "[,?]")

    def test_unknown_words_follow_the_rule(self):
        self.assertEqual(privatizer(unknown=Unknown.MASK).privatize("qqqqxzzz").text, "<unk>")
        self.assertEqual(privatizer(unknown=Unknown.DROP).privatize("qqqqxzzz").text, "")
        self.assertEqual(privatizer(unknown=Unknown.KEEP).privatize("qqqqxzzz").text, "qqqqxzzz")
        private = privatizer().privatize("qqqqxzzz")
        self.assertEqual((private.tokens, private.unknown), (1, 1))
        self.assertNotIn("qqqqxzzz", private.text)

    def test_outcomes_tell_what_comes_out(self):
        for mechanism in Mechanism:
            p = privatizer(mechanism=mechanism, budget=Budget.EPSILON(1.0))
            likely = p.outcomes("film", 3, 200)
            self.assertEqual(likely[0].word, "film")
            self.assertLessEqual(len(likely), 3)
            self.assertLessEqual(sum(l.probability for l in likely), 1 + 1e-9)
            self.assertTrue(all(l.low <= l.probability <= l.high for l in likely))

    def test_posterior_tells_what_may_have_gone_in(self):
        p = privatizer(budget=Budget.EPSILON(1.0))
        self.assertEqual([l.word for l in p.posterior("film", top=1)], ["film"])

    def test_no_message_holds_the_text(self):
        with self.assertRaises(BrrError.Input) as failure:
            privatizer().outcomes("qqqqxzzz")
        self.assertIn("the model does not have that word", str(failure.exception))
        self.assertNotIn("qqqqxzzz", repr(failure.exception))

    def test_threads_share_a_privatizer(self):
        # So much noise that no word weighs 20 times another: two of 80 draws of 11 words are
        # equal with a probability below 1e-30.
        p, texts, tokens = privatizer(budget=Budget.EPSILON(0.01)), set(), []

        def run():
            for _ in range(20):
                private = p.privatize(TEXT)
                texts.add(private.text)
                tokens.append(private.tokens)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(tokens, [11] * 80)
        self.assertEqual(len(texts), 80)


if __name__ == "__main__":
    unittest.main()
