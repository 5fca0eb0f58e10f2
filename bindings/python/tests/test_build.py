"""Models from word vectors."""

from pathlib import Path

import pytest

import brr


def test_same_bytes_as_the_program(cli, vectors, tmp_path):
    theirs = tmp_path / "theirs.brr"
    rude = tmp_path / "rude.txt"
    rude.write_text("film # as an example\n")
    cli("build", str(vectors), "-o", str(theirs), "--bits", "64", "--licence", "CC0",
        "--exclude", str(rude))  # fmt: skip
    ours = brr.build(vectors, bits=64, licence="CC0", exclude=[rude])
    assert "film" not in ours.words
    assert ours.meta["excluded-words"] == "1 by rude.txt"
    # A build checks what it has made; a file has to be checked again.
    loaded = brr.Model.load(theirs)
    assert (ours.standing, loaded.standing) == ("checked", "unchecked")
    loaded.check()
    assert ours.inspect() == loaded.inspect()
    assert ours.to_bytes() == theirs.read_bytes()


def test_a_built_model_privatizes(vectors):
    stages = set()
    model = brr.build(
        vectors, bits=128, binarizer="itq", words=100, certify=[0.5, 1.0], name="mine",
        source="made up", progress=lambda stage, share: stages.add((stage, 0 <= share <= 1)),
    )  # fmt: skip
    assert len(model) == 100
    assert model.meta["name"] == "mine"
    assert model.meta["vectors-file"] == vectors.name
    assert str(vectors.parent) not in str(model.meta)
    assert [c.epsilon <= asked for c, asked in zip(model.certificates, [0.5, 1.0])] == [
        True
    ] * 2
    assert ("codes", True) in stages
    assert all(fine for _, fine in stages)
    for mechanism in ("brr", "exponential"):
        privatizer = brr.Privatizer(model, mechanism, epsilon=1.0)
        assert set(privatizer.privatize("film good").split()) <= set(model.words)
    known = model.certificates[0].keep
    assert brr.Privatizer(model, "exponential", keep=known).expected_keep == known
    ratio = brr.ratio(brr.Model.english(), model, epsilon=1.0)
    assert ratio.epsilon_average == pytest.approx(ratio.average)


def test_what_cannot_be_built(vectors, tmp_path):
    with pytest.raises(brr.BuildFileError, match=r"missing\.txt"):
        brr.build(tmp_path / "missing.txt")
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    with pytest.raises(brr.BuildError, match="empty"):
        brr.build(empty)
    for wrong in ({"bits": 100}, {"format": "csv"}, {"binarizer": "magic"}):
        with pytest.raises(ValueError, match=r"bits|format|binarizer"):
            brr.build(vectors, **wrong)
    with pytest.raises(brr.BudgetError):
        brr.build(vectors, bits=64, certify=[-1.0])


def test_a_model_in_another_language(vectors, tmp_path):
    model = brr.build(vectors, bits=64, words=100, certify=[], language="fr")
    assert model.inspect()["language"]["code"] == "fr"
    assert brr.build(vectors, bits=64, words=100, certify=[]).inspect()["language"] is None
    with pytest.raises(brr.BuildError, match="fr"):
        brr.build(vectors, language="klingon")


PACKAGES = Path(__file__).parents[3] / "crates/brr-build/tests/fixtures/packages"


def test_a_package_of_spacy_or_navec(tmp_path):
    wheel = PACKAGES / "tiny_core_news_md-1.0.0-py3-none-any.whl"
    own = brr.build(wheel, bits=64, binarizer="hyperplane", certify=[])
    shared = brr.build(wheel, bits=64, binarizer="hyperplane", certify=[], shared_vectors=True)
    assert set(own.words) < set(shared.words)
    assert (len(own), len(shared)) == (9, 15)
    russian = brr.build(
        PACKAGES / "navec_tiny.tar", bits=64, binarizer="hyperplane", certify=[], format="navec"
    )
    assert "россия" in russian.words
    with pytest.raises(brr.BuildError, match="key2row"):
        brr.build(tmp_path)
