"""SCHD-RESP with an open request for its days: it does what a day plan does, and closes it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tests.conformance import snapshots
from tests.conformance.cell import Cell, Entry, NotApplicable

SECTION: Final = "SCHD-RESP asked for"
_COLUMNS: Final = ("first time", "same message twice", "crash in a batch")
_ALWAYS_A_DAY: Final = "an answer speaks for the days that were asked for (R17)"
_DAYS: Final = re.compile(r"<SODT>\{(DAY|NEXT)\}")


def entries() -> Iterator[Entry]:
    """Yield the clauses of a day plan as answers to a request for the days that they name."""
    for entry in snapshots.entries():
        if entry.column not in _COLUMNS:
            continue
        if isinstance(entry, NotApplicable):
            yield replace(entry, section=SECTION)
        elif not (days := tuple(sorted({*_DAYS.findall(entry.when.body)}))):
            place = {"section": SECTION, "row": entry.row, "column": entry.column}
            yield NotApplicable(**place, why=_ALWAYS_A_DAY)
        else:
            yield _answer(entry, days)


def _answer(plan: Cell, days: tuple[str, ...]) -> Cell:
    return replace(
        plan,
        section=SECTION,
        when=replace(plan.when, styp="RESP"),
        asked=days,
        log=None if plan.log is None else {**plan.log, "kind": "RESP"},
        again_log=None,
    )
