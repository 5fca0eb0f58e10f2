"""What the attacker knows of other packages' mechanisms: Pr[output | word], by published formula or from draws.

    SanText (Yue et al. 2021)         exp(-eps/2 d(w, y)) over its sum
    CusText (Chen et al. 2023)        exp(-eps/2 u(w, y)) over its sum, among the K words nearest to w; u is the distance, scaled to 0 ... 1
    TEM (Carvalho et al. 2023)        exp(-eps/2 d(w, y)) for y within gamma of w; of the others one at random, with the weight
                                      exp(-eps/2 gamma) N', over the sum; N' = number of others
    diffractor (Meisenbacher et al. 2024)  geometric: tanh(eps/2) exp(-eps |k|) for k places along a sorted list, what falls off
                                      an end at that end; TEM: exp(-eps/2 min(|k|, 5))

Two things differ in the packages, as draws show (`check`): mldp-text rounds gamma to a tenth and has N / (number within) for N'.
dp-diffractor lets stop words through.

Of the noise mechanisms no formula is known in 300 dimensions. For them the channel is *learned*: how often the output is the
word itself, its nearest word, the second or third, the next four and so on, from draws of the package. Whoever knew the
channel would name more.
"""

import math

import numpy as np

# Ranks of neighbours at which a bin of the learned channel begins: the word itself, its nearest, the next two and so on. The first are
# exact, the others by a sample of words.
NEAR, FAR, NEIGHBOURS, SAMPLE = [0, 1, 2, 4, 8], [2**i for i in range(6, 15)], 10, 1024
RANKS = NEAR + FAR
IMPOSSIBLE = 65535
STEPS = 512
BLOCK = 512
COLUMNS = 64


def read_vectors(path):
    """Words and vectors, as pypantera and we use them: without the words that have a space in them."""
    words, rows = [], []
    with open(path, encoding="utf-8") as lines:
        dim = int(next(lines).split()[1])
        for line in lines:
            word, *numbers = line.rstrip("\n").rsplit(" ", dim)
            words.append(word)
            rows.append(np.array(numbers, dtype="float32"))
    return words, np.array(rows)


