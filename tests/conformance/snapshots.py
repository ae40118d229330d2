"""SCHD-DNLD: what a day plan makes of its days, once, again, and after a crash anywhere."""

from collections.abc import Iterator, Mapping
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
    wrote,
)
from tests.conformance.parts import PLAN, adft, dnld, element, fdel, fltr, scalar, scalars

SECTION: Final = "SCHD-DNLD"
_FIRST: Final = "first time"
_FIGURES: Final = ("created", "restored", "changed", "deleted")
_EACH_ALONE: Final = {"schd": {"batch": 1}}
_NEXT_DAY: Final = {"SODT": "+1200"}


def entries() -> Iterator[Entry]:
    """Yield each clause in all its columns."""
    for first in (*_contents(), *_absences(), *_returns(), *_families(), *_occurrences()):
        yield from _columns(first)


def _clause(
    row: str,
    given: tuple[Text, ...],
    when: Text,
    before: States,
    after: States,
    *writes: str,
    **rest: Any,
) -> Cell:
    parsed = when.body.count("<FLTR>")
    written = tuple(wrote(text) for text in writes)
    named = [one for one in written if f"<FLID>{{{one.flid}}}<" in when.body]
    kinds = [one.kind for one in named]
    figures = {
        "kind": "DNLD",
        "declared": parsed,
        "parsed": parsed,
        "created": kinds.count("CREATED"),
        "restored": kinds.count("RESTORED"),
        "changed": kinds.count("CHANGED") + kinds.count("SHARED"),
        "unchanged": parsed - len(named),
        "deleted": [one.kind for one in written].count("DELETED"),
    }
    case: dict[str, Any] = {
        "given": given,
        "when": when,
        "before": before,
        "after": after,
        "wrote": written,
        "settings": _EACH_ALONE,
        "log": figures | rest.pop("log", {}),
    }
    return Cell(section=SECTION, row=row, column=_FIRST, **case | rest)


def _columns(first: Cell) -> Iterator[Entry]:
    yield first
    log = dict(first.log or {}) | dict.fromkeys(_FIGURES, 0)
    log["unchanged"] = log["parsed"]
    yield replace(
        first,
        column="same content again",
        given=(*first.given, first.when),
        before=first.after,
        wrote=(),
        end=NO_CHANGE,
        log=log,
    )
    yield replace(first, column="same message twice", twice=True, end=DUPLICATE, again_log=log)
    yield replace(first, column="redo after crash", crash=Crash(at="finish"))
    written = [one.flid for one in first.wrote]
    if not written:
        yield NotApplicable(
            section=SECTION,
            row=first.row,
            column="crash in a batch",
            why="no flight is written",
        )
        return
    yield replace(first, column="crash in a batch", crash=Crash(at=written[-1]))


