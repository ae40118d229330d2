"""Everything that a cell about reference data says, asserted: refdata beside the processor."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from tests.conformance.bench import Bench
from tests.conformance.cell import Text
from tests.conformance.reference_cell import RefCell
from tests.support.asked import asked, request
from tests.support.messages import message
from tests.support.refdata import Desk

_ELSEWHERE: Final = {"COUL": "ARPT"}
"""Where the record stands that no cell may touch: in COUL, or beside cells of COUL."""

_BYSTANDER: Final = """
    INSERT INTO ref_master VALUES (%s, 'A', '{"STANDS": "BY"}', 0, 'elsewhere', msgx_now())
"""
_OTHERS: Final = "SELECT rtype, rkey, payload, batch FROM ref_master WHERE rtype <> %s"
_TRACES: Final = """
    SELECT (SELECT count(*) FROM flight_journal WHERE msg_id = %(id)s)
         + (SELECT count(*) FROM msg_event WHERE msg_id = %(id)s)
"""


class Office:
    """Refdata beside the bench's processor; parameters change between cells."""

    def __init__(self, bench: Bench, resources: ExitStack) -> None:
        self.bench = bench
        self.desk = Desk(bench, resources)
        self._given: Mapping[str, Any] = {}

    def wear(self, given: Mapping[str, Any]) -> None:
        """Take these parameters of `msgx.reference`."""
        if given != self._given:
            self._given = given
            self.desk.restart(reference=dict(given))

    def run(self, text: Text) -> int:
        """Take one message to its end; return its id."""
        (msg_id,) = self.desk.run(text_of(text))
        return msg_id


@contextmanager
def office(bench: Bench) -> Iterator[Office]:
    """Yield refdata beside a bench."""
    with ExitStack() as resources:
        yield Office(bench, resources)


def text_of(text: Text) -> str:
    """Return a message with an identity of its own."""
    return message(text.type, text.styp, text.body)


def check(office: Office, cell: RefCell) -> None:
    """Run a cell and assert everything that it says."""
    bench, desk = office.bench, office.desk
    bench.wear({})
    office.wear(cell.settings)
    elsewhere = _ELSEWHERE.get(cell.category, "COUL")
    bench.pg.execute("DELETE FROM ref_master")
    bench.pg.execute("DELETE FROM req_track")
    bench.pg.execute(_BYSTANDER, (elsewhere,))
    for given in cell.given:
        before = office.run(given)
        assert bench.end(before)[0] == "SUCCEEDED", bench.end(before)
    assert desk.records(cell.category) == cell.before
    stood = desk.sources(cell.category)

    requests = [] if cell.asked is None else [asked(bench.pg, styp=cell.category, **cell.asked)]

    text = text_of(cell.when)
    (first,) = desk.run(text)
    checked = first
    if cell.twice:
        (checked,) = desk.run(text)

    _check_end(bench, cell, checked, first=first)
    assert [request(bench.pg, one) for one in requests] == [cell.request] * len(requests)
    assert desk.records(cell.category) == cell.after
    sources = desk.sources(cell.category)
    assert {key for key, (source, _, _) in sources.items() if source == first} == set(
        cell.wrote
    )
    assert {key: at for key, at in sources.items() if key not in cell.wrote} == {
        key: stood[key] for key in cell.after if key not in cell.wrote
    }
    assert bench.rows(_OTHERS, cell.category) == [
        {"rtype": elsewhere, "rkey": "A", "payload": {"STANDS": "BY"}, "batch": "elsewhere"}
    ]
    for msg_id in (first, checked):
        found = bench.pg.execute(_TRACES, {"id": msg_id}).fetchone()
        assert found == (0,)
    for tag in cell.unmapped:
        statement = "SELECT count(*) FROM unmapped_field WHERE tag = %s AND last_msg_id = %s"
        assert bench.one(statement, tag, first) == 1


def _check_end(bench: Bench, cell: RefCell, msg_id: int, *, first: int) -> None:
    state, error_class, reason = bench.end(msg_id)
    assert (state, error_class) == (cell.end.state, cell.end.error_class), reason
    if cell.end.error_class is None:
        assert reason == (cell.end.reason and cell.end.reason.replace("<id>", str(first)))
    else:
        assert reason is not None
        assert all(word in reason for word in cell.end.says), reason
    assert bench.row(msg_id)["backfill_next_at"] is not None
    dead = bench.rows("SELECT FROM dead_letter WHERE msg_id = %s", msg_id)
    assert bool(dead) == (state == "DEAD")
