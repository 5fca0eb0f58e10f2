"""The scikit-learn transformer."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import brr
from brr.sklearn import TextPrivatizer

TEXTS = ["a good film", "a bad evening", "good good", "bad bad"] * 10
LABELS = [1, 0, 1, 0] * 10


def test_cloning_and_parameters():
    privatizer = TextPrivatizer(mechanism="brr", epsilon=30.0, layout="words", threads=1)
    again = clone(privatizer.fit(TEXTS))
    assert again.get_params() == privatizer.get_params()
    assert not hasattr(again, "privatizer_")
    assert again.set_params(epsilon=None, keep=0.5).fit().privatizer_.expected_keep
    with pytest.raises(brr.BudgetError):
        clone(privatizer).set_params(epsilon=-1.0).fit(TEXTS)
    model = brr.Model.from_bytes(brr.Model.english().to_bytes())
    assert clone(TextPrivatizer(model, epsilon=1.0)).fit().privatizer_.model.identity


def test_in_a_pipeline():
    pipeline = make_pipeline(
        TextPrivatizer(mechanism="brr", epsilon=30.0), CountVectorizer(), LogisticRegression()
    )
    assert pipeline.fit(TEXTS, LABELS).score(TEXTS, LABELS) == 1.0
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.predict(["a good evening"]).shape == (1,)
    assert cross_val_score(pipeline, TEXTS, LABELS, cv=2, n_jobs=2).mean() == 1.0
    # Between equals the first is best. Noise that says nothing is right about all of twice
    # 20 texts with probability 3e-11: 10 of each 20 are to be named.
    search = GridSearchCV(pipeline, {"textprivatizer__epsilon": [0.001, 30.0]}, cv=2)
    assert search.fit(TEXTS, LABELS).best_params_["textprivatizer__epsilon"] == 30.0


def test_a_budget_that_was_lowered_holds_at_once():
    """A privatizer of an earlier budget would keep what this one is to hide."""
    text = ["the film was good that evening"] * 50
    privatizer = TextPrivatizer(mechanism="brr", epsilon=30.0).fit(text)
    assert privatizer.transform(text) == text
    for lower in (
        lambda: privatizer.set_params(epsilon=0.001),
        lambda: setattr(privatizer, "epsilon", 0.001),
    ):
        privatizer.set_params(epsilon=30.0).fit(text)
        lower()
        assert privatizer.privatizer_.guarantee.epsilon <= 0.001
        # Each of 300 words stays with a probability far below 0.01.
        private = " ".join(privatizer.transform(text)).split()
        kept = sum(a == b for a, b in zip(private, " ".join(text).split()))
        assert kept < 30
    pipeline = make_pipeline(TextPrivatizer(mechanism="brr", epsilon=30.0), CountVectorizer())
    pipeline.fit(text).set_params(textprivatizer__epsilon=0.001)
    assert pipeline[0].privatizer_.guarantee.epsilon <= 0.001
    again = pickle.loads(pickle.dumps(privatizer))
    assert again.privatizer_.guarantee.epsilon <= 0.001
    with pytest.raises(brr.BudgetError):
        privatizer.set_params(epsilon=None).transform(text)


def test_warnings_come_once():
    privatizer = TextPrivatizer(epsilon=1.0, unknown="mask")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        privatizer.fit(TEXTS).transform(TEXTS)
        privatizer.transform(TEXTS)
        pickle.loads(pickle.dumps(privatizer)).transform(TEXTS)
        pickle.loads(pickle.dumps(brr.Privatizer(epsilon=1.0)))
    assert [warning.category for warning in caught] == [brr.PrivacyWarning]


def test_containers():
    privatizer = TextPrivatizer(mechanism="brr", epsilon=30.0)
    series = pd.Series(["Film", None], index=[5, 6])
    assert privatizer.transform(series).to_dict() == {5: "film", 6: None}
    assert privatizer.fit_transform(["Film"]) == ["film"]
    assert privatizer.fit_transform(np.array(["Film"])).tolist() == ["film"]
    matrix = np.array([["Film"], ["Good"]])
    assert privatizer.transform(matrix).tolist() == [["film"], ["good"]]
    frame = pd.DataFrame({"text": ["Film"], "stars": [3]}, index=[7])
    private = privatizer.transform(frame[["text"]])
    pd.testing.assert_frame_equal(private, pd.DataFrame({"text": ["film"]}, index=[7]))
    private = privatizer.transform(pl.DataFrame({"text": ["Film"]}))
    assert private.to_dict(as_series=False) == {"text": ["film"]}
    with pytest.raises(brr.InputError, match="one column"):
        privatizer.transform(frame)


def test_in_a_column_transformer():
    frame = pd.DataFrame({"text": TEXTS, "stars": range(len(TEXTS))})
    text = make_pipeline(TextPrivatizer(mechanism="brr", epsilon=30.0), CountVectorizer())
    columns = ColumnTransformer([("text", text, "text"), ("stars", "passthrough", ["stars"])])
    assert columns.fit_transform(frame).shape[0] == len(TEXTS)


def test_alone_over_one_column_of_a_column_transformer():
    frame = pd.DataFrame({"text": TEXTS, "stars": range(len(TEXTS))})
    columns = ColumnTransformer(
        [("text", TextPrivatizer(mechanism="brr", epsilon=30.0), ["text"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    private = columns.fit_transform(frame)
    assert private.tolist() == frame.to_numpy(dtype=object).tolist()
    assert columns.get_feature_names_out().tolist() == ["text", "stars"]
    private = columns.set_output(transform="pandas").fit_transform(frame)
    assert private.columns.tolist() == ["text", "stars"]
    assert private["text"].tolist() == TEXTS
