"""Privatization as a step of a scikit-learn pipeline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, TransformerMixin

import brr
from brr import choices

if TYPE_CHECKING:
    from typing_extensions import Self


class TextPrivatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Privatizes a column of texts; put it before the vectorizer.

    ``fit`` learns nothing from the texts: vocabulary and codes are those of the
    model, and were fixed before. Every ``transform`` draws fresh noise, so two
    of the same texts differ, and their losses add: privatize once, and keep the
    result, rather than inside a cross-validation.

    Args: as of :class:`brr.Privatizer`, and ``threads``. One of ``epsilon``, ``bound`` and
    ``keep`` must be given: what a data set is worth is nothing to leave to a default.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from brr.sklearn import TextPrivatizer
    >>> pipeline = make_pipeline(TextPrivatizer(keep=0.7), CountVectorizer())
    >>> pipeline.fit_transform(["a good film", "a bad evening"]).shape[0]
    2
    """

    def __init__(
        self,
        model: brr.Model | str | os.PathLike[str] | None = None,
        *,
        mechanism: str = choices.MECHANISM,
        epsilon: float | None = None,
        bound: float | None = None,
        keep: float | None = None,
        layout: str = choices.LAYOUT,
        unknown: str = choices.UNKNOWN,
        search: str = choices.SEARCH,
        threads: int | None = None,
    ) -> None:
        """Keep the arguments as they are: scikit-learn clones by them."""
        self.model = model
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.bound = bound
        self.keep = keep
        self.layout = layout
        self.unknown = unknown
        self.search = search
        self.threads = threads

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Set the privatizer up. Does not look at the texts."""
        self.privatizer_ = self._privatizer()
        return self

    def transform(self, X: Any) -> Any:
        """Privatize the texts: a list, a Series, an array, or a frame of one column."""
        # Without state to learn, there is no need to insist on fit.
        privatizer = getattr(self, "privatizer_", None) or self._privatizer()
        return privatizer.privatize_batch(_column(X), threads=self.threads)

    def _privatizer(self) -> brr.Privatizer:
        choices.need_budget(self.epsilon, self.bound, self.keep)
        return brr.Privatizer(
            self.model,
            self.mechanism,  # type: ignore[arg-type]
            epsilon=self.epsilon,
            bound=self.bound,
            keep=self.keep,
            layout=self.layout,  # type: ignore[arg-type]
            unknown=self.unknown,  # type: ignore[arg-type]
            search=self.search,  # type: ignore[arg-type]
        )

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Any:
        """Give the names of the columns: those that came in."""
        import numpy as np

        return np.asarray(["text"] if input_features is None else input_features, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that texts go in and that nothing needs fitting."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        tags.non_deterministic = True
        return tags


def _column(table: Any) -> Any:
    """Take the column out of a frame or a matrix of one column."""
    if getattr(table, "ndim", 1) != 2:
        return table
    if table.shape[1] != 1:
        raise brr.InputError(
            f"expected one column of texts, found {table.shape[1]}: "
            "choose one with ColumnTransformer"
        )
    return table.iloc[:, 0] if hasattr(table, "iloc") else table[:, 0]
