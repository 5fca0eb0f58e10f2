"""Operators for presidio-anonymizer: surrogates in place of holes, and the way back.

What a detector misses goes out in clear. ``Privatizer(public="function-words")`` on whole texts
does not depend on detection.
"""

from __future__ import annotations

from typing import Any

from presidio_anonymizer.entities import EngineResult, InvalidParamError, OperatorConfig
from presidio_anonymizer.operators import Operator, OperatorType

import brr

LISTS: dict[str, str | None] = {"PERSON": "names", "LOCATION": "places"}
"""The list that each type of entity draws from; others draw from all private words."""


def operators(
    session: brr.Session,
    lists: dict[str, str | None] | None = None,
    result: EngineResult | None = None,
) -> dict[str, OperatorConfig]:
    """Give the operators that both engines take: brr for entities of every type.

    Args:
        session: Whose surrogates they are.
        lists: For types of entities, the list of the session that they draw from, or None for
            all private words; without it, :data:`LISTS`.
        result: For the way back, what the other engine made of a text. Each of its entities
            comes back exactly as it was, also where two of them have one surrogate. Its items
            hold the originals until they are dropped; what is copied or pickled holds none.
    """
    params: dict[str, Any] = {"session": session, "lists": LISTS if lists is None else lists}
    if result is not None:
        params["originals"] = _originals(result)
    return {"DEFAULT": OperatorConfig("brr", params)}


class _Surrogate(str):
    """A surrogate that knows what it stands for. Copies do not."""

    __slots__ = ("original",)
    original: str

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return str, (str(self),)


def _originals(result: EngineResult) -> dict[str, list[str]]:
    """Give the originals of each surrogate in the order of engines: from the end."""
    originals: dict[str, list[str]] = {}
    for item in sorted(result.items, key=lambda item: item.start, reverse=True):
        if isinstance(item.text, _Surrogate):
            originals.setdefault(str(item.text), []).append(item.text.original)
    return originals


def note_public(session: brr.Session, result: EngineResult) -> None:
    """Tell the session what stood around the entities of an anonymized text.

    An operator sees entities alone. A surrogate that also stands in public text is ambiguous,
    and :meth:`brr.Session.restore` leaves it as it is, if the session knows.
    """
    at = 0
    for item in sorted(result.items, key=lambda item: item.start):
        session.add_public(result.text[at : item.start])
        at = item.end
    session.add_public(result.text[at:])


class _OnSession(Operator):
    """What both operators share: their name, and a session."""

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Check that there is a session."""
        if not isinstance((params or {}).get("session"), brr.Session):
            message = "the operator brr needs a session: use brr.presidio.operators(session)"
            raise InvalidParamError(message)

    def operator_name(self) -> str:
        """Give the name by which engines find it."""
        return "brr"


class Anonymize(_OnSession):
    """Privatizes the text of an entity in a session.

    >>> from presidio_anonymizer import AnonymizerEngine
    >>> from presidio_anonymizer.entities import RecognizerResult
    >>> import brr, brr.presidio
    >>> engine = AnonymizerEngine()
    >>> engine.add_anonymizer(brr.presidio.Anonymize)
    >>> session = brr.Session(brr.Privatizer(mechanism="k-ary", epsilon=4, case="sentence"))
    >>> found = [RecognizerResult("PERSON", 0, 4, 0.9)]
    >>> result = engine.anonymize("John is late.", found, brr.presidio.operators(session))
    >>> result.text.endswith(" is late.")
    True
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Draw surrogates for the words of an entity, from the list of its type."""
        given = params or {}
        name = given.get("lists", LISTS).get(given.get("entity_type"))
        session: brr.Session = given["session"]
        surrogate = _Surrogate(session.privatize_spans(text, [(0, len(text), name)]).text)
        surrogate.original = text
        return surrogate

    def operator_type(self) -> OperatorType:
        """Say which engine it is for."""
        return OperatorType.Anonymize


class Deanonymize(_OnSession):
    """Puts the originals of a session back at the positions that an engine names.

    A free answer has no positions: it goes through :meth:`brr.Session.restore`.
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Restore the text of an entity."""
        given = params or {}
        left: list[str] | None = given.get("originals", {}).get(text)
        if left:
            return left.pop(0)
        session: brr.Session = given["session"]
        return session.restore(text).text

    def operator_type(self) -> OperatorType:
        """Say which engine it is for."""
        return OperatorType.Deanonymize
