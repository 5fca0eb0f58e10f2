"""The most probable original of privatized texts."""

import pytest

import brr

SENTENCE = "thank you very much for your help."


@pytest.fixture(scope="module")
def language() -> brr.Language:
    others = ["see you on monday.", "the film was good."]
    return brr.build_language([SENTENCE, *others] * 30)


@pytest.mark.parametrize(("mechanism", "bound"), [("brr", 60), ("k-ary", 10), ("tree", 11)])
def test_more_words_are_right_than_as_drawn(language, mechanism, bound):
    """Of 280 words, about nine in ten are right as decoded and less than half as drawn.

    The shares differ by more than 0.4, with a standard deviation below 0.05: a difference
    below 0.1 is six of them away, which has a probability of less than 1e-8.
    """
    privatizer = brr.Privatizer(mechanism=mechanism, bound=bound)
    private = privatizer.privatize_batch([SENTENCE] * 40)

    def right(texts) -> int:
        pairs = [zip(text.split(), SENTENCE.split(), strict=True) for text in texts]
        return sum(a == b for pair in pairs for a, b in pair)

    decoded = brr.decode(private, privatizer, language=language)
    assert right(decoded) > right(private) + 28
    found = brr.posteriors([*private, None], privatizer, language=language, others=2)
    assert found.pop() is None
    assert right(text.text for text in found) > right(private) + 28
    for word in (word for text in found for word in text.words):
        assert word.drawn
        assert len(word.others) == 2
        assert word.posterior >= word.others[0][1] >= word.others[1][1]


def test_nulls_stay_and_public_words_are_certain(language):
    privatizer = brr.Privatizer(mechanism="k-ary", epsilon=1.0, public="function-words")
    text = privatizer.privatize("thank you very much!")
    assert brr.decode([None, float("nan"), ""], privatizer) == [None, None, ""]
    [found] = brr.posteriors([text], privatizer, language=language, others=0)
    you = found.words[1]
    assert (you.word, you.drawn, you.posterior, you.others) == ("you", False, 1.0, [])
    assert "you" in found.text.split()
    assert found.text.endswith("!")


def test_a_file_is_decoded_by_its_manifest(cli, tmp_path):
    rows = "n,review\n1,thank you\n2,see you again\n"
    (tmp_path / "in.csv").write_text(rows)
    private, out = tmp_path / "out.csv.gz", tmp_path / "decoded.csv"
    report = brr.privatize_file(
        tmp_path / "in.csv",
        private,
        columns="review",
        mechanism="k-ary",
        epsilon=60.0,
        public=["thank"],
        manifest=tmp_path / "run.json",
    )
    with pytest.raises(brr.InputError, match="words="):
        brr.decode_file(private, out, report.manifest)
    with pytest.raises(brr.InputError, match="other words were public"):
        brr.decode_file(private, out, report.manifest, words=["you"])
    brr.decode_file(private, out, tmp_path / "run.json", words=["thank"], case="sentence")
    assert out.read_text() == "n,review\n1,Thank you\n2,See you again\n"
    with pytest.raises(FileExistsError):
        brr.decode_file(private, out, report.manifest, words=["thank"])
    brr.decode_file(private, out, report.manifest, words=["thank"], force=True)
    assert out.read_text() == rows
    (tmp_path / "list.txt").write_text("thank\n")
    options = ["--manifest", str(tmp_path / "run.json"), "--list", str(tmp_path / "list.txt")]
    assert cli("decode", *options, "--input", str(private)) == rows


def test_what_cannot_be_decoded_is_refused(tmp_path):
    drawn = brr.Privatizer(mechanism="k-ary", epsilon=5.0)
    with pytest.raises(brr.InputError, match="decoded with context already"):
        brr.decode(["film"], brr.Privatizer(bound=16.0, context=True))
    with pytest.raises(brr.InputError, match="column of texts"):
        brr.decode("film", drawn)
    with pytest.raises(brr.InputError, match="row 1"):
        brr.decode(["film", 3], drawn)
    with pytest.raises(brr.ArgumentError, match="language="):
        brr.decode(["film"], drawn, language=False)
    (tmp_path / "in.txt").write_text("film\n")
    report = brr.privatize_file(
        tmp_path / "in.txt", tmp_path / "out.txt", mechanism="k-ary", bound=9.0, context=True
    )
    for manifest, message in [
        (report.manifest, "decoded with context already"),
        ({}, "no record"),
    ]:
        with pytest.raises(brr.InputError, match=message):
            brr.decode_file(tmp_path / "out.txt", tmp_path / "d.txt", manifest)
    assert not (tmp_path / "d.txt").exists()
