"""Spans and sessions: offsets in code points, and the way back."""

import pickle
import random

import pytest

import brr


@pytest.fixture(scope="module")
def privatizer() -> brr.Privatizer:
    return brr.Privatizer(mechanism="k-ary", epsilon=1.0)


def test_offsets_are_code_points(privatizer):
    rng = random.Random(5)
    for _ in range(200):
        text = "".join(rng.choice("ab é中😀, ") for _ in range(rng.randrange(30)))
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(4))
        spans = [(cuts[0], cuts[1]), (cuts[2], cuts[3], "names")]
        private = privatizer.privatize_spans(text, spans)
        (a, b), (c, d) = private.spans
        assert private.text[:a] == text[: cuts[0]]
        assert private.text[d:] == text[cuts[3] :]
        between = private.text[b:c]
        assert between == text[cuts[1] : cuts[2]] or (cuts[1] == cuts[2] and between == " ")


def test_spans_draw_from_their_lists(privatizer):
    text = "Ludmilla lives in Qwxzv"
    private = privatizer.privatize_spans(text, [(0, 8, "names"), (18, 23, "places")])
    names, places = (brr.Model.english().subset(name) for name in ("names", "places"))
    (a, b), (c, d) = private.spans
    assert private.text[a:b] in names
    assert private.text[c:d] in places
    assert private.tokens == [1, 1]
    assert 1.99 < private.loss < 2.01
    own = privatizer.privatize_spans("x", [(0, 1, "few")], lists={"few": ["red", "blue"]})
    assert own.text in {"red", "blue"}
    age = privatizer.privatize_spans("47", [(0, 2)], numbers=(0, 120, 5))
    assert 0 <= int(age.text) <= 120


@pytest.mark.parametrize("spans", [[(0, 3), (2, 5)], [(0, 99)], [(-1, 2)], [(3, 2)]])
def test_spans_that_make_no_sense(privatizer, spans):
    with pytest.raises(brr.InputError, match="span"):
        privatizer.privatize_spans("some text", spans)


def test_no_such_list(privatizer):
    with pytest.raises(brr.ArgumentError, match="names, places"):
        privatizer.privatize_spans("secretword", [(0, 10, "secretword")])


def test_context_is_refused():
    with pytest.raises(brr.ArgumentError, match="without context"):
        brr.Session(brr.Privatizer(mechanism="k-ary", epsilon=1.0, context=True))


def test_a_session_restores(privatizer):
    session = brr.Session(privatizer)
    first = session.privatize("Zyxwvut")
    assert session.privatize("Zyxwvut Zyxwvut") == f"{first} {first}"
    assert (session.words, session.collisions) == (1, 0)
    assert session.loss == pytest.approx(1.0, rel=1e-6)
    restored = session.restore(f"Ask {first}'s sister.")
    assert restored.text == "Ask Zyxwvut's sister."
    assert (restored.restored, restored.ambiguous) == (1, 0)
    restorer = session.restorer()
    parts = [restorer.push(letter) for letter in f"Ask {first}."]
    assert "".join([*parts, restorer.finish()]) == "Ask Zyxwvut."
    assert (restorer.restored, restorer.ambiguous) == (1, 0)
    assert session.privatize("ZYXWVUT zyxwvut") == f"{first} {first}"
    session.add_public(f"There is a {first}.")
    assert session.restore(first).ambiguous == 1
    assert "partition" in session.adjacency
    assert "partition" not in privatizer.spans_adjacency


def test_a_session_leaves_by_an_explicit_call_alone(privatizer):
    session = brr.Session(privatizer)
    first = session.privatize("Zyxwvut")
    assert "yxwvut" not in repr(session)
    assert "yxwvut" not in repr(session.restore(first))
    with pytest.raises(TypeError):
        pickle.dumps(session)
    data = session.export()
    later = brr.Session.from_bytes(privatizer, data)
    assert later.privatize("Zyxwvut") == first
    assert later.loss == session.loss
    with pytest.raises(brr.InputError):
        brr.Session.from_bytes(privatizer, data[:-1])
    with pytest.raises(brr.ArgumentError):
        brr.Session.from_bytes(privatizer, data, lists={})


def test_canaries_never_pass(privatizer):
    session = brr.Session(privatizer)
    for i in range(500):
        text = f"Zq{i:03}x Zqxz{chr(97 + i % 26)}"
        spans = [(0, 6, "names"), (7, len(text))]
        outputs = [privatizer.privatize_spans(text, spans).text]
        outputs += [session.privatize_spans(text, spans).text, session.privatize(text)]
        assert not any("zq" in output.lower() for output in outputs)
