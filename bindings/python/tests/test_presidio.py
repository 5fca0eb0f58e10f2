"""The operators with the real presidio-anonymizer."""

import copy
import pickle

import pytest
from presidio_anonymizer import AnonymizerEngine, DeanonymizeEngine
from presidio_anonymizer.entities import InvalidParamError, OperatorConfig, RecognizerResult

import brr
import brr.presidio

TEXT = "John Smith lives in Boston. Card 4111 1111 1111 1111. Ask JOHN, said Zyxwvut."
FOUND = [
    ("PERSON", "John Smith"),
    ("LOCATION", "Boston"),
    ("CREDIT_CARD", "4111 1111 1111 1111"),
    ("PERSON", "JOHN"),
    ("PERSON", "Zyxwvut"),
]


def results() -> list[RecognizerResult]:
    return [
        RecognizerResult(kind, TEXT.index(text), TEXT.index(text) + len(text), 0.9)
        for kind, text in FOUND
    ]


def engine() -> AnonymizerEngine:
    engine = AnonymizerEngine()
    engine.add_anonymizer(brr.presidio.Anonymize)
    return engine


@pytest.fixture(scope="module")
def privatizer() -> brr.Privatizer:
    return brr.Privatizer(mechanism="k-ary", epsilon=2.0, case="sentence")


def test_entities_become_surrogates_of_their_lists(privatizer):
    session = brr.Session(privatizer, numbers=(0, 100, 5))
    private = engine().anonymize(TEXT, results(), brr.presidio.operators(session))
    assert len(private.items) == len(FOUND)
    items = sorted(private.items, key=lambda item: item.start)
    names, places = (brr.Model.english().subset(name) for name in ("names", "places"))
    for item in items:
        assert private.text[item.start : item.end] == item.text
        words = names if item.entity_type == "PERSON" else places
        if item.entity_type != "CREDIT_CARD":
            assert all(word in words and word.istitle() for word in item.text.split())
    card = next(item for item in items if item.entity_type == "CREDIT_CARD").text
    assert [len(group) for group in card.split()] == [4, 4, 4, 4]
    assert card.replace(" ", "").isdigit()
    assert items[0].text.split()[0] == items[3].text
    assert "Zyxwvut" not in private.text
    assert private.text.startswith(items[0].text + " lives in ")
    # John, Smith, Boston, Zyxwvut; new digits cost nothing.
    assert 7.99 < session.loss < 8.01


def test_the_other_engine_restores_by_position(privatizer):
    for _ in range(20):
        session = brr.Session(privatizer)
        private = engine().anonymize(TEXT, results(), brr.presidio.operators(session))
        brr.presidio.note_public(session, private)
        back = DeanonymizeEngine()
        back.add_deanonymizer(brr.presidio.Deanonymize)
        restored = back.deanonymize(
            private.text, private.items, brr.presidio.operators(session)
        )
        if session.collisions == 0 and session.restore(private.text).ambiguous == 0:
            # JOHN and John are one word; each comes back as one of the ways it was written.
            assert restored.text.lower() == TEXT.lower()
            return
    pytest.fail("collisions in all of 20 sessions: below 1e-6 by chance")


def test_what_the_first_engine_made_comes_back_exactly():
    # Two words on the list: collisions are certain, and JOHN has the surrogate of John.
    privatizer = brr.Privatizer(mechanism="k-ary", epsilon=2.0, case="sentence")
    session = brr.Session(privatizer, lists={"two": ["red", "green"]})
    chosen = {"PERSON": "two", "LOCATION": "two"}
    private = engine().anonymize(TEXT, results(), brr.presidio.operators(session, chosen))
    assert session.collisions > 0
    back = DeanonymizeEngine()
    back.add_deanonymizer(brr.presidio.Deanonymize)

    def restored(items, result):
        given = brr.presidio.operators(session, chosen, result)
        return back.deanonymize(private.text, items, given).text

    assert restored(private.items, private) == TEXT
    assert restored(private.items, None) != TEXT
    # What is copied or stored holds no original.
    copied = copy.deepcopy(private)
    assert restored(copied.items, copied) != TEXT
    for stored in [pickle.dumps(private), private.to_json().encode()]:
        assert b"Zyxwvut" not in stored


def test_free_answers_go_through_the_session(privatizer):
    session = brr.Session(privatizer)
    found = [RecognizerResult("PERSON", 0, 7, 0.9)]
    private = engine().anonymize("Zyxwvut left.", found, brr.presidio.operators(session))
    name = private.text.split()[0]
    assert session.restore(f"Why did {name} go?").text == "Why did Zyxwvut go?"
    brr.presidio.note_public(session, private)
    assert session.restore(f"{name} left").text == "Zyxwvut left"


def test_own_lists_and_types(privatizer):
    session = brr.Session(privatizer, lists={"colours": ["red", "green", "blue"]})
    chosen = brr.presidio.operators(session, {"COLOUR": "colours"})
    found = [RecognizerResult("COLOUR", 3, 7, 0.9)]
    private = engine().anonymize("My puce car", found, chosen)
    assert private.text[3:].lower().split()[0] in {"red", "green", "blue"}


def test_a_session_is_needed():
    with pytest.raises(InvalidParamError, match="session"):
        engine().anonymize("John Smith", results()[:1], {"DEFAULT": OperatorConfig("brr", {})})
