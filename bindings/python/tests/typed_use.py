"""Read by mypy, never called: what the types promise to users."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl
    from typing_extensions import assert_type

    import brr


def right() -> None:
    privatizer = brr.Privatizer("model.brr", mechanism="exponential", bound=16.0)
    assert_type(privatizer.privatize("text"), str)
    assert_type(privatizer.privatize_batch(["text"]), list[str])
    assert_type(privatizer.privatize_batch(["text", None]), list[str | None])
    assert_type(privatizer.privatize_batch(("text", None)), list[str | None])
    assert_type(privatizer.privatize_batch(pl.Series(["text"])), pl.Series)
    assert_type(privatizer.guarantee.bound, float)
    assert_type(privatizer.adjacency, str)
    privatizer.model.check(threads=1, progress=print)
    assert_type(privatizer.outcomes("word").likely[0].word, str)
    assert_type(brr.ratio(brr.Model.english(), privatizer.model), brr.Ratio)


def wrong(privatizer: brr.Privatizer) -> None:
    brr.Privatizer(mechanism="laplace")  # type: ignore[arg-type]
    brr.Privatizer(epsilon="1")  # type: ignore[arg-type]
    privatizer.privatize_batch(7)  # type: ignore[call-overload]
