"""Every cell of the conformance matrix on the real processor (US-03, US-04, US-05)."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from msgx.domain.flop import RULE
from msgx.domain.refdata import FORM, Action, Category
from msgx.projection.read import Reader
from services.processor.verify import verify
from tests.conformance.bench import Bench
from tests.conformance.cell import Cell, NotApplicable
from tests.conformance.checking import check
from tests.conformance.flop import ROWS
from tests.conformance.flop_table import EXTENDED, LEGACY, SIS
from tests.conformance.matrix import cells, entries, missing, reference_cells, sections
from tests.conformance.reference_checking import Office
from tests.conformance.reference_checking import check as check_reference
from tests.conformance.reference_checking import office as opened
from tests.conformance.reference_table import ACTIONS, CATEGORIES
from tests.support.processor import settings

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@pytest.fixture(scope="module")
def office(bench: Bench) -> Iterator[Office]:
    """Refdata beside the processor."""
    with opened(bench) as one:
        yield one


NUMBERED = list(enumerate(cells().values()))


def test_every_subtype_of_the_rule_table_has_its_row() -> None:
    assert set(ROWS) == set(RULE)
    assert {tag: rule.group.value for tag, rule in RULE.items()} == (
        dict.fromkeys(SIS, "sis")
        | dict.fromkeys(LEGACY, "legacy")
        | dict.fromkeys(EXTENDED, "extended")
    )


def test_every_category_and_ignored_field_of_the_registry_has_its_cells() -> None:
    assert set(CATEGORIES) == set(FORM)
    for name, kind in CATEGORIES.items():
        form = FORM[Category(name)]
        assert (tuple(kind.key.split()), frozenset(kind.ignored.split())) == (
            form.key, form.ignored,
        )  # fmt: skip
    assert set(ACTIONS) == set(Action)
    assert len(sections()["Reference data"][0]) == 70


def test_no_cell_is_empty_and_none_is_there_twice() -> None:
    assert missing() == []
    assert len({(one.section, one.row, one.column) for one in entries()}) == len(entries())
    assert all(one.why for one in entries() if isinstance(one, NotApplicable))


@pytest.mark.covers("US-03", "US-04", "US-05", "US-06", "US-07", "C-5", "C-6", "INV-12")
@pytest.mark.covers("INV-13", "INV-14b", "INV-15b", "INV-19", "INV-20b", "INV-21", "INV-22")
@pytest.mark.covers("INV-29", "INV-30", "INV-31", "G-FLOP-SEMANTICS", "G-FLOP-IDEMPOTENT")
@pytest.mark.covers("G-FLOP-UNMAPPED", "G-MAFL", "G-SCHD-SNAPSHOT", "G-RESP-GUARD")
@pytest.mark.covers("G-SRVT-VIPF", "B85", "B99", "B101", "B102", "B113", "R03", "R12", "R17")
@pytest.mark.covers("R18", "R19", "R20", "R21", "R22", "R25", "R31", "R40", "R41", "R45", "R47")
@pytest.mark.covers("R48", "R51", "R58", "R60", "R61")
@pytest.mark.parametrize(("number", "cell"), NUMBERED, ids=[c.name for _, c in NUMBERED])
def test_cell(bench: Bench, number: int, cell: Cell) -> None:
    check(bench, cell, number)


@pytest.mark.covers("US-13", "INV-19", "INV-20b", "INV-26", "INV-27", "INV-30")
@pytest.mark.covers("R16", "R23", "R24", "R48", "R51", "R54", "R58", "R62")
@pytest.mark.parametrize("name", reference_cells())
def test_reference_cell(office: Office, name: str) -> None:
    check_reference(office, reference_cells()[name])


def test_all_cells_together_agree(bench: Bench) -> None:
    with closing(Reader(settings(bench.places).redis, connections=1)) as reader:
        zone = bench.worker.airport.zone
        findings = verify(bench.pg, reader, zone, event_retention=timedelta(days=7))

    assert findings.differences == []
