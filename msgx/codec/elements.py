"""Single elements of a tree: their text, their attributes, and how a broken rule is worded."""

from typing import Final, cast

from lxml import etree

from msgx.codec.position import BLANKS
from msgx.codec.unmapped import Tally
from msgx.codec.values import BadValue, Read
from msgx.domain.failure import clean
from msgx.domain.message import Part

_SHOWN: Final = 40
_FOREIGN: Final = "{http://www.w3.org/2001/XMLSchema-instance}"


class Refusal(Exception):
    """A value, a count or a limit breaks the interface: PROTOCOL. The message names the tag."""

    def __init__(self, text: str, flid: str | None = None) -> None:
        super().__init__(text)
        self.flid = flid  # of the flight at fault, if that could be read


def shown(text: str) -> str:
    """Return a value fit for an error text: cleaned, cut, in quotes."""
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return f"'{clean(cut)}'"


def scalar(element: etree._Element, tally: Tally) -> str:
    """Return the trimmed text of a scalar; what else it holds is counted.

    Raises:
        Refusal: it holds elements and no text, which is not the same as being empty.
    """
    if not len(element) and not element.keys():  # nearly always
        text = element.text
        return text.strip(BLANKS) if text else ""
    count_attributes(element, tally)
    for child in element:
        tally.add(f"{element.tag}/{child.tag}", child.text)
    own = own_text(element)
    if len(element) and not own:
        raise Refusal(f"{element.tag} holds elements where a value is expected")
    return own


def count_attributes(element: etree._Element, tally: Tally) -> None:
    """Count the attributes of an element that has none."""
    for name, value in attributes(element):
        if not name.startswith(_FOREIGN):
            tally.add(f"{element.tag}@{name}", value)


def attributes(element: etree._Element) -> list[tuple[str, str]]:
    """Return names and values."""
    return cast(list[tuple[str, str]], element.items())


def own_text(element: etree._Element) -> str:
    """Return the trimmed text of an element without that of its children."""
    text = element.text or ""
    if len(element):
        text += "".join(child.tail or "" for child in element)
    return text.strip(BLANKS)


def part_of(read: Read, tag: str, text: str) -> Part:
    """Return the value of a text.

    Raises:
        Refusal: it is none.
    """
    try:
        return read(text)
    except BadValue as bad:
        raise Refusal(f"{tag} {shown(text)} {bad}") from None
