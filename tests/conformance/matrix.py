"""The whole matrix: every section, each of its rows and columns filled."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

from tests.conformance import (
    answers,
    bad_values,
    flop,
    flop_rules,
    reference,
    reference_rules,
    refusals,
    sharing,
    singles,
    snapshots,
)
from tests.conformance.cell import Cell, Entry
from tests.conformance.reference_cell import RefCell

AnyEntry: TypeAlias = Entry | RefCell


@cache
def entries() -> tuple[AnyEntry, ...]:
    """Return every cell, and what does not apply, in the order of the page."""
    parts = (flop, flop_rules, bad_values, snapshots, answers, refusals, singles, sharing)
    flights = tuple(entry for part in parts for entry in part.entries())
    return (*flights, *reference.entries(), *reference_rules.entries())


@cache
def cells() -> Mapping[str, Cell]:
    """Return the cells about flights, by name."""
    return {one.name: one for one in entries() if isinstance(one, Cell)}


@cache
def reference_cells() -> Mapping[str, RefCell]:
    """Return the cells about reference data, by name."""
    return {one.name: one for one in entries() if isinstance(one, RefCell)}


def runnable() -> frozenset[str]:
    """Return the names of all cells that are run."""
    return frozenset({*cells(), *reference_cells()})


def sections() -> Mapping[str, tuple[Sequence[str], Sequence[str]]]:
    """Return rows and columns of each section, in order of first appearance."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in entries():
        rows, columns = found.setdefault(one.section, ({}, {}))
        rows[one.row] = columns[one.column] = None
    return {name: (tuple(rows), tuple(columns)) for name, (rows, columns) in found.items()}


def missing() -> list[str]:
    """Return the places of the matrix that are neither a cell nor explained."""
    filled = {(one.section, one.row, one.column) for one in entries()}
    return [
        f"{section} · {row} · {column}"
        for section, (rows, columns) in sections().items()
        for row in rows
        for column in columns
        if (section, row, column) not in filled
    ]
