"""Texts to measure with, the same in every run. (Noise is never seeded.)"""

import random

import brr


def documents(count: int, words: int = 12, known: set[str] | None = None) -> list[str]:
    """Make documents of frequent words; only of ``known`` ones if given."""
    vocabulary = [w for w in brr.Model.english().words[:8000] if w.isalpha()]
    if known is not None:
        vocabulary = [w for w in vocabulary if w in known]
    chooser = random.Random(2024)
    return [" ".join(chooser.choices(vocabulary, k=words)) for _ in range(count)]
