"""The line in the README for Hugging Face datasets."""

import pytest

import brr


@pytest.fixture
def datasets(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    return pytest.importorskip("datasets")


def test_map_privatizes_a_column(datasets, sure):
    dataset = datasets.Dataset.from_dict({"text": ["Film", None, "good"] * 50, "n": range(150)})
    privatizer = sure
    private = dataset.map(
        lambda rows: {"text": privatizer.privatize_batch(rows["text"])}, batched=True
    )
    assert private["text"][:3] == ["film", None, "good"]
    assert private["n"][:] == list(range(150))
    assert isinstance(privatizer, brr.Privatizer)


def test_map_in_processes(datasets, sure):
    dataset = datasets.Dataset.from_dict({"text": ["Film"] * 20})
    private = dataset.map(
        lambda rows: {"text": sure.privatize_batch(rows["text"], threads=1)},
        batched=True,
        num_proc=2,
    )
    assert set(private["text"]) == {"film"}
