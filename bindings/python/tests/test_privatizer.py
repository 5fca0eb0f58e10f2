"""One text at a time, the guarantee, the model."""

import hashlib
import json
import math
import pickle
import warnings

import pytest

import brr


def test_a_text_keeps_layout_and_nothing_else(sure):
    assert sure.privatize("The film, sadly, was GOOD!") == "the film, sadly, was good!"
    words = brr.Privatizer(mechanism="brr", epsilon=30.0, layout="words")
    assert words.privatize(" The film,\n was good. ") == "the film was good"


def test_noise_is_drawn_anew_for_every_call(noisy):
    text = "the film was good " * 20
    drawn = {noisy.privatize(text) for _ in range(5)}
    assert len(drawn) == 5
    assert text not in drawn


def test_counts(sure):
    counted = sure.privatize_counted("the film zzqx was good")
    assert (counted.tokens, counted.unknown) == (5, 1)
    assert len(counted.text.split()) == 5
    assert "film" not in repr(counted)


@pytest.mark.parametrize("budget", [{"epsilon": 0.7}, {"bound": 40.0}])
@pytest.mark.parametrize("mechanism", ["brr", "exponential"])
def test_the_guarantee_is_never_above_what_was_asked(mechanism, budget):
    guarantee = brr.Privatizer(mechanism=mechanism, **budget).guarantee
    asked = budget.get("epsilon", guarantee.epsilon)
    assert 0 < guarantee.epsilon <= asked
    assert guarantee.bound <= budget.get("bound", math.inf)
    assert guarantee.metric.startswith("hamming-")
    assert guarantee.nearest < guarantee.bound < guarantee.worst <= guarantee.worst_token
    assert guarantee.total(10) >= 10 * guarantee.worst_token > guarantee.total(9)
    assert guarantee.loss_at(2.0) >= 2 * guarantee.epsilon
    assert guarantee == brr.Privatizer(mechanism=mechanism, **budget).guarantee


def test_keep_is_the_default_budget():
    privatizer = brr.Privatizer()
    assert privatizer.expected_keep == pytest.approx(0.5, abs=0.01)
    assert privatizer.guarantee == brr.Privatizer(keep=0.5).guarantee


@pytest.mark.parametrize("unknown", ["mask", "drop", "keep"])
def test_rules_that_are_not_private_warn(unknown):
    with pytest.warns(brr.PrivacyWarning):
        privatizer = brr.Privatizer(mechanism="brr", epsilon=30.0, unknown=unknown)
    assert privatizer.total_loss(3) == math.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert brr.Privatizer(unknown="random").total_loss(3) < math.inf


def test_pickling_keeps_the_options_and_no_state(sure):
    model = brr.Model.from_bytes(brr.Model.english().to_bytes())
    for privatizer in (
        sure,
        brr.Privatizer(model, "exponential", bound=20.0, layout="words"),
        brr.Privatizer(mechanism="brr", epsilon=30.0, search="multi-index"),
    ):
        data = pickle.dumps(privatizer)
        again = pickle.loads(data)
        assert type(again) is brr.Privatizer
        assert again.guarantee == privatizer.guarantee
        assert (again.layout, again.mechanism) == (privatizer.layout, privatizer.mechanism)
        assert again.search == privatizer.search
    assert len(pickle.dumps(sure)) < 1000, "the built-in model travels by name"
    other = pickle.dumps(brr.Model.english()).replace(b"english_as\x94", b"english_as\x94")
    broken = other.replace(brr.Model.english().file_identity[:8].encode(), b"0" * 8)
    with pytest.raises(brr.ModelError, match="same version"):
        pickle.loads(broken)


def test_explain_tells_what_may_come_out(sure, noisy):
    outcomes = sure.outcomes("film")
    assert outcomes.likely[0].word == "film"
    assert outcomes.stays.probability > 0.99
    assert noisy.outcomes("film", draws=500).stays.high < 0.1
    exact = brr.Privatizer(mechanism="exponential", epsilon=1.0).outcomes("film", top=3)
    assert (exact.method, exact.draws, len(exact.likely)) == ("exact", None, 3)
    assert exact.stays.low == exact.stays.probability == exact.stays.high
    assert sure.posterior("film", draws=200).likely[0].word == "film"
    with pytest.raises(brr.InputError) as raised:
        sure.outcomes("zzqxsecret")
    assert "zzqx" not in str(raised.value)


