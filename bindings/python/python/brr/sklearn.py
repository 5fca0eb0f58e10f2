"""Privatization as a step of a scikit-learn pipeline."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
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
        context: choices.Context = False,
        public: choices.Words = None,
        private: choices.Words = None,
        case: str = choices.CASE,
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
        self.context = context
        self.public = public
        self.private = private
        self.case = case
        self.threads = threads

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Set the privatizer up. Does not look at the texts."""
        self._current()
        return self

    @property
    def privatizer_(self) -> brr.Privatizer:
        """The privatizer in use, by the parameters as they are now."""
        if not hasattr(self, "_made"):
            raise AttributeError("there is no privatizer_ before fit or transform")
        return self._current()

    def transform(self, X: Any) -> Any:
        """Privatize the texts: a list, a Series, an array, or a frame of one column.

        What comes back has the form of what came: a frame or a matrix of one column
        again, so that ``ColumnTransformer`` can use it.
        """
        # Without state to learn, there is no need to insist on fit.
        column, wrap = _column(X)
        return wrap(self._current().privatize_batch(column, threads=self.threads))

    def _current(self) -> brr.Privatizer:
        """Give the privatizer for the parameters as they are now.

        They may have changed since ``fit``: a budget that was lowered must not wait for the
        next one.
        """
        choices.need_budget(self.epsilon, self.bound, self.keep)
        options = {name: getattr(self, name) for name in _OPTIONS}
        made: tuple[dict[str, Any], brr.Privatizer] | None = getattr(self, "_made", None)
        if made is None or made[0] != options:
            made = options, brr.Privatizer(**options)
            self._made = made
        return made[1]

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


# The parameters that make the privatizer.
_OPTIONS = (
    "model", "mechanism", "epsilon", "bound", "keep", "layout", "unknown", "search",
    "context", "public", "private", "case",
)  # fmt: skip


def _column(table: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Take the column out of a frame or a matrix of one column, and say how it goes back."""
    shape: tuple[int, ...] = getattr(table, "shape", ())
    if len(shape) != 2:
        return table, lambda column: column
    if shape[1] != 1:
        raise brr.InputError(
            f"expected one column of texts, found {shape[1]}: choose one with ColumnTransformer"
        )
    if hasattr(table, "iloc"):
        return table.iloc[:, 0], lambda column: column.to_frame().set_axis(
            table.columns, axis=1
        )
    if hasattr(table, "to_series"):
        return table.to_series(), lambda column: column.to_frame()
    return table[:, 0], lambda column: column.reshape(-1, 1)
