"""Comparing epsilons of models with different metrics or code lengths."""

from typing import NamedTuple

from brr._native import Model
from brr.errors import ArgumentError, arguments


class Ratio(NamedTuple):
    """Epsilons of two models with equal privacy loss, after Sec. 5 of the paper."""

    average: float
    """P_avg(a) / P_avg(b): equal loss at the average pair of words."""
    maximum: float
    """P_max(a) / P_max(b): equal loss at the pair farthest apart."""
    nearest: float
    """The same for the mean distance to the nearest neighbour (not in the paper)."""
    epsilon_average: float | None
    """The epsilon for b with a's loss at the average pair."""
    epsilon_maximum: float | None
    """The epsilon for b with a's loss at the pair farthest apart."""
    epsilon_nearest: float | None
    """The epsilon for b with a's loss between nearest neighbours."""


def ratio(a: Model, b: Model, epsilon: float | None = None) -> Ratio:
    """Tell which epsilon of ``b`` compares to which of ``a``.

    Distances of different metrics cannot be compared, and so neither can their
    epsilons. What can be is the loss epsilon * P over a vocabulary's pairs.

    >>> import brr
    >>> english = brr.Model.english()
    >>> brr.ratio(english, english, epsilon=0.5).epsilon_average
    0.5
    """
    for model in (a, b):
        if not isinstance(model, Model):
            raise ArgumentError(f"expected a model; found {type(model).__name__}")
    average = a.distances.average / b.distances.average
    maximum = a.distances.maximum / b.distances.maximum
    nearest = a.distances.nearest_mean / b.distances.nearest_mean
    ratios = (average, maximum, nearest)
    if epsilon is None:
        return Ratio(*ratios, None, None, None)
    with arguments():
        return Ratio(*ratios, *(ratio * epsilon for ratio in ratios))
