"""Word counts from privatized texts: as the program has them."""

import json

import pytest

import brr


@pytest.fixture(scope="module")
def model(vectors) -> brr.Model:
    return brr.build(vectors, bits=64)


def counts(found: brr.Estimates) -> dict[str, brr.WordCount]:
    return {count.word: count for count in found.words}


def test_texts_give_their_counts_back(model):
    """Intervals of 6 standard deviations would miss with a probability below 1e-8."""
    privatizer = brr.Privatizer(model, epsilon=0.5)
    private = privatizer.privatize_batch(["film film good", None, "evening"] * 2000)
    found = brr.estimate([*private, float("nan")], privatizer, unknown_words=0)
    assert (found.documents, found.words_received, found.solved) == (4000, 8000, True)
    assert found.unknown_words == (0.0, 0.0)
    assert len(found.words) == len(model)
    assert [count.word for count in found.words[:1]] == ["film"]
    for word, truth in {"film": 4000, "good": 2000, "evening": 2000}.items():
        count = counts(found)[word]
        assert count.low <= count.estimate <= count.high
        assert abs(count.estimate - truth) < 3 * (count.high - count.low)
    believed = brr.estimate(private[:2], privatizer, prior={"good": 5.0}, resamplings=0)
    assert believed.words[0].low == believed.words[0].high


def test_a_file_is_read_by_its_manifest(model, tmp_path):
    rows = "n,review\n" + "film,good evening\nfilm,film\n" * 50
    (tmp_path / "in.csv").write_text(rows)
    report = brr.privatize_file(
        tmp_path / "in.csv",
        tmp_path / "out.csv.gz",
        columns="review",
        model=model,
        mechanism="brr",
        epsilon=20.0,
        manifest=tmp_path / "run.json",
    )
    out = tmp_path / "out.csv.gz"
    for manifest in (report.manifest, tmp_path / "run.json", str(tmp_path / "run.json")):
        found = brr.estimate_file(out, manifest, model=model)
        assert (found.words_received, counts(found)["film"].raw) == (150, 50)
    with pytest.raises(brr.InputError, match="another model"):
        brr.estimate_file(out, report.manifest)
    with pytest.raises(brr.InputError, match="no record"):
        brr.estimate_file(out, {}, model=model)
    with pytest.raises(FileNotFoundError):
        brr.estimate_file(tmp_path / "none.csv", report.manifest, model=model)


def test_what_makes_no_sense_is_refused(model):
    privatizer = brr.Privatizer(model, epsilon=0.5)
    with pytest.raises(brr.InputError, match="column of texts"):
        brr.estimate("film", privatizer)
    with pytest.raises(brr.InputError, match="row 1"):
        brr.estimate(["film", 3], privatizer)
    with pytest.raises(brr.InputError, match="no words"):
        brr.estimate([], privatizer)
    with pytest.raises(brr.ArgumentError, match="prior="):
        brr.estimate(["film"], privatizer, prior="secretword")


def test_a_manifest_that_is_not_there_is_told(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot read") as missing:
        brr.estimate_file(tmp_path / "x.csv", tmp_path / "none.json", model=model)
    assert isinstance(missing.value, brr.BrrError)
    assert missing.value.filename == str(tmp_path / "none.json")


def test_the_program_finds_the_same(cli, model, tmp_path):
    """The exponential mechanism's rows are computed: nothing is left to chance."""
    (tmp_path / "m.brr").write_bytes(model.to_bytes())
    (tmp_path / "in.txt").write_text("film good\nevening\n" * 200)
    private, manifest = tmp_path / "out.txt", tmp_path / "run.json"
    brr.privatize_file(
        tmp_path / "in.txt", private, model=model, epsilon=0.5, manifest=manifest
    )
    options = {"--model": tmp_path / "m.brr", "--manifest": manifest, "--input": private}
    named = [str(part) for option in options.items() for part in option]
    theirs = json.loads(cli("estimate", *named, "--json", "--top", "3"))["words"]
    found = brr.estimate_file(private, manifest, model=model)
    assert len(theirs) == 3
    for their, our in zip(theirs, found.words[:3], strict=True):
        assert their["word"] == our.word
        assert their["count"]["low"] == pytest.approx(our.low)
        assert their["unbiased_count"] == pytest.approx(our.unbiased)
