"""Elements that are written once and read twice: as XML and as the state that they lead to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.conformance.cell import Text

PLAN: Final = {"SODT": "@1200"}
"""What every flight has: its scheduled time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An element of a collection, or a mark."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: Mapping[str, str] = field(default_factory=dict)
    text: str = ""

    @property
    def xml(self) -> str:
        """Return the element as text; `@0830` becomes a SIS time."""
        attributes = "".join(f' {n}="{_sis(value)}"' for n, value in self.attributes.items())
        children = "".join(f"<{n}>{_sis(value)}</{n}>" for n, value in self.children.items())
        inner = self.text + children
        return (
            f"<{self.tag}{attributes}>{inner}</{self.tag}>"
            if inner
            else f"<{self.tag}{attributes}/>"
        )

    @property
    def state(self) -> dict[str, str]:
        """Return the parts that have a value."""
        parts = {**self.attributes, **self.children, "TEXT": self.text}
        return {name: value for name, value in parts.items() if value}


def element(tag: str, number: str | None = None, text: str = "", **parts: str) -> Element:
    """Return a numbered element of a resource collection."""
    numbers = {} if number is None else {_NUMBER[tag]: number}
    return Element(tag=tag, attributes=numbers, children=parts, text=text)


_NUMBER: Final = {
    "GTDT": "GTNO", "CKDT": "CKNO", "CLDT": "CLNO", "CHDT": "CHNO", "PSDT": "PSNO",
    "CHOT": "CSNO", "ABTM": "ASNO", "ROUT": "RTNO", "ERUT": "RTNO",
}  # fmt: skip


def scalar(tag: str, value: str) -> str:
    """Return a scalar as text; `@0830` becomes a SIS time."""
    return f"<{tag}>{_sis(value)}</{tag}>" if value else f"<{tag}/>"


def scalars(values: Mapping[str, str]) -> str:
    """Return several scalars as text."""
    return "".join(scalar(tag, value) for tag, value in values.items())


def flop(styp: str, content: str, *letters: str, shown: str | None = None) -> Text:
    """Return a FLOP with the same content for one or several flights."""
    bodies = (f"<FLOP><FLID>{{{letter}}}</FLID>{content}</FLOP>" for letter in letters or "A")
    return Text(type="FLOP", styp=styp, body="".join(bodies), shown=shown)


def fdel(*letters: str) -> Text:
    """Return the deletion of flights."""
    return flop("FDEL", "<FDEL/>", *letters)


def fltr(letter: str, content: str = "", *, sodt: str | None = "@1200") -> str:
    """Return one flight of a package."""
    when = "" if sodt is None else scalar("SODT", sodt)
    return f"<FLTR><FLID>{{{letter}}}</FLID>{when}{content}</FLTR>"


def schd(styp: str, *flights: str, recs: Any = None, shown: str | None = None) -> Text:
    """Return a package."""
    number = len(flights) if recs is None else recs
    body = f"<SCHD><RECS>{number}</RECS>{''.join(flights)}</SCHD>"
    return Text(type="SCHD", styp=styp, body=body, shown=shown)


def adft(*flights: str, shown: str | None = None) -> Text:
    """Return an update of single flights."""
    return schd("ADFT", *flights, shown=shown)


def dnld(*flights: str, recs: Any = None, shown: str | None = None) -> Text:
    """Return a day plan."""
    return schd("DNLD", *flights, recs=recs, shown=shown)


def _sis(value: str) -> str:
    if value[:1] in ("@", "+") and value[1:].isdigit():
        return f"{{{'DAY' if value[0] == '@' else 'NEXT'}}}{value[1:]}"
    return value
