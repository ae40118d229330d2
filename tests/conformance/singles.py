"""SCHD-ADFT and FDEL: single flights that come, change, go and return."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.conformance.cell import (
    DUPLICATE,
    NO_CHANGE,
    Cell,
    Crash,
    Entry,
    NotApplicable,
    States,
    Text,
    refused,
    skipped,
    wrote,
)
from tests.conformance.parts import PLAN, adft, element, fdel, flop, fltr, schd

ADFT: Final = "SCHD-ADFT"
FDEL: Final = "FDEL"
RESP: Final = "SCHD-RESP"
GONE: Final = PLAN | {"STATE": "DELETED"}
_FIRST: Final = "first time"


def entries() -> Iterator[Entry]:
    """Yield the three sections; each clause once, twice and with a crash."""
    for cell in (*_adft(), *_fdel(), *_resp()):
        yield cell
        if cell.end.state == "DEAD" or not cell.wrote:
            why = "nothing is written, and a repeat is SKIPPED as everywhere"
            for column in ("same message twice", "redo after crash"):
                yield NotApplicable(section=cell.section, row=cell.row, column=column, why=why)
            continue
        yield replace(cell, column="same message twice", twice=True, end=DUPLICATE)
        yield replace(cell, column="redo after crash", crash=Crash(at="finish"))


def clause(
    section: str,
    row: str,
    given: tuple[Text, ...],
    when: Text,
    before: States,
    after: States,
    *writes: str,
    **rest: Any,
) -> Cell:
    """Return a clause's first cell."""
    return Cell(
        section=section,
        row=row,
        column=_FIRST,
        given=given,
        when=when,
        before=before,
        after=after,
        wrote=tuple(wrote(text) for text in writes),
        **rest,
    )


def _adft() -> Iterator[Cell]:
    gate = element("GTDT", "1", GATE="A1")
    had = {"STND": "1", "GTDT": [gate.state], "FDIV": {"DDES": "ZSNJ"}}
    told = f'<STND>1</STND>{gate.xml}<FDIV DDES="ZSNJ"/>'
    given = (adft(fltr("A", told)),)
    yield clause(
        ADFT, "a flight is created with its operation day", (),
        adft(fltr("A", "<FLNO>CA1</FLNO>")), {}, {"A": PLAN | {"FLNO": "CA1"}}, "A CREATED *",
    )  # fmt: skip
    yield clause(
        ADFT, "a flight without SODT is created without a day", (), adft(fltr("A", sodt=None)),
        {}, {"A": {}}, "A CREATED",
    )  # fmt: skip
    yield clause(
        ADFT, "a missing day is filled", (adft(fltr("A", sodt=None)),), adft(fltr("A")),
        {"A": {}}, {"A": PLAN}, "A CHANGED SODT",
    )  # fmt: skip
    yield clause(
        ADFT, "absent tags keep", given, adft(fltr("A", "<REMC>x</REMC>", sodt=None)),
        {"A": PLAN | had}, {"A": PLAN | had | {"REMC": "x"}}, "A CHANGED REMC",
    )  # fmt: skip
    yield clause(
        ADFT, "empty tags clear", given,
        adft(fltr("A", '<STND/><GTDT GTNO="0"/><FDIV DDES=""/>', sodt=None)),
        {"A": PLAN | had}, {"A": PLAN}, "A CHANGED STND GTDT FDIV",
    )  # fmt: skip
    yield clause(
        ADFT, "an empty SODT keeps the day", (adft(fltr("A")),), adft(fltr("A", sodt="")),
        {"A": PLAN}, {"A": {}}, "A CHANGED SODT",
    )  # fmt: skip
    yield clause(
        ADFT, "another time of the same day", (adft(fltr("A")),), adft(fltr("A", sodt="@2359")),
        {"A": PLAN}, {"A": {"SODT": "@2359"}}, "A CHANGED SODT",
    )  # fmt: skip
    yield clause(
        ADFT, "nothing new", given, adft(fltr("A", told)), {"A": PLAN | had},
        {"A": PLAN | had}, end=NO_CHANGE,
    )  # fmt: skip
    yield clause(
        ADFT, "a deleted flight is restored with the values it had",
        (*given, fdel("A")), adft(fltr("A", "<REMC>x</REMC>", sodt=None)),
        {"A": GONE | had}, {"A": PLAN | had | {"REMC": "x"}}, "A RESTORED REMC",
    )  # fmt: skip
    yield clause(
        ADFT, "a bare return restores", (*given, fdel("A")), adft(fltr("A", sodt=None)),
        {"A": GONE | had}, {"A": PLAN | had}, "A RESTORED",
    )  # fmt: skip
    yield clause(
        ADFT, "a deleted flight keeps its operation day", (adft(fltr("A")), fdel("A")),
        adft(fltr("A", sodt="+1200")), {"A": GONE}, {"A": GONE},
        end=refused("operation-day-conflict", "FLID {A}"),
    )  # fmt: skip
    yield clause(
        ADFT, "a FLID that returns starts above its floor", (), adft(fltr("A")), {},
        {"A": PLAN}, "A CREATED *", floors={"A": (41, 3)},
    )  # fmt: skip
    yield clause(
        ADFT, "flights of no package are left alone", (adft(fltr("A"), fltr("B")),),
        adft(fltr("A", "<STND>1</STND>")), {"A": PLAN, "B": PLAN},
        {"A": PLAN | {"STND": "1"}, "B": PLAN}, "A CHANGED STND",
    )  # fmt: skip
    yield clause(
        ADFT, "one operation-day conflict and nothing is written",
        (adft(fltr("A"), fltr("B")),),
        adft(fltr("A", "<STND>1</STND>"), fltr("B", sodt="+1200")),
        {"A": PLAN, "B": PLAN}, {"A": PLAN, "B": PLAN}, end=refused("operation-day-conflict"),
    )  # fmt: skip
    occurring = "<SRVT><SRTC>W</SRTC></SRVT><VIPF><VPCD>V</VPCD></VIPF><VIPF/>"
    yield clause(
        ADFT, "SRVT and VIPF are kept, each occurrence", (), adft(fltr("A", occurring)), {},
        {"A": PLAN}, "A CREATED *", kept={"SRVT": 1, "VIPF": 2},
    )  # fmt: skip
    yield clause(
        ADFT, "SRVT without any change of the flight", (adft(fltr("A")),),
        adft(fltr("A", occurring)), {"A": PLAN}, {"A": PLAN}, end=NO_CHANGE,
        kept={"SRVT": 1, "VIPF": 2},
    )  # fmt: skip


