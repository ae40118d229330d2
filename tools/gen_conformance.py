"""Write docs/conformance.md: every cell of the conformance matrix, as the tests run it."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.conformance.cell import Cell, NotApplicable, State, States
from tests.conformance.matrix import AnyEntry, entries, runnable, sections
from tests.conformance.reference_cell import Records, RefCell
from tools.page import notice, publish, table

PAGE = "docs/conformance.md"
_PLANNED = {"SODT": "@1200"}


def pages() -> dict[str, str]:
    """Return the page."""
    return {PAGE: _intro() + "".join(_section(name) for name in sections())}


def _intro() -> str:
    every, cells = entries(), runnable()
    counts = [
        [name, str(len(rows)), str(len(columns)), *_counted(name)]
        for name, (rows, columns) in sections().items()
    ]
    total = ["**all**", "", "", str(len(cells)), str(len(every) - len(cells))]
    return (
        "# Conformance matrix\n\n" + notice("gen_conformance") + "Each cell is a case that"
        " `make conformance` and `make test` run on the real processor with real servers: the"
        " messages given before, the message under test, the flights before and after, the"
        " terminal state with its reason, and everything that was written and sent. The cells"
        " are data in `tests/conformance`.\n\n"
        "A to D are the FLIDs of a cell, `{DAY}` and `{NEXT}` two days of its own. In a state"
        " `@0830` is that time of `{DAY}`, `+0830` of `{NEXT}`; `SODT=@1200` is left out. What"
        " follows the arrow under *writes* is what both topics and Redis get under the flight's"
        " key: a codeshare sends nothing (R41), a tombstone is a null value (R61). A cell of"
        " *same message twice* ends as shown the second time and writes only the first; one of"
        " *redo after crash* is killed once between its commit and Redis.\n\n"
        "Of reference data, A and B are records that stand before, N is new; *writes* names the"
        " records that say that they come from the message. Another category holds a record,"
        " which no cell touches.\n\n"
        + table(["section", "rows", "columns", "cells", "not applicable"], [*counts, total])
    )


def _counted(section: str) -> list[str]:
    own = [one for one in entries() if one.section == section]
    cells = [one for one in own if not isinstance(one, NotApplicable)]
    return [str(len(cells)), str(len(own) - len(cells))]


def _section(name: str) -> str:
    rows, columns = sections()[name]
    own = {(one.row, one.column): one for one in entries() if one.section == name}
    text = f"\n## {name}\n\n"
    if len(columns) > 1:
        marks = ([row, *(_mark(own[row, column]) for column in columns)] for row in rows)
        text += table(["", *columns], marks) + "\n"
    cases = ([_place(own[at], columns), *_case(own[at])] for at in own)
    return text + table(["cell", "given, when", "before → after", "ends", "writes"], cases)


def _mark(entry: AnyEntry) -> str:
    return "n/a" if isinstance(entry, NotApplicable) else "●"


def _place(entry: AnyEntry, columns: tuple[str, ...] | Iterable[str]) -> str:
    return entry.row if len(tuple(columns)) == 1 else f"{entry.row} · {entry.column}"


def _case(entry: AnyEntry) -> Iterator[str]:
    match entry:
        case NotApplicable():
            yield from (f"not applicable: {entry.why}", "", "", "")
        case RefCell():
            yield from _reference(entry)
        case Cell():
            yield from _flights(entry)


def _reference(cell: RefCell) -> Iterator[str]:
    given = [f"{text.styp} {_code(str(text))}" for text in cell.given]
    wears = [f"*{_settings({'reference': cell.settings})}*"] if cell.settings else []
    stands = [f"*a request stands: {_asked(cell.asked)}*"] if cell.asked is not None else []
    yield "<br>".join(
        [*wears, *given, *stands, f"**{cell.when.styp}** {_code(str(cell.when))}"]
    )
    before, after = _records(cell.before), _records(cell.after)
    yield "unchanged: " + before if before == after else f"{before} → {after}"
    yield str(cell.end)
    gone = sorted(cell.before.keys() - cell.after.keys())
    counted = [f"counted as unmapped: {' '.join(cell.unmapped)}"] if cell.unmapped else []
    removes = [f"removes {' '.join(gone)}"] if gone else []
    writes = [" ".join(cell.wrote)] if cell.wrote else []
    asks = [f"request: {cell.request}"] if cell.request else []
    yield "<br>".join([*writes, *removes, *counted, *asks]) or "nothing"


def _asked(columns: Mapping[str, Any]) -> str:
    told = {"state": "SENT"} | dict(columns)
    return ", ".join(
        f"{name} {value.total_seconds():.0f} s"
        if isinstance(value, timedelta)
        else f"{name} {value}"
        for name, value in told.items()
    )


def _records(records: Records) -> str:
    shown = (
        " ".join([key, *(f"{tag}={_json(part)}" for tag, part in payload.items())])
        for key, payload in records.items()
    )
    return "; ".join(shown) or "none"


def _json(part: Any) -> str:
    return part if isinstance(part, str) else f"`{json.dumps(part, ensure_ascii=False)}`"


def _flights(entry: Cell) -> Iterator[str]:
    given = [f"{text.styp} {_code(str(text))}" for text in entry.given]
    crash = [f"*killed {entry.crash}*"] if entry.crash is not None else []
    wears = [f"*{_settings(entry.settings)}*"] if entry.settings else []
    floors = [f"*floor of {f}: version {v}, life {n}*" for f, (v, n) in entry.floors.items()]
    when = f"**{entry.when.styp}** {_code(str(entry.when))}"
    asks = [f"*asked for: {', '.join(entry.asked)}*"] if entry.asked else []
    yield "<br>".join([*wears, *floors, *given, *asks, when, *crash])
    before, after = _states(entry.before), _states(entry.after)
    yield "unchanged: " + before if before == after else f"{before} → {after}"
    yield str(entry.end)
    yield "<br>".join([*map(str, entry.wrote), *_traces(entry)]) or "nothing"


def _traces(cell: Cell) -> Iterator[str]:
    if cell.kept and any(cell.kept.values()):
        yield ", ".join(f"{count} rows of {tag}" for tag, count in cell.kept.items())
    if cell.unmapped:
        yield f"counted as unmapped: {' '.join(cell.unmapped)}"
    if cell.log is not None:
        figures = ("created", "restored", "changed", "unchanged", "deleted")
        yield "logged: " + ", ".join(f"{cell.log[name]} {name}" for name in figures)


def _settings(given: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(
        f"msgx.{group}.{name.replace('_', '-')}={_value(value)}"
        for group, values in given.items()
        for name, value in values.items()
    )


def _value(value: Any) -> str:
    return " ".join(sorted(value)) if isinstance(value, tuple | frozenset) else str(value)


def _states(states: States) -> str:
    found = {letter: state for letter, state in states.items() if state is not None}
    if not found:
        return "none"
    return "; ".join(f"{letter} {_state(state)}" for letter, state in found.items())


def _state(state: State) -> str:
    own = {tag: part for tag, part in state.items() if _PLANNED.get(tag) != part}
    if "SODT" not in state:
        own = {"SODT": None, **own}
    return " ".join(f"{tag}={_form(part)}" for tag, part in own.items()) or "as planned"


def _form(part: Any) -> str:
    match part:
        case None:
            return "none"
        case Mapping():
            return (
                "(" + " ".join(f"{name}={_form(value)}" for name, value in part.items()) + ")"
            )
        case list() | tuple():
            return (
                "[" + ", ".join(map(_form, part)) + "]" if len(part) < 9 else f"{len(part)} ×"
            )
        case _:
            return str(part)


def _code(text: str) -> str:
    return text if "`" in text else f"`{text}`"


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
