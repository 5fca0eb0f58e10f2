"""Scores released words: what stayed, what is alike, what a classifier and an attacker make of them.

    python score.py PLAN

PLAN is a JSON file with the releases of one mechanism (`run` writes it); their scores come out as JSON. It runs in the environment of
the peers, because it needs their vectors and NumPy.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import word_peers  # noqa: E402
import channels  # noqa: E402

# Words of which all pairs with their nearest word and with another are looked at for the worst loss.
WORST = 200
# Draws of a package that are compared with the formula.
CHECKED = 1500


class Scores:
    def __init__(self, plan):
        self.plan = plan
        self.cache = Path(plan["cache"])
        self.space = channels.Space(word_peers.vectors_file(), self.cache)
        self.model = plan["vocabulary"]
        self.known = set(self.model) & set(self.space.ids)
        # Words of the model in the order of its file; those without a vector never come out of a peer.
        self.among = np.array([self.space.ids.get(word, -1) for word in self.model])
        self.names = set(plan["names"]) & self.known
        self.order = json.loads((self.cache / "sorted.json").read_text()) if (self.cache / "sorted.json").exists() else None

    def words(self, release):
        """Pairs (original, output) of known words, over all texts."""
        both = zip(release["texts"], release["outputs"])
        found = [(a.lower(), b.lower()) for text, out in both for a, b in zip(text, out)]
        return [(a, b) for a, b in found if a in self.known]

    def simple(self, release):
        pairs = self.words(release)
        ids = [(self.space.ids[a], self.space.ids.get(b, -1)) for a, b in pairs]
        cosines = [float(self.space.unit[a] @ self.space.unit[b]) if b >= 0 else 0.0 for a, b in ids]
        return {"words": len(pairs), "stayed": sum(a == b for a, b in pairs) / len(pairs), "similarity": float(np.mean(cosines)),
                **self.clear(release)}

    def clear(self, release):
        """Shares of tokens that identify people and came out as they were."""
        tokens = [(a, b) for text, out in zip(release["texts"], release["outputs"]) for a, b in zip(text, out)]
        word = [(a, b) for a, b in tokens if any(c.isalnum() for c in a)]
        unknown = [(a, b) for a, b in word if a.lower() not in self.space.ids]
        written = [(a, b) for a, b in word if any(c.isdigit() for c in a) or a != a.lower()]
        share = lambda pairs: sum(a == b for a, b in pairs) / len(pairs) if pairs else None
        return {"unknown": len(unknown), "unknown_in_clear": share(unknown),
                "written": len(written), "written_in_clear": share(written)}

    def centroids(self, texts, labels):
        kinds = sorted(set(labels))
        sums = {kind: np.zeros(self.space.vectors.shape[1]) for kind in kinds}
        for text, label in zip(texts, labels):
            sums[label] += self.mean(text)
        return kinds, np.array([sums[kind] / max(labels.count(kind), 1) for kind in kinds])

    def mean(self, text):
        ids = [self.space.ids[word.lower()] for word in text if word.lower() in self.space.ids]
        return self.space.unit[ids].mean(0) if ids else np.zeros(self.space.vectors.shape[1])

    def accuracy(self, release, data):
        """Nearest centroid, from so many privatized texts, on original other ones: the mean over as many such parts of the release as there
        are, with equal weight for every label."""
        most, found = self.plan["centroid_texts"], []
        for start in range(0, min(len(release["outputs"]), len(data["labels"])) - most + 1, most):
            found.append(self.one_accuracy(release["outputs"][start:start + most], data["labels"][start:start + most], data))
        return float(np.mean(found)) if found else None

    def one_accuracy(self, texts, labels, data):
        kinds, centres = self.centroids(texts, labels)
        # What all kinds of texts have in common says nothing.
        middle = centres.mean(0)
        centres = centres - middle
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
        guesses = np.argmax((self.tests(data) - middle) @ centres.T, axis=1)
        right = np.array([kinds[guess] == label for guess, label in zip(guesses, data["test_labels"])])
        of = np.array(data["test_labels"])
        return float(np.mean([right[of == kind].mean() for kind in sorted(set(data["test_labels"]))]))

    def tests(self, data):
        if "means" not in data:
            data["means"] = np.array([self.mean(text) for text in data["test_texts"]])
        return data["means"]

    def by_formula(self, release, data):
        """More draws than the package has made, by the formula that its draws are checked against."""
        texts = release["texts"] if "outputs" not in release else data["texts"]
        channel = channels.published(self.space, release["who"], release["setting"], self.order, word_peers.STOP_WORDS.split(), False)
        random = np.random.default_rng(6)

        lowers = release["who"].split("/")[0] != "mldp"

        def words(text):
            text = [word.lower() for word in text] if lowers else text
            ids = [self.space.ids[word] for word in text if word in self.space.ids]
            rows = iter(channel.rows(ids) if ids else ())
            drawn = lambda row: self.space.words[random.choice(len(row), p=row / row.sum())]
            return [drawn(next(rows)) if word in self.space.ids else word for word in text]

        return {**release, "texts": texts, "outputs": [words(text) for text in texts]}

    def channel(self, release, teacher):
        made = channels.published(self.space, release["who"], release["setting"], self.order, word_peers.STOP_WORDS.split())
        return (made, "formula") if made else (channels.Learned(self.space, self.ids(teacher)), "learned")

    def ids(self, release):
        """Pairs of ids of words with vectors, of tokens that the mechanism knew as they are."""
        lowers = release["who"].split("/")[0] != "mldp"
        pairs = [(a.lower() if lowers else a, b) for text, out in zip(release["texts"], release["outputs"]) for a, b in zip(text, out)]
        return [(self.space.ids[a], self.space.ids[b]) for a, b in pairs if a in self.space.ids and b in self.space.ids]

    def attack(self, release, channel, data, work):
        """The job of the attacker, sentences and columns of the outputs; and the words that he does not see."""
        numbers, lines, count, truth = {}, [], 0, []
        ours = release.get("mechanism")
        for text, out in zip(release["texts"], release["outputs"]):
            if count >= self.plan["attacked"]:
                break
            for a, b in zip(text, out):
                if not any(c.isalnum() for c in a):
                    if a in (".", "!", "?") and lines and lines[-1]:
                        lines.append("")
                    continue
                count += 1
                word, output = a.lower(), b
                known = output in self.space.ids if not ours else output in self.known
                column = str(numbers.setdefault(output, len(numbers))) if known else "-"
                truth.append(word)
                lines.append(f"{word}\t{output.lower()}\t{column}")
            if lines and lines[-1]:
                lines.append("")
        work.mkdir()
        (work / "pairs.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        job = {"model": release.get("model") or self.plan["model"], "his": data["his"], "pairs": str(work / "pairs.txt")}
        if ours:
            return {**job, "mechanism": ours}, truth
        channels.write_columns(channel, [self.space.ids[output] for output in numbers], self.among, work / "columns.bin")
        return {**job, "columns": str(work / "columns.bin")}, truth

    def named(self, jobs, work):
        """What the attacker names in all jobs."""
        (work / "jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job, _ in jobs))
        lines = subprocess.run([self.plan["attacker"], work / "jobs.jsonl"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        for line, (_, truth) in zip(lines, jobs, strict=True):
            found = json.loads(line)
            pairs = [(word, guess) for word, guess in zip(truth, found["named"], strict=True) if word in self.known]
            of = lambda some: {"words": len(some), "named": sum(a == b for a, b in some) / len(some)} if some else None
            yield {"all": of(pairs), "names": of([pair for pair in pairs if pair[0] in self.names]), "seconds": found["seconds"]}

    def worst(self, release):
        """The largest loss between two of some words by the formula, and what was claimed for these."""
        channel = channels.published(self.space, release["who"], release["setting"], self.order, (), wanted=False)
        if channel is None:
            return None
        rng = random.Random(4)
        line = isinstance(channel, channels.Line)
        words = [self.space.ids[w] for w in rng.sample(sorted(self.known), WORST)]
        place = (lambda w: channel.places[w]) if line else None
        worst, share, compared, largest = (0.0, None), (0.0, None), 0, 0.0
        # CusText claims its epsilon between words with one output set, and nothing between others.
        sets = release["who"] == "pypantera/CusText"
        alike = channel.with_one_set(WORST) if sets else []
        for start in range(0, WORST + len(alike), 50):
            some = words[start:start + 50] or [a for a, _ in alike[start - WORST:start - WORST + 50]]
            distances = self.space.distances(some)
            near = np.argpartition(distances, 1, axis=1)[:, 1]
            if line:
                near = np.array([channel.ids[min(place(w) + 1, channel.size - 2)] for w in some])
            rows = channel.rows(some)
            far = np.array([rng.choice(words) for _ in some])
            for others in (near, far) if start < WORST else (np.array([b for _, b in alike[start - WORST:start - WORST + 50]]),):
                theirs = channel.rows(others)
                with np.errstate(divide="ignore", invalid="ignore"):
                    ratio = np.abs(np.log(rows) - np.log(theirs))
                loss = np.nanmax(np.where((rows == 0) & (theirs == 0), np.nan, ratio), axis=1)
                for i, (a, b) in enumerate(zip(some, others)):
                    if a == b or (line and (channel.ids < 0).any() and min(place(a), place(b)) < 0):
                        continue
                    largest = max(largest, float(loss[i]))
                    distance = abs(int(place(a)) - int(place(b))) if line else float(distances[i, b])
                    if sets and not np.array_equal(rows[i] > 0, theirs[i] > 0):
                        continue
                    compared += 1
                    claim = release["setting"] * (1 if sets else distance)
                    worst = max(worst, (float(loss[i]), claim), key=lambda pair: pair[0])
                    share = max(share, (float(loss[i]) / claim if claim else 0.0, float(loss[i])), key=lambda pair: pair[0])
        finite = lambda x: None if math.isinf(x) else x
        return {"pairs": 2 * WORST + len(alike), "compared": compared, "largest": finite(largest), "loss": finite(worst[0]), "claimed": worst[1], "most_of_claim": finite(share[0])}


def main():
    plan = json.loads(Path(sys.argv[1]).read_text())
    scores = Scores(plan)
    found, jobs = [], []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for number, release in enumerate(plan["releases"]):
            data = plan["data"][release["data"]]
            formula = channels.published(scores.space, release["who"], release["setting"], scores.order, (), wanted=False)
            drawn = scores.by_formula(release, data) if formula else release
            # What passes in clear is the package's own doing.
            row = {**scores.simple(drawn), **(scores.clear(release) if "outputs" in release else {}), "accuracy": scores.accuracy(drawn, data)}
            channel = None
            if plan["attacked"] and not release.get("mechanism"):
                channel, row["channel"] = scores.channel(release, release.get("learn") or release)
                if formula and "outputs" in release:
                    row["check"], row["worst"] = channels.check(formula, scores.ids(release)[:CHECKED]), scores.worst(release)
            release = drawn
            if plan["attacked"]:
                jobs.append(scores.attack(release, channel, data, work / str(number)))
            found.append(row)
        if jobs:
            for row, attack in zip(found, scores.named(jobs, work)):
                row["attack"] = attack
    print(json.dumps(found))


if __name__ == "__main__":
    main()
