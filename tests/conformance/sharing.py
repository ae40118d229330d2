"""Codeshares and their mains: MAFL follows MAID, FLNO and state, in the same transaction."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.conformance.cell import DUPLICATE, Cell, Crash, Entry, States, Text
from tests.conformance.parts import PLAN, adft, fdel, flop, fltr
from tests.conformance.singles import GONE, clause

SECTION: Final = "Codeshares"


def entries() -> Iterator[Entry]:
    """Yield each transition once, twice and with a crash."""
    for cell in (*_coming(), *_going(), *_moving(), *_turning(), *_silent()):
        yield cell
        yield replace(cell, column="same message twice", twice=True, end=DUPLICATE)
        yield replace(cell, column="redo after crash", crash=Crash(at="finish"))


def _cell(
    row: str, given: tuple[Text, ...], when: Text, before: States, after: States, *writes: str
) -> Cell:
    return clause(SECTION, row, given, when, before, after, *writes)


def _shares(letter: str, main: str = "A", flno: str | None = None) -> str:
    told = f"<FLNO>{flno or 'ZH' + letter}</FLNO><MAID>{{{main}}}</MAID>"
    return fltr(letter, told)


def _share(letter: str, main: str = "A", flno: str | None = None) -> dict[str, Any]:
    return PLAN | {"FLNO": flno or "ZH" + letter, "MAID": f"{{{main}}}"}


def _mafl(*letters: str, flno: str | None = None) -> dict[str, Any]:
    shown = [{"FLID": f"{{{one}}}", "FLNO": flno or "ZH" + one} for one in letters]
    return PLAN | {"MAFL": shown}


def _coming() -> Iterator[Cell]:
    yield _cell(
        "a codeshare comes after its main", (adft(fltr("A")),), adft(_shares("B")),
        {"A": PLAN}, {"A": _mafl("B"), "B": _share("B")},
        "A SHARED MAFL", "B CREATED * → nothing",
    )  # fmt: skip
    yield _cell(
        "the main comes after its codeshares", (adft(_shares("D"), _shares("B")),),
        adft(fltr("A")), {"B": _share("B"), "D": _share("D")},
        {"A": _mafl("B", "D"), "B": _share("B"), "D": _share("D")}, "A CREATED *",
    )  # fmt: skip
    yield _cell(
        "MAFL is ordered by FLID as a number", (adft(fltr("A"), _shares("D"), _shares("C")),),
        adft(_shares("B")), {"A": _mafl("C", "D"), "C": _share("C"), "D": _share("D")},
        {"A": _mafl("B", "C", "D"), "B": _share("B"), "C": _share("C"), "D": _share("D")},
        "A SHARED MAFL", "B CREATED * → nothing",
    )  # fmt: skip
    yield _cell(
        "a dangling MAID", (), adft(_shares("B")), {}, {"B": _share("B")},
        "B CREATED * → nothing",
    )  # fmt: skip
    yield _cell(
        "MAID equal to FLID is no codeshare", (), adft(_shares("A")), {}, {"A": _share("A")},
        "A CREATED *",
    )  # fmt: skip
    zeros = fltr("B", "<FLNO>ZHB</FLNO><MAID>00{A}</MAID>")
    yield _cell(
        "MAID with leading zeros is the same main", (adft(fltr("A")),), adft(zeros),
        {"A": PLAN}, {"A": _mafl("B"), "B": _share("B")},
        "A SHARED MAFL", "B CREATED * → nothing",
    )  # fmt: skip
    nameless = fltr("B", "<MAID>{A}</MAID>")
    yield _cell(
        "a codeshare without FLNO", (adft(fltr("A")),), adft(nameless), {"A": PLAN},
        {"A": PLAN | {"MAFL": [{"FLID": "{B}"}]}, "B": PLAN | {"MAID": "{A}"}},
        "A SHARED MAFL", "B CREATED * → nothing",
    )  # fmt: skip
    yield _cell(
        "main and codeshare in one ADFT, the main once", (adft(fltr("A")),),
        adft(fltr("A", "<STND>7</STND>"), _shares("B")), {"A": PLAN},
        {"A": _mafl("B") | {"STND": "7"}, "B": _share("B")},
        "A CHANGED STND MAFL", "B CREATED * → nothing",
    )  # fmt: skip


def _going() -> Iterator[Cell]:
    given = (adft(fltr("A"), _shares("B"), _shares("D")),)
    before = {"A": _mafl("B", "D"), "B": _share("B"), "D": _share("D")}
    gone_b = _share("B") | {"STATE": "DELETED"}
    gone_d = _share("D") | {"STATE": "DELETED"}
    yield _cell(
        "FDEL of a codeshare", given, fdel("B"), before,
        {"A": _mafl("D"), "B": gone_b, "D": _share("D")},
        "A SHARED MAFL", "B DELETED → nothing",
    )  # fmt: skip
    yield _cell(
        "FDEL of the last codeshares", given, fdel("D", "B"), before,
        {"A": PLAN, "B": gone_b, "D": gone_d},
        "A SHARED MAFL", "B DELETED → nothing", "D DELETED → nothing",
    )  # fmt: skip
    yield _cell(
        "FDEL of a main leaves its codeshares", given, fdel("A"), before,
        {"A": GONE, "B": _share("B"), "D": _share("D")}, "A DELETED → tombstone",
    )  # fmt: skip
    yield _cell(
        "FDEL of main and codeshare", given, fdel("A", "B"), before,
        {"A": GONE, "B": gone_b, "D": _share("D")}, "A DELETED → tombstone",
        "B DELETED → nothing",
    )  # fmt: skip
    yield _cell(
        "a deleted main returns with its codeshares", (*given, fdel("A")), adft(fltr("A")),
        {"A": GONE, "B": _share("B"), "D": _share("D")}, before, "A RESTORED MAFL",
    )  # fmt: skip
    yield _cell(
        "a deleted codeshare returns", (*given, fdel("B")), adft(fltr("B", sodt=None)),
        {"A": _mafl("D"), "B": gone_b, "D": _share("D")}, before,
        "A SHARED MAFL", "B RESTORED → nothing",
    )  # fmt: skip
    yield _cell(
        "FDEL of a codeshare whose main is deleted", (*given, fdel("A")), fdel("B"),
        {"A": GONE, "B": _share("B"), "D": _share("D")},
        {"A": GONE, "B": gone_b, "D": _share("D")}, "B DELETED → nothing",
    )  # fmt: skip


def _moving() -> Iterator[Cell]:
    given = (adft(fltr("A"), fltr("C"), _shares("B")),)
    before = {"A": _mafl("B"), "C": PLAN, "B": _share("B")}
    yield _cell(
        "MAID moves from one main to another", given, adft(_shares("B", "C")), before,
        {"A": PLAN, "C": _mafl("B"), "B": _share("B", "C")},
        "A SHARED MAFL", "C SHARED MAFL", "B CHANGED MAID → nothing",
    )  # fmt: skip
    yield _cell(
        "FLNO of a codeshare changes", given, adft(_shares("B", flno="ZH9")), before,
        {"A": _mafl("B", flno="ZH9"), "C": PLAN, "B": _share("B", flno="ZH9")},
        "A SHARED MAFL", "B CHANGED FLNO → nothing",
    )  # fmt: skip
    yield _cell(
        "FLNO of a main changes", given, adft(fltr("A", "<FLNO>CA1</FLNO>")), before,
        {"A": _mafl("B") | {"FLNO": "CA1"}, "C": PLAN, "B": _share("B")}, "A CHANGED FLNO",
    )  # fmt: skip
    yield _cell(
        "MAID moves to a main that is not there", given, adft(_shares("B", "D")), before,
        {"A": PLAN, "C": PLAN, "B": _share("B", "D")},
        "A SHARED MAFL", "B CHANGED MAID → nothing",
    )  # fmt: skip


def _turning() -> Iterator[Cell]:
    lone = PLAN | {"FLNO": "ZHB"}
    plain = fltr("B", "<FLNO>ZHB</FLNO>")
    yield _cell(
        "a main turns codeshare", (adft(fltr("A"), plain),), adft(_shares("B")),
        {"A": PLAN, "B": lone}, {"A": _mafl("B"), "B": _share("B")},
        "A SHARED MAFL", "B CHANGED MAID → tombstone",
    )  # fmt: skip
    yield _cell(
        "a codeshare turns main", (adft(fltr("A"), _shares("B")),), adft(fltr("B", "<MAID/>")),
        {"A": _mafl("B"), "B": _share("B")}, {"A": PLAN, "B": lone},
        "A SHARED MAFL", "B CHANGED MAID",
    )  # fmt: skip
    yield _cell(
        "a codeshare turns main by naming itself", (adft(fltr("A"), _shares("B")),),
        adft(_shares("B", "B")), {"A": _mafl("B"), "B": _share("B")},
        {"A": PLAN, "B": _share("B", "B")}, "A SHARED MAFL", "B CHANGED MAID",
    )  # fmt: skip
    yield _cell(
        "a main with codeshares turns codeshare",
        (adft(fltr("A", "<FLNO>ZHA</FLNO>"), fltr("C"), _shares("B")),),
        adft(_shares("A", "C")),
        {"A": _mafl("B") | {"FLNO": "ZHA"}, "C": PLAN, "B": _share("B")},
        {"A": _share("A", "C"), "C": _mafl("A"), "B": _share("B")},
        "A CHANGED MAID → tombstone", "C SHARED MAFL",
    )  # fmt: skip


def _silent() -> Iterator[Cell]:
    given = (adft(fltr("A"), _shares("B")),)
    before = {"A": _mafl("B"), "B": _share("B")}
    yield _cell(
        "a FLOP of a codeshare is silent", given, flop("STND", "<STND>7</STND>", "B"), before,
        {"A": _mafl("B"), "B": _share("B") | {"STND": "7"}}, "B CHANGED STND → nothing",
    )  # fmt: skip
    yield _cell(
        "a FLOP of a main carries MAFL in its state", given, flop("STND", "<STND>7</STND>"),
        before, {"A": _mafl("B") | {"STND": "7"}, "B": _share("B")}, "A CHANGED STND",
    )  # fmt: skip