class Space:
    """Vectors and what is known of all distances between them."""

    def __init__(self, path, cache):
        kept = cache / "space.npz"
        if kept.exists():
            found = np.load(kept, allow_pickle=False)
            self.words, self.vectors = [str(word) for word in found["words"]], found["vectors"]
        else:
            self.words, self.vectors = read_vectors(path)
            np.savez(kept, words=np.array(self.words), vectors=self.vectors)
        self.ids = {word: i for i, word in enumerate(self.words)}
        self.squares = (self.vectors**2).sum(1)
        self.unit = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self.cache = cache

    def distances(self, ids):
        """Distances of some words from all."""
        ids = np.asarray(ids)
        found = self.squares[ids, None] + self.squares[None] - 2 * self.vectors[ids] @ self.vectors.T
        found = np.sqrt(np.maximum(found, 0))
        found[np.arange(len(ids)), ids] = 0
        return found

    def all_rows(self):
        for start in range(0, len(self.words), BLOCK):
            ids = np.arange(start, min(start + BLOCK, len(self.words)))
            yield ids, self.distances(ids)

    def exponential_sums(self, epsilon):
        """The sum of exp(-eps/2 d) over all words, for every word."""
        path = self.cache / f"sums-{epsilon}.npy"
        if not path.exists():
            np.save(path, np.concatenate([np.exp(-epsilon / 2 * rows).sum(1) for _, rows in self.all_rows()]))
        return np.load(path)

    def ranks(self):
        """For every word the distances at which RANKS begin."""
        path, size = self.cache / "ranks.npy", len(self.words)
        if not path.exists():
            near = np.sort(self.nearest(NEIGHBOURS)[1], axis=1)[:, NEAR]
            some = np.random.default_rng(7).choice(size, SAMPLE, replace=False)
            squares = self.squares[:, None] + self.squares[some] - 2 * self.vectors @ self.vectors[some].T
            far = np.sort(np.sqrt(np.maximum(squares, 0)), axis=1)[:, [rank * SAMPLE // size for rank in FAR]]
            np.save(path, np.concatenate([near, np.maximum(far, near[:, -1:])], axis=1))
        return np.load(path)

    def nearest(self, k):
        """The k nearest words of every word, itself among them, and their distances."""
        path = self.cache / f"nearest-{k}.npz"
        if not path.exists():
            found = []
            for _, rows in self.all_rows():
                best = np.argpartition(rows, k, axis=1)[:, :k].copy()
                found.append((best, np.take_along_axis(rows, best, axis=1)))
            np.savez(path, ids=np.concatenate([a for a, _ in found]), distances=np.concatenate([b for _, b in found]))
        found = np.load(path)
        return found["ids"], found["distances"]


class SanText:
    def __init__(self, space, epsilon, wanted=True):
        self.space, self.epsilon = space, epsilon
        self.norms = space.exponential_sums(self.epsilon) if wanted else None

    def rows(self, ids):
        found = np.exp(-self.epsilon / 2 * self.space.distances(ids))
        return found / found.sum(1, keepdims=True)

    def columns(self, outputs):
        return np.exp(-self.epsilon / 2 * self.space.distances(outputs)) / self.norms


class Tem:
    """The truncated exponential mechanism as mldp-text has it."""

    def __init__(self, space, epsilon, wanted=True):
        size, beta = len(space.words), 0.001
        self.space, self.epsilon, self.size = space, epsilon, size
        self.gamma = round(2 / epsilon * math.log((1 - beta) * size / beta), 1)
        # Gamma is so chosen that all words beyond it have less than a thousandth of the sum: the columns do without their number.
        self.norms = space.exponential_sums(epsilon) if wanted else None

    def rows(self, ids):
        distances = self.space.distances(ids)
        inside = distances <= self.gamma
        within = inside.sum(1)
        found = np.where(inside, np.exp(-self.epsilon / 2 * distances), 0)
        beyond = math.exp(-self.epsilon / 2 * self.gamma) * self.size / within
        found += ~inside * (beyond / np.maximum(self.size - within, 1))[:, None]
        return found / found.sum(1, keepdims=True)

    def columns(self, outputs):
        distances = self.space.distances(outputs)
        return np.exp(-self.epsilon / 2 * np.minimum(distances, self.gamma)) / self.norms


class CusText:
    def __init__(self, space, epsilon, k=10):
        self.size = len(space.words)
        self.ids, distances = space.nearest(k)
        least, most = distances.min(1, keepdims=True), distances.max(1, keepdims=True)
        shares = np.exp(-epsilon / 2 * (distances - least) / (most - least))
        self.shares = shares / shares.sum(1, keepdims=True)

    def with_one_set(self, most):
        """Pairs of words that have the same outputs, of which alone something is claimed."""
        first, pairs = {}, []
        for word, outputs in enumerate(np.sort(self.ids, axis=1)):
            other = first.setdefault(outputs.tobytes(), word)
            if other != word and len(pairs) < most:
                pairs.append((other, word))
        return pairs

    def rows(self, ids):
        found = np.zeros((len(ids), self.size))
        np.put_along_axis(found, self.ids[ids], self.shares[ids], axis=1)
        return found

    def columns(self, outputs):
        return np.array([np.where(self.ids == y, self.shares, 0).sum(1) for y in outputs])


class Line:
    """dp-diffractor, which moves words along a list."""

    def __init__(self, space, epsilon, method, order, stop_words):
        size = len(order)
        self.epsilon, self.method, self.size = epsilon, method, size
        self.ids = np.array([space.ids.get(word, -1) for word in order])
        self.places = np.full(len(space.words), -1)
        self.places[self.ids[self.ids >= 0]] = np.flatnonzero(self.ids >= 0)
        self.stop = np.zeros(len(space.words), bool)
        self.stop[[space.ids[word] for word in stop_words if word in space.ids]] = True

    def weights(self, words, y):
        """Pr[y | w] of outputs at places `y` for words at places `words`."""
        steps = np.abs(words - y)
        if self.method == "geometric":
            inner = math.tanh(self.epsilon / 2) * np.exp(-self.epsilon * steps)
            end = np.exp(-self.epsilon * steps) / (1 + math.exp(-self.epsilon))
            return np.where((y == 0) | (y == self.size - 1), end, inner)
        weights = np.exp(-self.epsilon / 2 * np.minimum(steps, 5))
        before, after = np.minimum(words, 5), np.minimum(self.size - 1 - words, 5)
        r = math.exp(-self.epsilon / 2)
        near = 1 + sum(np.where(before >= k, r**k, 0) + np.where(after >= k, r**k, 0) for k in range(1, 6))
        return weights / (near + (self.size - before - after - 1) * r**5)

    def rows(self, ids):
        ids = np.asarray(ids)
        found = np.zeros((len(ids), len(self.places)))
        for row, word in zip(found, ids):
            if self.stop[word]:
                row[word] = 1
            else:
                row[self.ids[self.ids >= 0]] = self.weights(self.places[word], np.arange(self.size))[self.ids >= 0]
        return found

    def columns(self, outputs):
        return np.array([self.column(y) for y in outputs])

    def column(self, y):
        found = self.weights(self.places, self.places[y])
        found[self.stop] = 0
        found[y] = 1 if self.stop[y] else found[y]
        return found


class Learned:
    """A channel by the rank of the output among the neighbours of the word, from pairs (word, output) of draws."""

    def __init__(self, space, pairs):
        self.space, self.starts = space, space.ranks()
        bins = np.zeros(self.starts.shape[1])
        for start in range(0, len(pairs), BLOCK):
            words, outputs = np.array(pairs[start:start + BLOCK]).T
            distances = self.space.distances(words)[np.arange(len(words)), outputs]
            np.add.at(bins, self.bin(distances, words), 1)
        sizes = np.diff([*RANKS, len(space.words)])
        self.shares = (bins + 0.5) / (bins + 0.5).sum() / sizes

    def bin(self, distances, words):
        """A hundredth of a percent off, so that rounding does not part what is equal."""
        return np.maximum((self.starts[words] <= distances[:, None] * 1.0001 + 1e-3).sum(1) - 1, 0)

    def columns(self, outputs):
        distances = self.space.distances(outputs) * 1.0001 + 1e-3
        found = np.zeros(distances.shape, dtype="int8")
        for starts in self.starts.T[1:]:
            found += starts <= distances
        return self.shares.astype("float32")[found]


def published(space, name, epsilon, order=None, stop_words=(), wanted=True):
    """The channel of a peer by its formula; none if there is none."""
    if name == "pypantera/SanText":
        return SanText(space, epsilon, wanted)
    if name == "pypantera/CusText":
        return CusText(space, epsilon)
    if name == "mldp/tem":
        return Tem(space, epsilon, wanted)
    if name.startswith("diffractor/"):
        return Line(space, epsilon, name.split("/")[1], order, stop_words)
    return None


def check(channel, pairs):
    """Draws of a package against the formula: the share that stayed, drawn and expected; draws that the formula excludes; and by how many
    standard deviations the mean of ln Pr[y | w] differs from what it should be."""
    kept, expected, excluded, surprise, mean, variance = 0, 0.0, 0, 0.0, 0.0, 0.0
    for start in range(0, len(pairs), BLOCK):
        words, outputs = np.array(pairs[start:start + BLOCK]).T
        rows = channel.rows(words)
        p = rows[np.arange(len(words)), outputs]
        kept += int((words == outputs).sum())
        expected += float(rows[np.arange(len(words)), words].sum())
        excluded += int((p <= 0).sum())
        logs = np.log(np.maximum(rows, 1e-300))
        each = (rows * logs).sum(1)
        mean, variance = mean + each.sum(), variance + ((rows * logs**2).sum(1) - each**2).sum()
        surprise += np.log(np.maximum(p, 1e-300)).sum()
    n = len(pairs)
    return {"draws": n, "stayed": kept / n, "expected": expected / n, "excluded": excluded,
            "deviations": float((surprise - mean) / math.sqrt(max(variance, 1e-9))) if not excluded else None}


def write_columns(channel, outputs, among, path):
    """Columns of outputs over the words `among`, in the form that the attacker reads."""
    with open(path, "wb") as out:
        for start in range(0, len(outputs), COLUMNS):
            p = channel.columns(outputs[start:start + COLUMNS])[:, among].astype("float32")
            steps = np.where(p > 1e-37, np.round(-np.log(np.maximum(p, 1e-37)) * STEPS), IMPOSSIBLE)
            out.write(np.clip(steps, 0, IMPOSSIBLE).astype("<u2").tobytes())
