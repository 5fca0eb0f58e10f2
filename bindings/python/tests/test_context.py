"""Draws that are decoded together, with a language model."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import brr
from brr.sklearn import TextPrivatizer

TEXT = "It was a good film, and we had a very good evening. Would you go there again?"
# About half of all words stay.
BOUND = 12.0
PUBLIC = ["it was a good film .", "what a good evening .", "the film was good ."]


@pytest.fixture(scope="module")
def decoded() -> brr.Privatizer:
    return brr.Privatizer(bound=BOUND, context=True)


@pytest.fixture(scope="module")
def language() -> brr.Language:
    """One of one's own, for the words of the built-in model."""
    return brr.build_language(PUBLIC, name="tiny", licence="CC0")


def test_decoded_text_has_the_structure_of_the_text(decoded):
    def structure(text: str) -> list[str]:
        return [token[-1] if token[-1] in ".,?" else "" for token in text.split()]

    drawn = decoded.privatize_batch([TEXT] * 20)
    assert {tuple(structure(text)) for text in drawn} == {tuple(structure(TEXT))}
    assert decoded.privatize_counted(TEXT).tokens == len(TEXT.split())
    assert len(set(drawn)) > 5, "noise is drawn anew"


def test_a_large_budget_leaves_the_text_as_it_is():
    """At this bound a word of the exponential mechanism changes once in some 260,000."""
    for mechanism in ("exponential", "brr"):
        weak = brr.Privatizer(mechanism=mechanism, bound=400.0, context=True)
        private = [weak.privatize(TEXT) for _ in range(3)]
        assert private.count(TEXT.lower()) >= 2, mechanism


def test_decoding_costs_no_privacy_and_gives_more_of_the_words(decoded):
    """Two shares of 10,200 words, which differ by some 1,000 words; 5 sigma are 357."""
    plain = brr.Privatizer(bound=BOUND)
    assert decoded.guarantee == plain.guarantee
    assert decoded.adjacency == plain.adjacency
    assert decoded.total_loss(7) == plain.total_loss(7)
    words = TEXT.lower().split()

    def kept(privatizer: brr.Privatizer) -> int:
        rows = privatizer.privatize_batch([TEXT] * 600)
        return sum(a == b for row in rows for a, b in zip(words, row.split()))

    spread = (2 * 600 * len(words) * 0.25) ** 0.5
    assert kept(decoded) > kept(plain) + 5 * spread
    assert decoded.expected_keep > plain.expected_keep


def test_words_of_decoded_texts_are_not_estimated(decoded):
    with pytest.raises(brr.InputError, match="decoded with context"):
        brr.estimate(decoded.privatize_batch([TEXT] * 10), decoded)


def test_keep_is_the_share_after_decoding(language):
    privatizer = brr.Privatizer(keep=0.5, context=True)
    assert 0.4 < privatizer.expected_keep <= 0.5
    assert privatizer.guarantee.epsilon < brr.Privatizer(keep=0.5).guarantee.epsilon
    with pytest.raises(brr.BudgetError, match="epsilon or a bound"):
        brr.Privatizer(keep=0.5, context=language)


def test_under_a_policy_keep_is_a_share_of_the_private_words():
    half = {"mechanism": "tree", "keep": 0.5, "public": "function-words"}
    drawn, decoded = brr.Privatizer(**half), brr.Privatizer(**half, context=True)
    assert drawn.kept_words == decoded.kept_words == "private words stay as they are"
    assert 0.44 < decoded.expected_keep <= 0.5
    assert decoded.guarantee.worst_token < drawn.guarantee.worst_token - 3
    own = brr.Privatizer(
        mechanism="tree", keep=0.5, private=["doctor", "nurse", "lawyer"], context=True
    )
    assert "decoded text may keep more" in own.kept_words
    assert brr.Privatizer().kept_words == "words stay as they are"


def test_what_context_may_be(language, tmp_path):
    path = tmp_path / "tiny.lm"
    path.write_bytes(language.to_bytes())
    for off in (False, None):
        assert brr.Privatizer(context=off).context is None
    for context in (language, path, str(path)):
        privatizer = brr.Privatizer(bound=16.0, context=context)
        assert privatizer.context.identity == language.identity
        assert repr(privatizer).endswith(", with context>")
    builtin = brr.Privatizer(context=True).context
    assert builtin.identity == brr.Language.english().identity
    for wrong in (7, 0.5, ["secret"], b"\xff" * 4, brr.Model.english()):
        with pytest.raises(brr.ArgumentError, match="expected a language model") as raised:
            brr.Privatizer(context=wrong)
        assert "secret" not in str(raised.value)
    with pytest.raises(brr.FileError, match=r"missing\.lm") as raised:
        brr.Privatizer(context=tmp_path / "missing.lm")
    assert isinstance(raised.value, FileNotFoundError)


