"""The simulator's oracle, which shares no code with the gateway, agrees with every cell that it
can judge: so a cell cannot be wrong in the same way as the code it was written beside."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.aodb.oracle import Oracle
from tests.conformance.bench import text_of
from tests.conformance.cell import Cell, Place
from tests.conformance.matrix import cells, reference_cells
from tests.conformance.reference_cell import RefCell
from tests.conformance.reference_checking import text_of as message_of

# Where no rule says which, and the two chose differently; or the gateway is stricter.
UNRULED = frozenset(
    {
        "ROUT without a movement keeps the first four",
        *(f"{tag} sequence 00" for tag in ("CKDT", "CLDT", "CHDT", "GTDT", "PSDT")),
        "MAXP of 19 digits",
    }
)
STRICTER = ("stands twice", "is there twice", "stands 2 times", "holds elements", "0175")


def _is_judged(cell: Cell) -> bool:
    if cell.row in UNRULED:
        return False
    if any(word in says for says in cell.end.says for word in STRICTER):
        return "FLID" in " ".join(cell.end.says)
    # Groups that are off by default, and refusals by a parameter, are none of its business.
    return not {*cell.settings} - {"schd"} and "max_removal_ratio" not in cell.settings.get(
        "schd", {}
    )


JUDGED = [(number, cell) for number, cell in enumerate(cells().values()) if _is_judged(cell)]
_BOOKKEEPING = frozenset({"FLID", "OPERATION_DAY"})


@pytest.mark.covers("US-04", "US-05", "US-06", "US-07")
@pytest.mark.parametrize(("number", "cell"), JUDGED, ids=[cell.name for _, cell in JUDGED])
def test_the_oracle_agrees(number: int, cell: Cell) -> None:
    place, oracle = Place(number), Oracle()
    for index, given in enumerate(cell.given):
        oracle.judge(index, text_of(given, place))
    assert _states(oracle, place) == _wanted(cell.before, place)

    if cell.asked:
        oracle.ask_plan(*(instant[:10] for instant in place.asked(cell.asked)))
    text = text_of(cell.when, place)
    verdict = oracle.judge(100, text)
    if cell.twice:
        assert verdict.state == "SUCCEEDED"
        verdict = oracle.judge(101, text)

    assert verdict.state == cell.end.state
    if cell.end.error_class is not None:
        assert verdict.reason_prefix == cell.end.error_class
    elif cell.end.reason is not None and verdict.reason_prefix:
        assert place.fill(cell.end.reason).startswith(verdict.reason_prefix)
    assert _states(oracle, place) == _wanted(cell.after, place)


# Of a request the oracle knows its kind, and no state.
REFERENCE = [
    cell for cell in reference_cells().values() if not cell.settings and not cell.asked
]


@pytest.mark.covers("US-13")
@pytest.mark.parametrize("cell", REFERENCE, ids=[cell.name for cell in REFERENCE])
def test_the_oracle_agrees_about_reference_data(cell: RefCell) -> None:
    oracle = Oracle()
    for index, given in enumerate(cell.given):
        oracle.judge(index, message_of(given))
    assert _records(oracle) == cell.before

    if cell.asked is not None:
        oracle.ask_reference(cell.category)
    text = message_of(cell.when)
    verdict = oracle.judge(100, text)
    if cell.twice:
        verdict = oracle.judge(101, text)

    assert verdict.state == cell.end.state
    wanted = cell.end.error_class or cell.end.reason
    assert (verdict.reason_prefix or "") == (wanted or "").replace("<id>", "")
    assert _records(oracle) == cell.after


def _records(oracle: Oracle) -> dict[str, Any]:
    return {key: payload for (_, key), payload in oracle.reference().items()}


def _states(oracle: Oracle, place: Place) -> dict[str, Any]:
    letters = {flid: letter for letter, flid in place.flids.items()}
    return {letters[flid]: _bare(flight) for flid, flight in oracle.flights().items()}


def _bare(flight: Mapping[str, Any]) -> dict[str, Any]:
    bare = {name: part for name, part in flight.items() if name not in _BOOKKEEPING}
    if bare["STATE"] == "ACTIVE":
        del bare["STATE"]
    return bare


def _wanted(states: Mapping[str, Any], place: Place) -> dict[str, Any]:
    return {letter: place.state(state) for letter, state in states.items() if state is not None}
