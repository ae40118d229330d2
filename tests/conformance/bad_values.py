"""Values that no message may hold: refused with tag and value, state and version untouched."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.conformance.cell import (
    SUCCEEDED,
    Cell,
    End,
    Entry,
    Text,
    Wrote,
    refused,
)
from tests.conformance.flop import changed
from tests.conformance.parts import PLAN, adft, element, flop, fltr

SECTION: Final = "Bad values"


def entries() -> Iterator[Entry]:
    """Yield the section: what is refused, and what is just allowed."""
    flids = {
        "FLID of 20 digits": ("12345678901234567890", ("FLID", "'12345678901234567890'")),
        "FLID zero": ("000", ("FLID", "'000'")),
        "FLID with letters": ("12A", ("FLID", "'12A'")),
        "FLID empty": ("", ("FLID is empty",)),
    }
    for row, (flid, says) in flids.items():
        body = f"<FLOP><FLID>{flid}</FLID><STND>7</STND></FLOP>"
        yield _broken(row, Text(type="FLOP", styp="STND", body=body), *says)
    values = {
        "29 February in a non-leap year": ("ESTT", "29FEB270830"),
        "25:00": ("ESTT", "{DAY}2500"),
        "24:01": ("ESTT", "{DAY}2401"),
        "a month of no language": ("ESTT", "05JXN260830"),
        "a time with seconds": ("ESTT", "{DAY}083000"),
        "letters in MAXP": ("MAXP", "18O"),
        "a negative MAXP": ("MAXP", "-1"),
        "MAXP of 19 digits": ("MAXP", "1234567890123456789"),
        "FLIN of no nature": ("FLIN", "Z"),
    }
    for row, (tag, value) in values.items():
        yield _broken(row, flop(tag, f"<{tag}>{value}</{tag}>"), tag, f"'{value}'")
    gates = "".join(element("GTDT", str(n), GATE=f"A{n}").xml for n in range(1, 101))
    yield _broken(
        "100 gates",
        flop("GTDT", gates, shown="100 × `<GTDT …>`"),
        "GTDT stands 100 times",
        "99",
    )
    yield _broken(
        "a bad value beside a good flight",
        Text(
            type="FLOP", styp="ESTT",
            body="<FLOP><FLID>{A}</FLID><ESTT>{DAY}0900</ESTT></FLOP>"
            "<FLOP><FLID>{B}</FLID><ESTT>x</ESTT></FLOP>",
        ),
        "FLOP 2 of 2", "ESTT", "'x'",
    )  # fmt: skip
    edges: dict[str, tuple[str, str, Any]] = {
        "24:00 is the next day's 00:00": ("ESTT", "{DAY}2400", "+0000"),
        "29 February in a leap year": ("ESTT", "29FEB280830", "2028-02-29T08:30:00+08:00"),
        "a month in lower case": ("ESTT", "01jan260830", "2026-01-01T08:30:00+08:00"),
        "MAXP with leading zeros": ("MAXP", "0186", 186),
    }
    for row, (tag, value, state) in edges.items():
        when = flop(tag, f"<{tag}>{value}</{tag}>")
        after = PLAN | {tag: state}
        yield _value(row, when, SUCCEEDED, after, changed(PLAN, after))


def _broken(row: str, when: Text, *says: str) -> Cell:
    return _value(row, when, refused(*says), PLAN, ())


def _value(
    row: str, when: Text, end: End, after: Mapping[str, Any], writes: tuple[Wrote, ...]
) -> Cell:
    return Cell(
        section=SECTION,
        row=row,
        column="case",
        given=(adft(fltr("A")),),
        when=when,
        end=end,
        before={"A": PLAN},
        after={"A": after},
        wrote=writes,
    )