def test_what_is_told_pickles_and_shows_itself(sure, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("the film\n")
    report = brr.privatize_file(source, tmp_path / "out.txt", keep=0.5)
    model = brr.Model.english()
    for told in (
        sure.guarantee, sure.guarantee.distances, sure.privatize_counted("film"),
        sure.trace("a film"), sure.outcomes("film"), sure.posterior("film", draws=10), report,
        model.calibration[0], model.certificates[0],
    ):  # fmt: skip
        again = pickle.loads(pickle.dumps(told))
        assert type(again) is type(told)
        assert again == told
        assert repr(again).startswith(type(told).__name__ + "(")
        assert json.loads(json.dumps(told.to_dict())).keys() == told.to_dict().keys()
    facts = sure.guarantee.to_dict()
    assert facts["bound"] == sure.guarantee.bound
    assert facts["distances"]["average"] == sure.guarantee.distances.average
    assert hash(sure.guarantee) == hash(pickle.loads(pickle.dumps(sure.guarantee)))


def test_a_trace_has_the_text_and_what_it_was_made_from(sure):
    trace = sure.trace("The film, zzqx!")
    words = [part for part in trace.parts if part.original is not None]
    assert [(p.original, p.known) for p in words] == [
        ("The", True), ("film", True), ("zzqx", False),
    ]  # fmt: skip
    assert [p.changed for p in words] == [False, False, True]
    assert trace.text.startswith("the film, ")
    assert trace.text.endswith("!")
    assert (trace.tokens, trace.unknown) == (3, 1)
    assert "film" not in repr(trace)
    assert "film" not in repr(trace.parts)


def test_one_long_text_on_all_cores(sure, noisy):
    text = "the film was good, that evening. " * 5_000
    for threads in (None, 1, 3):
        assert sure.privatize(text, threads=threads) == text
    counted = sure.privatize_counted(text, threads=2)
    assert (counted.text, counted.tokens) == (text, 30_000)
    # The words are drawn in parts; none repeats the noise of another.
    words = noisy.privatize("film " * 20_480, threads=2).split()
    parts = [tuple(words[at : at + 4096]) for at in range(0, len(words), 4096)]
    assert len(set(parts)) == 5


def test_models(tmp_path):
    english = brr.Model.english()
    path = tmp_path / "model.brr"
    path.write_bytes(english.to_bytes())
    loaded = brr.Model.load(path)
    assert loaded.identity == english.identity
    assert loaded.inspect() == english.inspect()
    assert "film" in loaded
    assert "zzqx" not in loaded
    assert len(loaded) == len(loaded.words) == loaded.inspect()["words"]
    for source in (path, str(path), loaded):
        assert brr.Privatizer(source, mechanism="brr", epsilon=30.0).privatize("Film") == "film"


def test_a_model_is_believed_after_a_check(unchecked):
    assert brr.Model.english().standing == "pinned"
    assert unchecked.standing == unchecked.inspect()["standing"] == "unchecked"
    assert (unchecked.certificates, unchecked.calibration) == ([], [])
    assert unchecked.keep_at(1.0) is None
    assert unchecked.distances.maximum == 64
    for ask in (
        lambda: brr.Privatizer(unchecked, keep=0.999),
        lambda: brr.Privatizer(unchecked, "brr", keep=0.9),
        lambda: unchecked.epsilon_for(0.9),
    ):
        with pytest.raises(brr.UncheckedModelError, match=r"check\(\)") as raised:
            ask()
        assert isinstance(raised.value, brr.ModelError)
    careful = brr.Privatizer(unchecked, epsilon=1.0).guarantee

    told = []
    brr.Model.english().check(progress=told.append)
    assert not told, "what is pinned is not looked at again"
    unchecked.check(threads=2, progress=told.append)
    assert told[-1] == 1.0
    assert all(0 <= share <= 1 for share in told)
    assert unchecked.standing == "checked"
    assert unchecked.distances.maximum == 44
    assert len(unchecked.certificates) == 2
    certified = brr.Privatizer(unchecked, epsilon=1.0)
    assert certified.guarantee.worst < careful.worst
    assert certified.expected_keep is not None
    again = pickle.loads(pickle.dumps(brr.Privatizer(unchecked, keep=0.999)))
    assert again.model.standing == "checked", "checked where it arrived"
    with pytest.raises(brr.ArgumentError, match="threads"):
        unchecked.check(threads=0)


def test_a_file_that_lies_is_found_out(vectors):
    honest = brr.build(vectors, bits=64, binarizer="hyperplane", certify=[])
    data = bytearray(honest.to_bytes())
    # The largest distance, in the first section; and the checksum that belongs to it.
    at = int.from_bytes(data[56:64], "little") + 24
    assert data[at] == honest.distances.maximum
    data[at] -= 1
    data[16:48] = hashlib.sha256(data[48:]).digest()
    liar = brr.Model.from_bytes(bytes(data))
    assert brr.Privatizer(liar, epsilon=1.0).guarantee.distances.maximum == 64
    with pytest.raises(brr.ModelError, match="distances are not those of its codes"):
        liar.check()
    assert liar.standing == "unchecked"


def test_adjacency_says_what_is_public():
    assert "punctuation marks" in brr.Privatizer().adjacency
    assert "punctuation" not in brr.Privatizer(layout="words").adjacency
    with pytest.warns(brr.PrivacyWarning):
        masked = brr.Privatizer(unknown="mask")
    assert "infinite loss" in masked.adjacency
    assert masked.total_loss(1) == math.inf


def test_calibration_and_ratio():
    model = brr.Model.english()
    points = model.calibration
    assert all(a.epsilon < b.epsilon and a.keep <= b.keep for a, b in zip(points, points[1:]))
    epsilon = model.epsilon_for(0.5)
    # A share is met from below, by the margin of the table (`MARGIN` in the core).
    assert model.keep_at(epsilon) == pytest.approx(0.5 - 0.0325, abs=1e-3)
    ratio = brr.ratio(model, model, epsilon=0.4)
    assert ratio == (1.0, 1.0, 1.0, 0.4, 0.4, 0.4)
    assert brr.ratio(model, model).epsilon_average is None
