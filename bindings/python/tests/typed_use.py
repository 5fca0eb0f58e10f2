"""Read by mypy and pyright, never called: what the types promise to users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
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
    array: npt.NDArray[np.str_] = np.array(["text"])
    assert_type(privatizer.privatize_batch(array), npt.NDArray[np.str_])
    objects: npt.NDArray[np.object_] = np.array(["text", None], dtype=object)
    assert_type(privatizer.privatize_batch(objects), npt.NDArray[np.object_])
    series: pd.Series[str] = pd.Series(["text"])
    assert_type(privatizer.privatize_batch(series), "pd.Series[str]")
    index: pd.Index[str] = pd.Index(["text"])
    assert_type(privatizer.privatize_batch(index), "pd.Index[str]")
    assert_type(privatizer.privatize_batch_counted(series), list[brr.Privatized | None])
    assert_type(privatizer.privatize_batch(["text"], progress=print), list[str])
    assert_type(privatizer.privatize_batch_counted(["text"]), list[brr.Privatized | None])
    assert_type(privatizer.trace("text").parts[0].original, str | None)
    mechanism: brr.Mechanism = "brr"
    brr.Privatizer(mechanism=mechanism, keep=0.5)
    language = brr.build_language(["text", Path("texts.txt")], model=privatizer.model)
    assert_type(language, brr.Language)
    for context in (True, None, "english.lm", Path("english.lm"), language):
        brr.Privatizer(bound=16.0, context=context)
    assert_type(privatizer.context, brr.Language | None)
    assert_type(brr.decode(["text", None], privatizer, language=language), list[str | None])
    assert_type(brr.posteriors(series, privatizer), list[brr.DecodedText | None])
    brr.decode_file("out.csv", Path("decoded.csv"), "run.json", words=["the"], case="sentence")
    assert_type(privatizer.guarantee.bound, float)
    assert_type(privatizer.adjacency, str)
    privatizer.model.check(threads=1, progress=print)
    spans = privatizer.privatize_spans("text", [(0, 4), (4, 4, "few")], lists={"few": ["red"]})
    assert_type(spans, brr.PrivatizedSpans)
    session = brr.Session(privatizer, numbers=(0, 120, 5))
    assert_type(session.privatize_spans("text", [(0, 4, None)]).spans, list[tuple[int, int]])
    assert_type(session.restore("text"), brr.Restored)
    assert_type(session.restorer().push("text"), str)
    assert_type(brr.Session.from_bytes(privatizer, session.export()), brr.Session)
    assert_type(privatizer.outcomes("word").likely[0].word, str)
    assert_type(brr.ratio(brr.Model.english(), privatizer.model), brr.Ratio)


def wrong(privatizer: brr.Privatizer) -> None:
    brr.Privatizer(mechanism="laplace")  # type: ignore[arg-type]  # pyright: ignore
    brr.Privatizer(context=1.5)  # type: ignore[arg-type]  # pyright: ignore
    brr.Privatizer(epsilon="1")  # type: ignore[arg-type]  # pyright: ignore
    privatizer.privatize_batch(7)  # type: ignore[call-overload]  # pyright: ignore
