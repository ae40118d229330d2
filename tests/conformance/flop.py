"""FLOP: every STYP in every situation, and what single STYPs do beyond that."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.conformance.cell import (
    DUPLICATE,
    NO_CHANGE,
    SUCCEEDED,
    Cell,
    Crash,
    End,
    Entry,
    NotApplicable,
    Wrote,
    refused,
    skipped,
    wrote,
)
from tests.conformance.flop_line import Broken, Line, Said
from tests.conformance.flop_table import EXTENDED, LEGACY, LINES, SIS
from tests.conformance.parts import PLAN, adft, fdel, flop, fltr

SECTION: Final = "FLOP"
OFF: Final = "FLOP off by default"
ROWS: Final = (*SIS, *LEGACY, *EXTENDED)
ALL_GROUPS: Final = {"flop": {"groups": ("sis", "legacy", "extended")}}
_DERIVED: Final = "BOARDING_STATUS"
_LONG_FLID: Final = "12345678901234567890"


def entries() -> Iterator[Entry]:
    """Yield the section, row by row, and the extended rows as they are by default."""
    lines = {line.styp: line for line in LINES}
    for styp in ROWS:
        yield from _fdel() if styp == "FDEL" else _row(lines[styp])
    for styp in EXTENDED:
        line = lines[styp]
        state = {**PLAN, **line.old.state}
        yield Cell(
            section=OFF,
            row=styp,
            column="value",
            given=(adft(fltr("A", line.old.xml)),),
            when=flop(styp, line.new.xml),
            end=skipped("unsupported"),
            before={"A": state},
            after={"A": state},
        )


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Wrote, ...]:
    """Return the one write of flight A that leads from `before` to `after`."""
    tags = {tag for tag in {*before, *after} - {_DERIVED} if before.get(tag) != after.get(tag)}
    return (wrote(f"A CHANGED {' '.join(sorted(tags))}"),) if tags else ()


def _row(line: Line) -> Iterator[Entry]:
    old = {**PLAN, **line.old.state}
    yield _cell(line, "value", line.new)
    yield _cell(line, "empty or clear", line.empty)
    yield _cell(line, "absent parts", line.part)
    yield _cell(line, "same message twice", line.new, end=DUPLICATE, twice=True)
    yield _cell(line, "redo after crash", line.new, crash=Crash(at="finish"))
    yield Cell(
        section=SECTION,
        row=line.styp,
        column="unknown flight",
        when=flop(line.styp, line.new.xml),
        end=skipped("no-flight:{A}"),
        before={},
        after={},
        settings=_settings(line.styp),
    )
    deleted = old | {"STATE": "DELETED"}
    yield Cell(
        section=SECTION,
        row=line.styp,
        column="deleted flight",
        given=(adft(fltr("A", line.old.xml)), fdel("A")),
        when=flop(line.styp, line.new.xml),
        end=skipped("flight-deleted:{A}"),
        before={"A": deleted},
        after={"A": deleted},
        settings=_settings(line.styp),
    )
    yield _cell(line, "limit exceeded", line.limit)
    if isinstance(line.bad, str):
        yield NotApplicable(section=SECTION, row=line.styp, column="bad value", why=line.bad)
    else:
        yield _cell(line, "bad value", line.bad)


def _cell(
    line: Line,
    column: str,
    said: Said | Broken,
    *,
    end: End = SUCCEEDED,
    twice: bool = False,
    crash: Crash | None = None,
) -> Cell:
    old = {**PLAN, **line.old.state}
    broken = isinstance(said, Broken)
    after = old if isinstance(said, Broken) else {**PLAN, **said.state}
    return Cell(
        section=SECTION,
        row=line.styp,
        column=column,
        given=(adft(fltr("A", line.old.xml)),),
        when=flop(line.styp, said.xml, shown=said.shown if isinstance(said, Broken) else None),
        end=refused(*said.says) if isinstance(said, Broken) else end,
        before={"A": old},
        after={"A": after},
        wrote=() if broken else changed(old, after),
        twice=twice,
        crash=crash,
        settings=_settings(line.styp),
    )


def _settings(styp: str) -> Mapping[str, Mapping[str, Any]]:
    return ALL_GROUPS if styp in EXTENDED else {}


def _fdel() -> Iterator[Entry]:
    old = PLAN | {"STND": "101"}
    gone = old | {"STATE": "DELETED"}
    given = (adft(fltr("A", "<STND>101</STND>")),)
    deletion = (wrote("A DELETED → tombstone"),)

    def cell(column: str, **rest: Any) -> Cell:
        case: dict[str, Any] = {
            "given": given,
            "when": fdel("A"),
            "before": {"A": old},
            "after": {"A": gone},
            "wrote": deletion,
        }
        return Cell(section=SECTION, row="FDEL", column=column, **case | rest)

    why = "always empty; what empties the flight is the message itself"
    yield cell("value", when=flop("FDEL", "<FDEL>any text</FDEL>"))
    yield cell("empty or clear")
    yield cell(
        "absent parts",
        when=flop("FDEL", "<OTHR/>"),
        end=refused("nothing that the subtype names", "FDEL"),
        after={"A": old},
        wrote=(),
    )
    yield cell("same message twice", end=DUPLICATE, twice=True)
    yield cell("redo after crash", crash=Crash(at="finish"))
    yield cell("unknown flight", given=(), before={}, after={}, wrote=(), end=NO_CHANGE)
    yield cell(
        "deleted flight", given=(*given, fdel("A")), before={"A": gone}, wrote=(), end=NO_CHANGE
    )
    yield NotApplicable(section=SECTION, row="FDEL", column="limit exceeded", why=why)
    yield cell(
        "bad value",
        when=flop("FDEL", f"<FDEL/></FLOP><FLOP><FLID>{_LONG_FLID}</FLID><FDEL/>"),
        end=refused("FLID", _LONG_FLID),
        after={"A": old},
        wrote=(),
    )
