"""Whole files: the same as the program does, and an interrupted run goes on."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import brr

CSV = 'stars,review\n1,"a terrible evening, really"\n4,a good film\n'
# So weak that every known word stays: what moved can be seen.
SURE = {"mechanism": "brr", "epsilon": 20.0}


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(CSV)
    return path


def test_named_columns_are_privatized_and_the_rest_is_copied(reviews, tmp_path):
    out = tmp_path / "out.csv"
    told = []
    report = brr.privatize_file(
        reviews, out, columns="review", progress=lambda *done: told.append(done), **SURE
    )
    assert out.read_text() == CSV
    assert (report.rows, report.documents, report.words) == (2, 2, 7)
    assert told[-1] == (len(CSV), len(CSV))
    noisy = tmp_path / "noisy.csv.gz"
    report = brr.privatize_file(reviews, noisy, columns=["review"], epsilon=0.01)
    assert noisy.read_bytes()[:2] == b"\x1f\x8b"
    assert report.manifest["epsilon"] <= 0.01


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "txt"])
def test_the_record_is_the_programs(cli, tmp_path, suffix):
    source = tmp_path / f"in.{suffix}"
    text = {"csv": CSV, "jsonl": '{"review": "a good film"}\n', "txt": "a good film\n"}[suffix]
    source.write_text(text)
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    columns = [] if suffix == "txt" else ["review"]
    flags = [part for column in columns for part in ("--column", column)]
    cli(
        "privatize", "--keep", "0.5", "--input", str(source), *flags,
        "--output", str(tmp_path / f"theirs.{suffix}"), "--manifest", str(theirs),
    )  # fmt: skip
    report = brr.privatize_file(
        source, tmp_path / f"ours.{suffix}", columns=columns, keep=0.5, manifest=ours
    )
    assert json.loads(ours.read_text()) == report.manifest
    # Two runs draw other words, so that each record names another output: its own.
    records = [json.loads(path.read_text()) for path in (ours, theirs)]
    for record, name in zip(records, ("ours", "theirs"), strict=True):
        written = (tmp_path / f"{name}.{suffix}").read_bytes()
        fingerprint = {"bytes": len(written), "sha256": hashlib.sha256(written).hexdigest()}
        assert record.pop("output") == fingerprint
    assert records[0] == records[1]


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pa.table({"review": ["a good film", None], "stars": [4, 1]})
    parquet.write_table(table, source)
    assert brr.privatize_file(source, out, columns="review", **SURE).words == 3
    assert parquet.read_table(out).to_pydict() == table.to_pydict()


def test_what_is_wrong_is_a_kind_of_error_and_quotes_nothing(reviews, tmp_path):
    out = tmp_path / "out.csv"

    def refused(kind, match, source=reviews, **options):
        with pytest.raises(kind, match=match) as caught:
            brr.privatize_file(source, out, **{"columns": "review", **SURE, **options})
        assert "terrible" not in str(caught.value)
        assert "secret" not in str(caught.value)
        assert not out.exists()
        return caught.value

    refused(brr.BudgetError, "epsilon=, bound= and keep=", epsilon=None)
    refused(brr.InputError, "columns=", columns=())
    refused(brr.InputError, "no such name", columns="secret")
    refused(brr.InputError, "document is for plain text", document="file")
    refused(brr.ArgumentError, "no such format: choose one of text", format="secret")
    refused(brr.ArgumentError, "no such encoding", encoding="secret")
    refused(brr.InputError, "ASCII", delimiter="\u00e9")
    missing = refused(brr.FileError, "cannot read", source=tmp_path / "none.csv")
    assert isinstance(missing, OSError)
    assert isinstance(missing, FileNotFoundError)
    assert missing.filename == str(tmp_path / "none.csv")
    torn = tmp_path / "torn.csv"
    torn.write_text(CSV + "5\n")
    assert refused(brr.InputError, "resume=True", source=torn).row == 3
    bad = brr.privatize_file(torn, out, columns="review", on_bad_row="skip", force=True, **SURE)
    assert (bad.rows, bad.skipped) == (3, 1)
    with pytest.raises(brr.FileError, match="exists already.*force=True") as raised:
        brr.privatize_file(reviews, out, columns="review", **SURE)
    assert isinstance(raised.value, FileExistsError)
    assert raised.value.filename == str(out)
    brr.privatize_file(reviews, out, columns="review", force=True, **SURE)
    assert out.read_text() == CSV


def test_files_are_given_as_they_are_asked_for(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("7;good film film\n7;good\n8;'film'\n")
    report = brr.privatize_file(
        source, out, columns="2", delimiter=";", header=False, quotes=False, unit="1",
        max_words=2, **SURE,
    )  # fmt: skip
    assert report.words_cut == 2
    assert report.manifest["unit"]["words"]["largest"] == 2
    assert out.read_text().splitlines()[0] == "7;good film"
    latin = tmp_path / "latin.txt"
    latin.write_bytes("film \u00a0good".encode("latin1"))
    brr.privatize_file(latin, tmp_path / "utf8.txt", encoding="latin1", **SURE)
    assert (tmp_path / "utf8.txt").read_text().split() == ["film", "good"]
    rows = tmp_path / "in.jsonl"
    rows.write_text('{"a": "film"}\n')
    report = brr.privatize_file(
        rows, tmp_path / "out.jsonl", columns=["a", "b"], optional_columns=True, **SURE
    )
    assert report.unseen_columns == [1]


# Presses Ctrl-C itself as soon as some of the file is done: no waiting for a moment.
INTERRUPTED = """
import brr, os, signal, sys
pressed = []
def press(done, size):
    if done and not pressed:
        pressed.append(done)
        os.kill(os.getpid(), signal.SIGINT)
brr.privatize_file(sys.argv[1], sys.argv[2], threads=1, progress=press,
                   mechanism="brr", epsilon=20.0)
"""


def test_ctrl_c_leaves_a_file_that_is_resumed(tmp_path):
    # Minutes of work, if nothing stopped it.
    lines = 2_000_000
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("good film\n" * lines)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(source), str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "KeyboardInterrupt" in done.stderr
    assert not out.exists()
    with pytest.raises(brr.FileError, match="resume=True"):
        brr.privatize_file(source, out, **SURE)
    with pytest.raises(brr.InputError, match="epsilon"):
        brr.privatize_file(source, out, mechanism="brr", epsilon=19.0, resume=True)
    # What is safe is as far as the checkpoint says; finishing it would take minutes.
    checkpoint = next(p for p in tmp_path.iterdir() if p.read_bytes()[:1] == b"{")
    assert 0 < json.loads(checkpoint.read_text())["counts"]["rows"] < lines


def test_a_run_goes_on(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(CSV + "5\n")
    with pytest.raises(brr.InputError):
        brr.privatize_file(source, out, columns="review", **SURE)
    report = brr.privatize_file(
        source, out, columns="review", on_bad_row="copy-null", resume=True, **SURE
    )
    assert (report.rows, report.emptied) == (3, 1)
    assert len(report.manifest["restarts"]) == 1
    assert out.read_text().startswith(CSV)


def test_the_program_goes_on_with_a_run_from_here(cli, tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(CSV + "5\n")
    with pytest.raises(brr.InputError):
        brr.privatize_file(source, out, columns="review", **SURE)
    cli(
        "privatize", "--mechanism", "brr", "--epsilon", "20", "--input", str(source),
        "--column", "review", "--output", str(out), "--resume", "--on-bad-row", "skip",
    )  # fmt: skip
    assert out.read_text() == CSV
