"""Reads a message with the standard library alone: what it tells, or why it is refused."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree

from tests.aodb.oracle import tables

_MONTHS = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
_TIME = re.compile(r"([0-9]{2})([A-Za-z]{3})([0-9]{2})([0-9]{2})([0-9]{2})")
_FLID = re.compile(r"[0-9]{1,19}")
_DECLARATION = re.compile(r"<\?xml\s[^>]*\?>")
_OFFSET = "+08:00"

Told = dict[str, Any]
"""Tag to value; None and an empty list clear."""


class Verdict(Exception):
    """The message ends here, in this state and for this reason."""

    def __init__(self, state: str, reason: str) -> None:
        super().__init__(state, reason)
        self.state = state
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Envelope:
    """A well-formed message: its identity, its content for comparison, and its tree."""

    identity: tuple[str, str, str, str]
    content: object
    root: ElementTree.Element

    @property
    def kind(self) -> tuple[str, str]:
        """Returns TYPE and STYP."""
        return self.identity[1], self.identity[2]


def malformed() -> Verdict:
    """Makes the verdict for what cannot be read."""
    return Verdict("DEAD", "MALFORMED")


def protocol() -> Verdict:
    """Makes the verdict for what can be read but breaks a rule of the interface."""
    return Verdict("DEAD", "PROTOCOL")


def open_envelope(text: str) -> Envelope:
    """Reads the tree and META.

    Raises:
        Verdict: not well-formed, a DOCTYPE, or META is incomplete.
    """
    text = text.lstrip("\ufeff \t\r\n")
    text = _DECLARATION.sub("", text, count=1) if text.startswith("<?xml") else text
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise malformed()
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - refused above what could expand
    except ElementTree.ParseError:
        raise malformed() from None
    meta = root.find("META")
    if root.tag != "MSG" or meta is None:
        raise malformed()
    sndr, type_, styp, seqn = (_child(meta, tag) for tag in ("SNDR", "TYPE", "STYP", "SEQN"))
    if not (sndr and type_ and styp and seqn):
        raise malformed()
    content = tuple(_content(child) for child in root if child.tag != "META")
    return Envelope((sndr, type_, styp, seqn), content, root)


def flight_records(parent: ElementTree.Element) -> list[tuple[str, Told]]:
    """Reads every FLTR of a SCHD.

    Raises:
        Verdict: a value, a count or a limit is wrong.
    """
    records = [(flid_of(fltr), told_by(fltr, None)) for fltr in parent.findall("FLTR")]
    declared = _child(parent, "RECS")
    if declared is None or not declared.isascii() or not declared.isdigit():
        raise protocol()
    if int(declared) != len(records) or len({flid for flid, _ in records}) != len(records):
        raise protocol()
    return records


def flid_of(element: ElementTree.Element) -> str:
    """Reads FLID as the key that it is.

    Raises:
        Verdict: missing, not 1 to 19 digits, or zero (R58).
    """
    return _flid(_child(element, "FLID") or "")


def told_by(element: ElementTree.Element, only: tuple[str, ...] | None) -> Told:
    """Reads what an element says about the tags in `only` (None: about all that exist).

    Raises:
        Verdict: a value or a limit is wrong.
    """
    told: Told = {}
    rows: dict[str, list[ElementTree.Element]] = {}
    for child in element:
        tag = child.tag
        if only is not None and tag not in only:
            continue
        if tag in tables.SCALARS:
            text = (child.text or "").strip()
            told[tag] = _value(tag, text) if text else None
        elif tag in tables.MARKS:
            told[tag] = _mark(child)
        elif tag in tables.COLLECTIONS:
            rows.setdefault(tag, []).append(child)
    told.update((tag, _collection(tag, found)) for tag, found in rows.items())
    return told


def moment(text: str) -> str:
    """Reads a SIS time.

    Raises:
        Verdict: another form, or out of range.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise protocol()
    place = _MONTHS.find(match[2].upper())
    if place % 3:
        raise protocol()
    month = place // 3 + 1
    day, year, hour, minute = (int(match[group]) for group in (1, 3, 4, 5))
    try:
        if (hour, minute) == (24, 0):
            local = datetime(2000 + year, month, day) + timedelta(days=1)  # noqa: DTZ001
        else:
            local = datetime(2000 + year, month, day, hour, minute)  # noqa: DTZ001
    except ValueError:
        raise protocol() from None
    return local.isoformat() + _OFFSET


def said_by(element: ElementTree.Element) -> str | None:
    """Reads the text of an element that holds no other; None if it is empty.

    Raises:
        Verdict: it holds elements and no text.
    """
    texts = [element.text, *(child.tail for child in element)]
    text = "".join(piece or "" for piece in texts).strip(" \t\r\n")
    if len(element) and not text:
        raise protocol()
    return text or None


def _child(element: ElementTree.Element, tag: str) -> str | None:
    found = element.find(tag)
    return None if found is None else (found.text or "").strip()


def _content(element: ElementTree.Element) -> object:
    texts = [element.text, *(child.tail for child in element)]
    kept = tuple(text if text and text.strip() else "" for text in texts)
    attrs = tuple(sorted(element.attrib.items()))
    return element.tag, attrs, kept, tuple(_content(child) for child in element)


def _flid(text: str) -> str:
    if not _FLID.fullmatch(text) or not int(text):
        raise protocol()
    return str(int(text))


def _value(tag: str, text: str) -> str | int:
    if tag in tables.TIMES:
        return moment(text)
    if tag in tables.FLIDS:
        return _flid(text)
    if tag in tables.COUNTS:
        if not (text.isascii() and text.isdigit()):
            raise protocol()
        return int(text)
    if tag in tables.CHOICES and text not in tables.CHOICES[tag]:
        raise protocol()
    return text


def _mark(element: ElementTree.Element) -> dict[str, str] | None:
    parts: dict[str, str] = {}
    for name in tables.MARKS[element.tag]:
        value = (element.get(name) or "").strip()
        if value and name in tables.MARK_CHOICES and value not in tables.MARK_CHOICES[name]:
            raise protocol()
        if value:
            parts[name] = value
    text = (element.text or "").strip()
    if text:
        parts["TEXT"] = text
    if element.tag == "FDIV" and "DDES" not in parts:
        return None
    return parts or None


def _collection(tag: str, found: list[ElementTree.Element]) -> list[dict[str, str]]:
    table = tables.COLLECTIONS[tag]
    if len(found) > table.limit:
        raise protocol()
    if len(found) == 1 and _says_none(found[0], table):
        return []
    return [_row(element, table) for element in found]


def _says_none(element: ElementTree.Element, table: tables.Rows) -> bool:
    if len(element) or (element.text or "").strip():
        return False
    return not element.attrib or (not table.text and element.get(table.attrs[0]) == "0")


def _row(element: ElementTree.Element, table: tables.Rows) -> dict[str, str]:
    row = {name: (element.get(name) or "").strip() for name in table.attrs}
    row |= {name: _child(element, name) or "" for name in table.children}
    if table.text:
        row["TEXT"] = (element.text or "").strip()
    return {
        name: moment(value) if name in table.times else value
        for name, value in row.items()
        if value
    }
