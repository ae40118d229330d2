"""Keeps the reference data as the rulings want it, by category and key (R23, R24, R54)."""

from typing import Any
from xml.etree import ElementTree

from tests.aodb.oracle import reference_tables as tables
from tests.aodb.oracle.decode import (
    Envelope,
    Verdict,
    malformed,
    moment,
    protocol,
    said_by,
)

Key = tuple[str, str]
"""RTYPE and RKEY."""

Payload = dict[str, Any]


class RefMaster:
    """An airport's reference data after the messages judged so far."""

    def __init__(self) -> None:
        self._rows: dict[Key, Payload] = {}
        self._asked: dict[str, str | None] = {}  # category to the RTYP that was named

    def ask(self, category: str, rtyp: str | None) -> None:
        """Lets a category be asked for."""
        self._asked[category] = rtyp

    def rows(self) -> dict[Key, Payload]:
        """Returns every record."""
        return dict(sorted(self._rows.items()))

    def apply(self, envelope: Envelope) -> None:
        """Applies one message of a reference kind.

        Raises:
            Verdict: it has no effect.
        """
        category, action = envelope.kind
        told = reference_records(envelope)
        if action == "RESP":
            rtyp = self._asked.get(category)
            others = rtyp and {key.split(":")[0] for key in told} != {rtyp}
            if category not in self._asked or others:
                raise Verdict("SKIPPED", "no-open-request")
            del self._asked[category]
        if action in ("DNLD", "RESP") and category != "RSTA":
            self._rows = {at: row for at, row in self._rows.items() if at[0] != category}
        for key, payload in told.items():
            self._rows.pop((category, key), None)
            if payload is not None:
                self._rows[category, key] = payload


def reference_records(envelope: Envelope) -> dict[str, Payload | None]:
    """Reads the records of a message: key to payload, None if they are to go.

    Raises:
        Verdict: not ours, no record, or a rule is broken.
    """
    category, action = envelope.kind
    if category == "RSTA" and action in ("ADD", "UPD", "DEL"):
        raise Verdict("SKIPPED", "unsupported")
    elements = envelope.root.findall(category)
    _count(envelope.root, category, action, len(elements))
    keys = [_key(element, category) for element in elements]
    if category != "RSTA" and len(set(keys)) != len(keys):
        raise protocol()
    return {
        key: None if action == "DEL" else _payload(element, category)
        for key, element in zip(keys, elements, strict=True)
    }


def is_reference(envelope: Envelope) -> bool:
    """Says whether a message is of a kind that this module judges."""
    category, action = envelope.kind
    return category in tables.KEYS and action in ("DNLD", "RESP", "ADD", "UPD", "DEL")


def _count(root: ElementTree.Element, category: str, action: str, have: int) -> None:
    found = [(element.text or "").strip() for element in root.findall("RECS")]
    declared = found[0] if found else ""
    if not have:
        raise protocol() if declared and not declared.strip("0") else malformed()
    if declared and not (declared.isascii() and declared.isdigit()):
        raise protocol()
    if action in ("ADD", "UPD", "DEL") or (category == "RSTA" and not declared):
        return
    if len(found) != 1 or not declared or int(declared) != have:
        raise protocol()


def _key(element: ElementTree.Element, category: str) -> str:
    parts = []
    for tag in tables.KEYS[category]:
        found = element.findall(tag)
        text = said_by(found[0]) if len(found) == 1 else None
        if text is None or len(text) > 64 or any(ord(c) < 32 for c in text):
            raise protocol()
        parts.append(text)
    if category == "RSTA" and parts[0] not in ("BELT", "CNTR", "GATE", "STND"):
        raise protocol()
    return ":".join(parts)


def _payload(element: ElementTree.Element, category: str) -> Payload:
    payload: Payload = {}
    for tag in dict.fromkeys(child.tag for child in element):
        if tag not in tables.IGNORED.get(category, ()):
            payload |= _told(category, tag, element.findall(tag))
    return _state(payload) if category == "RSTA" else payload


def _told(category: str, tag: str, found: list[ElementTree.Element]) -> Payload:
    if category != "RSTA" and tag in tables.ROWS:
        rows = [_row(element, tables.ROWS[tag]) for element in found]
        return {tag: None if len(rows) == 1 and not any(rows[0].values()) else rows}
    first_only = (category, tag) in tables.FIRST_ONLY
    known = tag in tables.KEYS[category] or tag in tables.SINGLE[category] or first_only
    if not known and any(len(element) for element in found):
        return {}
    texts = [said_by(element) for element in found]
    if first_only:
        return {tag: texts[0]}
    if known:
        if len(texts) > 1:
            raise protocol()
        width = tables.WIDTH.get((category, tag))
        return {tag: texts[0] and texts[0][:width]}
    if category != "RSTA" and tag in tables.LISTS:
        return {tag: None if texts == [None] else texts}
    return {tag: texts[0] if len(texts) == 1 else texts}


def _row(element: ElementTree.Element, row: tables.Row) -> dict[str, str | None]:
    parts: dict[str, str | None] = {}
    for name in row.attrs:
        if name in element.attrib:
            parts[name] = element.attrib[name].strip() or None
    for name in row.children:
        found = element.findall(name)
        if len(found) > 1:
            raise protocol()
        if found:
            parts[name] = said_by(found[0])
    if row.text:
        parts["TEXT"] = said_by(element)
    return parts


def _state(payload: Payload) -> Payload:
    stat = payload.get("STAT")
    if stat not in ("E", "D"):
        raise protocol()
    window: dict[str, str | None] = {}
    for tag, name in (("BGTM", "BEGIN"), ("EDTM", "END")):
        if tag in payload:
            text = payload.pop(tag)
            window[name] = text and moment(text)
    begin, end = window.get("BEGIN"), window.get("END")
    if end and (stat == "E" or (begin and end <= begin)):  # one offset: texts compare as times
        raise protocol()
    return payload | window