def _contents() -> Iterator[Cell]:
    yield _clause(
        "flights are created", (), dnld(fltr("A", "<FLNO>CA1</FLNO>"), fltr("B")),
        {}, {"A": PLAN | {"FLNO": "CA1"}, "B": PLAN}, "A CREATED *", "B CREATED *",
    )  # fmt: skip
    yield _clause(
        "values change", (adft(fltr("A", "<STND>1</STND>"), fltr("B")),),
        dnld(fltr("A", "<STND>2</STND>"), fltr("B", "<STND>3</STND>")),
        {"A": PLAN | {"STND": "1"}, "B": PLAN},
        {"A": PLAN | {"STND": "2"}, "B": PLAN | {"STND": "3"}},
        "A CHANGED STND", "B CHANGED STND",
    )  # fmt: skip
    had = {"STND": "1", "ESTT": "@1100", "REMC": "x"}
    yield _clause(
        "absent scalars are cleared", (adft(fltr("A", scalars(had))),),
        dnld(fltr("A", "<REMC>x</REMC>")), {"A": PLAN | had}, {"A": PLAN | {"REMC": "x"}},
        "A CHANGED STND ESTT",
    )  # fmt: skip
    gate = element("GTDT", "1", GATE="A1")
    yield _clause(
        "absent collections are cleared", (adft(fltr("A", gate.xml + "<DELY CODE='81'/>")),),
        dnld(fltr("A")), {"A": PLAN | {"GTDT": [gate.state], "DELY": [{"CODE": "81"}]}},
        {"A": PLAN}, "A CHANGED GTDT DELY",
    )  # fmt: skip
    marks = {
        "FDIV": {"DDES": "ZSNJ"}, "FRET": {"REID": "G"}, "FLAB": {"ARES": "T"}, "BDPB": "Y",
    }  # fmt: skip
    yield _clause(
        "absent FDIV, FRET, FLAB and BDPB are cleared",
        (adft(fltr("A", '<FDIV DDES="ZSNJ"/><FRET REID="G"/><FLAB ARES="T"/><BDPB>Y</BDPB>')),),
        dnld(fltr("A")), {"A": PLAN | marks}, {"A": PLAN}, "A CHANGED FDIV FRET FLAB BDPB",
    )  # fmt: skip
    yield _clause(
        "empty tags clear", (adft(fltr("A", scalars({"STND": "1"}) + gate.xml)),),
        dnld(fltr("A", '<STND/><GTDT GTNO="0"/>')),
        {"A": PLAN | {"STND": "1", "GTDT": [gate.state]}}, {"A": PLAN}, "A CHANGED STND GTDT",
    )  # fmt: skip
    yield _clause(
        "an unchanged flight beside a changed one", (adft(fltr("A"), fltr("B")),),
        dnld(fltr("A"), fltr("B", "<STND>3</STND>")), {"A": PLAN, "B": PLAN},
        {"A": PLAN, "B": PLAN | {"STND": "3"}}, "B CHANGED STND",
    )  # fmt: skip
    yield _clause(
        "nothing changes", (adft(fltr("A", "<STND>1</STND>")),),
        dnld(fltr("A", "<STND>1</STND>")), {"A": PLAN | {"STND": "1"}},
        {"A": PLAN | {"STND": "1"}}, end=NO_CHANGE,
    )  # fmt: skip
    points = [element("ROUT", str(n), APCD=f"Z{n}") for n in range(1, 7)]
    told = scalar("MVIN", "A") + "".join(point.xml for point in points)
    yield _clause(
        "ROUT of an arrival keeps its last four points", (), dnld(fltr("A", told)), {},
        {"A": PLAN | {"MVIN": "A", "ROUT": [point.state for point in points[2:]]}},
        "A CREATED *",
    )  # fmt: skip
    yield _clause(
        "a flight without SODT has no day", (), dnld(fltr("A"), fltr("B", sodt=None)), {},
        {"A": PLAN, "B": {}}, "A CREATED *", "B CREATED *",
    )  # fmt: skip
    yield _clause(
        "a flight told without SODT keeps its day", (adft(fltr("A"), fltr("B")),),
        dnld(fltr("A"), fltr("B", "<STND>1</STND>", sodt=None)), {"A": PLAN, "B": PLAN},
        {"A": PLAN, "B": {"STND": "1"}}, "B CHANGED SODT STND",
    )  # fmt: skip


def _absences() -> Iterator[Cell]:
    gone = PLAN | {"STATE": "DELETED"}
    yield _clause(
        "absent flights of its day are deleted", (adft(fltr("A"), fltr("B"), fltr("D")),),
        dnld(fltr("A")), {"A": PLAN, "B": PLAN, "D": PLAN}, {"A": PLAN, "B": gone, "D": gone},
        "B DELETED → tombstone", "D DELETED → tombstone",
    )  # fmt: skip
    stands = PLAN | {"STND": "1"}
    yield _clause(
        "a deleted flight keeps its details", (adft(fltr("A"), fltr("B", "<STND>1</STND>")),),
        dnld(fltr("A")), {"A": PLAN, "B": stands}, {"A": PLAN, "B": gone | {"STND": "1"}},
        "B DELETED → tombstone",
    )  # fmt: skip
    yield _clause(
        "flights of another day stay", (adft(fltr("A"), fltr("B", sodt="+1200")),),
        dnld(fltr("A", "<STND>1</STND>")), {"A": PLAN, "B": _NEXT_DAY},
        {"A": stands, "B": _NEXT_DAY}, "A CHANGED STND",
    )  # fmt: skip
    yield _clause(
        "flights without a day stay", (adft(fltr("A"), fltr("B", sodt=None)),),
        dnld(fltr("A", "<STND>1</STND>")), {"A": PLAN, "B": {}}, {"A": stands, "B": {}},
        "A CHANGED STND",
    )  # fmt: skip
    yield _clause(
        "a package without any day deletes nothing", (adft(fltr("A"), fltr("B")),),
        dnld(fltr("C", sodt=None)), {"A": PLAN, "B": PLAN}, {"A": PLAN, "B": PLAN, "C": {}},
        "C CREATED", log={"scope_begin": None, "scope_end": None},
    )  # fmt: skip
    yield _clause(
        "a flight deleted before is not deleted again",
        (adft(fltr("A"), fltr("B")), fdel("B")), dnld(fltr("A", "<STND>1</STND>")),
        {"A": PLAN, "B": gone}, {"A": stands, "B": gone}, "A CHANGED STND",
    )  # fmt: skip
    yield _clause(
        "a package of two days speaks for both",
        (adft(fltr("A"), fltr("B", sodt="+1200"), fltr("C"), fltr("D", sodt="+1200")),),
        dnld(fltr("A"), fltr("B", sodt="+1200")),
        {"A": PLAN, "B": _NEXT_DAY, "C": PLAN, "D": _NEXT_DAY},
        {"A": PLAN, "B": _NEXT_DAY, "C": gone, "D": _NEXT_DAY | {"STATE": "DELETED"}},
        "C DELETED → tombstone", "D DELETED → tombstone", log={"scope_end": "next"},
    )  # fmt: skip