def test_what_is_no_language_model_is_refused(language, tmp_path):
    model = tmp_path / "model.brr"
    model.write_bytes(brr.Model.english().to_bytes())
    for load in (brr.Language.load, lambda path: brr.Privatizer(context=path)):
        with pytest.raises(brr.ModelError, match="not a language model"):
            load(model)
    data = bytearray(language.to_bytes())
    with pytest.raises(brr.ModelError, match="cut short"):
        brr.Language.from_bytes(bytes(data[:-10]))
    data[len(data) // 2] ^= 1
    with pytest.raises(brr.ModelError, match="checksum"):
        brr.Language.from_bytes(bytes(data))
    with pytest.raises(brr.ArgumentError, match="bytes of a language model file; found str"):
        brr.Language.from_bytes("tiny")


def test_a_language_model_for_other_words_is_refused(language, unchecked):
    for context in (True, language):
        with pytest.raises(brr.ModelError, match=r"other words.*brr\.build_language"):
            brr.Privatizer(unchecked, bound=16.0, context=context)
    own = brr.build_language(unchecked.words, model=unchecked)
    assert own.words == len(unchecked)
    privatizer = brr.Privatizer(unchecked, bound=16.0, context=own)
    assert len(privatizer.privatize("a good film").split()) == 3
    with pytest.raises(brr.ModelError, match="other words"):
        brr.Privatizer(bound=16.0, context=own)


def test_language_models_tell_and_travel(language, decoded):
    english = brr.Language.english()
    assert english.words == len(brr.Model.english())
    assert english.pairs > 100_000
    assert "licence" in english.meta
    assert language.meta == {"name": "tiny", "licence": "CC0"}
    assert repr(language).startswith("<brr.Language tiny: ")
    for one in (english, language):
        again = brr.Language.from_bytes(one.to_bytes())
        assert (again.identity, again.pairs) == (one.identity, one.pairs)
        assert pickle.loads(pickle.dumps(one)).identity == one.identity
    own = brr.Privatizer(bound=16.0, context=language)
    for privatizer in (decoded, own):
        again = pickle.loads(pickle.dumps(privatizer))
        assert again.context.identity == privatizer.context.identity
        assert again.guarantee == privatizer.guarantee
    assert len(pickle.dumps(decoded)) < 1000, "what is built in travels by name"
    broken = pickle.dumps(english).replace(english.identity[:8].encode(), b"0" * 8)
    with pytest.raises(brr.ModelError, match="language model here.*same version"):
        pickle.loads(broken)


def test_a_language_model_is_that_of_the_program(cli, tmp_path):
    source, theirs = tmp_path / "public.txt", tmp_path / "theirs.lm"
    source.write_text("\n".join(PUBLIC) + "\n")
    cli("language", "build", str(source), "-o", str(theirs), "--name", "tiny")
    for texts in (PUBLIC, iter(PUBLIC), [source], [*PUBLIC[:1], *PUBLIC[1:]]):
        assert brr.build_language(texts, name="tiny").to_bytes() == theirs.read_bytes()


def test_what_no_language_model_is_built_from(tmp_path):
    for wrong in ("a text", b"a text", Path("public.txt"), 7, [7], [None]):
        with pytest.raises(brr.ArgumentError, match="expected a"):
            brr.build_language(wrong)
    for wrong in ({"size": -1}, {"size": "large"}, {"name": 7}, {"model": 7}):
        with pytest.raises(brr.ArgumentError):
            brr.build_language(PUBLIC, **wrong)
    for nothing in ([], ["", "..."]):
        with pytest.raises(brr.BuildError, match="no word"):
            brr.build_language(nothing)
    with pytest.raises(brr.BuildError, match="give at least"):
        brr.build_language(PUBLIC, size=1000)
    with pytest.raises(brr.InputError, match="surrogate") as raised:
        brr.build_language(["good", "\ud800"])
    assert raised.value.row == 1
    with pytest.raises(brr.FileError, match=r"missing\.txt"):
        brr.build_language([tmp_path / "missing.txt"])

    def failing():
        yield "good"
        raise LookupError("of the iterator")

    with pytest.raises(LookupError, match="of the iterator"):
        brr.build_language(failing())


def test_columns_and_pipelines(decoded, language):
    series = pd.Series([TEXT, None, ""], index=[5, 6, 7], name="review")
    private = decoded.privatize_batch(series)
    assert private.index.tolist() == [5, 6, 7]
    assert private.isna().tolist() == [False, True, False]
    assert len(private[5].split()) == len(TEXT.split())
    for context in (True, language):
        transformer = clone(TextPrivatizer(bound=400.0, mechanism="brr", context=context))
        assert transformer.fit_transform([TEXT]) == [TEXT.lower()]
        again = pickle.loads(pickle.dumps(transformer))
        assert again.privatizer_.context.identity == transformer.privatizer_.context.identity
    assert transformer.set_params(context=False).fit().privatizer_.context is None
    array = TextPrivatizer(bound=16.0, context=True).fit_transform(np.array([TEXT, TEXT]))
    assert [len(text.split()) for text in array] == [len(TEXT.split())] * 2


def test_files(tmp_path):
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text(TEXT + "\n")
    report = brr.privatize_file(source, out, bound=400.0, mechanism="brr", context=True)
    assert out.read_text() == TEXT.lower() + "\n"
    assert report.manifest["context"]["language"] == brr.Language.english().identity
    with pytest.raises(brr.InputError, match="decoded with context"):
        brr.estimate_file(out, report.manifest)
    with pytest.raises(brr.ArgumentError, match="expected a language model"):
        brr.privatize_file(source, tmp_path / "other.txt", bound=16.0, context=7)