def _fdel() -> Iterator[Cell]:
    stands = PLAN | {"STND": "1"}
    gate = element("GTDT", "1", GATE="A1")
    told = f"<STND>1</STND>{gate.xml}"
    given = (adft(fltr("A", told)),)
    kept = stands | {"GTDT": [gate.state]}
    yield clause(
        FDEL, "marks the flight and keeps its details", given, fdel("A"), {"A": kept},
        {"A": kept | {"STATE": "DELETED"}}, "A DELETED → tombstone",
    )  # fmt: skip
    yield clause(
        FDEL, "several flights", (adft(fltr("A"), fltr("B")),), fdel("A", "B"),
        {"A": PLAN, "B": PLAN}, {"A": GONE, "B": GONE},
        "A DELETED → tombstone", "B DELETED → tombstone",
    )  # fmt: skip
    yield clause(
        FDEL, "an unknown sibling does not hinder", (adft(fltr("A")),), fdel("C", "A"),
        {"A": PLAN}, {"A": GONE}, "A DELETED → tombstone",
    )  # fmt: skip
    yield clause(
        FDEL, "again, another message", (*given, fdel("A")), fdel("A"),
        {"A": kept | {"STATE": "DELETED"}}, {"A": kept | {"STATE": "DELETED"}}, end=NO_CHANGE,
    )  # fmt: skip
    yield clause(
        FDEL, "after a return", (adft(fltr("A")), fdel("A"), adft(fltr("A"))), fdel("A"),
        {"A": PLAN}, {"A": GONE}, "A DELETED → tombstone",
    )  # fmt: skip
    yield clause(
        FDEL, "a FLOP after it", (adft(fltr("A")), fdel("A")), flop("STND", "<STND>1</STND>"),
        {"A": GONE}, {"A": GONE}, end=skipped("flight-deleted:{A}"),
    )  # fmt: skip
    yield clause(
        FDEL, "a FLOP after the return", (adft(fltr("A")), fdel("A"), adft(fltr("A"))),
        flop("STND", "<STND>1</STND>"), {"A": PLAN}, {"A": stands}, "A CHANGED STND",
    )  # fmt: skip


def _resp() -> Iterator[Cell]:
    end = skipped("no-open-request")
    yield clause(
        RESP, "without an open request nothing is applied", (adft(fltr("A"), fltr("B")),),
        schd("RESP", fltr("A", "<STND>1</STND>"), fltr("C")), {"A": PLAN, "B": PLAN},
        {"A": PLAN, "B": PLAN}, end=end,
    )  # fmt: skip