def _returns() -> Iterator[Cell]:
    had = PLAN | {"STND": "1", "STATE": "DELETED"}
    yield _clause(
        "a deleted flight is restored as it is told",
        (adft(fltr("A", "<STND>1</STND>")), fdel("A")), dnld(fltr("A", "<REMC>x</REMC>")),
        {"A": had}, {"A": PLAN | {"REMC": "x"}}, "A RESTORED STND REMC",
    )  # fmt: skip
    yield _clause(
        "a FLID that returns starts above its floor", (), dnld(fltr("A")), {}, {"A": PLAN},
        "A CREATED *", floors={"A": (41, 3)},
    )  # fmt: skip


def _families() -> Iterator[Cell]:
    shared = fltr("B", "<FLNO>ZH2</FLNO><MAID>{A}</MAID>")
    other = fltr("D", "<FLNO>ZH4</FLNO><MAID>{A}</MAID>")
    b = PLAN | {"FLNO": "ZH2", "MAID": "{A}"}
    d = PLAN | {"FLNO": "ZH4", "MAID": "{A}"}
    mafl_b, mafl_d = {"FLID": "{B}", "FLNO": "ZH2"}, {"FLID": "{D}", "FLNO": "ZH4"}
    both, gone = PLAN | {"MAFL": [mafl_b, mafl_d]}, {"STATE": "DELETED"}
    yield _clause(
        "a family is created together, codeshares first", (), dnld(other, shared, fltr("A")),
        {}, {"A": both, "B": b, "D": d},
        "D CREATED * → nothing", "B CREATED * → nothing", "A CREATED *",
    )  # fmt: skip
    yield _clause(
        "a family that loses a codeshare", (adft(fltr("A"), shared, other),),
        dnld(fltr("A"), shared), {"A": both, "B": b, "D": d},
        {"A": PLAN | {"MAFL": [mafl_b]}, "B": b, "D": d | gone},
        "A SHARED MAFL", "D DELETED → nothing",
    )  # fmt: skip
    yield _clause(
        "a family that loses its main", (adft(fltr("A"), shared),), dnld(shared),
        {"A": PLAN | {"MAFL": [mafl_b]}, "B": b}, {"A": PLAN | gone, "B": b},
        "A DELETED → tombstone",
    )  # fmt: skip
    moved = fltr("B", "<FLNO>ZH2</FLNO><MAID>{C}</MAID>")
    yield _clause(
        "a codeshare moves to another main", (adft(fltr("A"), shared, fltr("C")),),
        dnld(fltr("A"), moved, fltr("C")),
        {"A": PLAN | {"MAFL": [mafl_b]}, "B": b, "C": PLAN},
        {"A": PLAN, "B": b | {"MAID": "{C}"}, "C": PLAN | {"MAFL": [mafl_b]}},
        "A SHARED MAFL", "B CHANGED MAID → nothing", "C SHARED MAFL",
    )  # fmt: skip
    main_only = fltr("A", "<STND>7</STND>")
    yield _clause(
        "a main that changes with its MAFL is written once", (adft(fltr("A")),),
        dnld(main_only, shared), {"A": PLAN},
        {"A": PLAN | {"STND": "7", "MAFL": [mafl_b]}, "B": b},
        "A CHANGED STND MAFL", "B CREATED * → nothing",
    )  # fmt: skip


def _occurrences() -> Iterator[Cell]:
    told = "<SRVT><SRTC>W</SRTC></SRVT><SRVT><SRTC>W</SRTC></SRVT><VIPF><VPCD>V</VPCD></VIPF>"
    kept: Mapping[str, int] = {"SRVT": 2, "VIPF": 1}
    yield _clause(
        "SRVT and VIPF are kept, each occurrence", (), dnld(fltr("A", told)), {}, {"A": PLAN},
        "A CREATED *", kept=kept,
    )  # fmt: skip
