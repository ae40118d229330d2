"""Every cell of the conformance matrix on the real processor (US-03, US-04, US-05)."""

from contextlib import closing
from datetime import timedelta

import pytest

from msgx.projection.read import Reader
from services.processor.verify import verify
from tests.conformance.bench import Bench, check
from tests.conformance.cell import Cell, NotApplicable
from tests.conformance.matrix import cells, entries, missing
from tests.support.processor import settings

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

NUMBERED = list(enumerate(cells().values()))


def test_no_cell_is_empty_and_none_is_there_twice() -> None:
    assert missing() == []
    assert len({(one.section, one.row, one.column) for one in entries()}) == len(entries())
    assert all(one.why for one in entries() if isinstance(one, NotApplicable))


@pytest.mark.parametrize(("number", "cell"), NUMBERED, ids=[c.name for _, c in NUMBERED])
def test_cell(bench: Bench, number: int, cell: Cell) -> None:
    check(bench, cell, number)


def test_all_cells_together_agree(bench: Bench) -> None:
    with closing(Reader(settings(bench.places).redis, connections=1)) as reader:
        zone = bench.worker.airport.zone
        findings = verify(bench.pg, reader, zone, event_retention=timedelta(days=7))

    assert findings.differences == []
