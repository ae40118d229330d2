"""The journal is the event source: folding what was written gives the state back."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msgx.domain.fields import COLLECTIONS, MARKS, SCALARS, Kind, PartField
from msgx.domain.flight import Flight, Sharer, from_journal, journal_form
from msgx.domain.flop import RULES, Side
from msgx.domain.message import Fdel, Record
from services.processor.decide.flop import fdel
from services.processor.decide.schedule import plan
from services.processor.decide.world import Commit, Reject, Skip, World, Write
from services.processor.decide.writes import mafl
from tests.support.flights import (
    NO_CUT,
    NOON,
    NOW,
    ZONE,
    a_world,
    decided_adft,
    decided_flop,
)

FLIDS = ("1", "2", "3", "30")
_TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=6
) | st.sampled_from(["007", "备注𠜎", "null", "'; --"])
_TIMES = st.integers(0, 1400).map(lambda minutes: NOON + timedelta(minutes=minutes - 700))
_VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.TEXT: _TEXT,
    Kind.TIME: _TIMES,
    Kind.COUNT: st.integers(0, 10**15),
    Kind.KEY: st.sampled_from(FLIDS),
    Kind.MOVEMENT: st.sampled_from("AD"),
    Kind.NATURE: st.sampled_from("DIM"),
    Kind.DURATION: st.just("0130"),
}


def _element(parts: tuple[PartField, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={part.name: _VALUES[part.kind] for part in parts})


_TOLD: dict[str, st.SearchStrategy[Any]] = {
    **{scalar.tag: st.none() | _VALUES[scalar.kind] for scalar in SCALARS},
    **{mark.tag: st.none() | _element(mark.parts).filter(bool) for mark in MARKS},
    **{one.tag: st.lists(_element(one.parts), max_size=3).map(tuple) for one in COLLECTIONS},
    "SODT": st.none() | _TIMES,
}


def _records(tags: list[str], *, most: int = 3) -> st.SearchStrategy[list[Record]]:
    values = st.fixed_dictionaries({}, optional={tag: _TOLD[tag] for tag in tags})
    record = st.builds(Record, flid=st.sampled_from(FLIDS), told=values)
    return st.lists(record, min_size=1, max_size=most, unique_by=lambda one: one.flid)


_FLOPS = [rule for rule in RULES if rule.side is not Side.DELETE]
_SOME = ["FLNO", "SODT", "MAID", "MVIN", "STND", "GTDT", "ROUT", "FDIV", "MAXP", "DELY"]
_MESSAGES = st.one_of(
    st.tuples(st.just("ADFT"), _records(list(_TOLD))),
    st.tuples(st.just("ADFT"), _records(_SOME)),
    st.tuples(st.just("SCHD"), _records(_SOME)),
    st.tuples(st.just("FDEL"), _records([])),
    st.sampled_from(_FLOPS).flatmap(
        lambda rule: st.tuples(st.just(rule.styp), _records(list(rule.tags)))
    ),
)


def _written(world: World, kind: str, records: list[Record]) -> tuple[Write, ...]:
    match kind:
        case "ADFT":
            decision = decided_adft(world, *records)
        case "FDEL":
            decision = fdel(Fdel(tuple(one.flid for one in records)), world, now=NOW)
        case "SCHD":
            return plan(records, FLIDS, world, zone=ZONE, day_cut=NO_CUT, now=NOW)
        case _:
            decision = decided_flop(world, kind, *records)
    match decision:
        case Commit(writes=writes):
            return writes
        case Skip() | Reject():
            return ()


def _fold(flid: str, journal: list[dict[str, list[Any]]]) -> dict[str, Any]:
    """Fold entries as they stand in the table: each `before` must be what is there.

    MAFL is derived: a flight that leaves the view loses it without a word.
    """
    state: dict[str, Any] = {}
    for changes in journal:
        for name, (before, after) in changes.items():
            empty: Any = [] if name == "MAFL" else None
            assert state.get(name, empty) == before, name
            state[name] = after
        if state["STATE"] != "ACTIVE" or state.get("MAID") not in (None, flid):
            state.pop("MAFL", None)
    return state


@pytest.mark.covers("R12", "INV-13", "R40")
@settings(max_examples=80)
@given(st.lists(_MESSAGES, max_size=8))
def test_the_fold_of_the_journal_is_the_state_after_any_messages(
    messages: list[tuple[str, list[Record]]],
) -> None:
    flights: dict[str, Flight] = {}
    journals: dict[str, list[dict[str, list[Any]]]] = {}
    for kind, records in messages:
        for write in _written(a_world(*flights.values()), kind, records):
            flid = write.flight.flid
            before = flights.get(flid)
            assert write.flight.state_version == (before.state_version if before else 0) + 1
            flights[flid] = write.flight
            journals.setdefault(flid, []).append(json.loads(json.dumps(write.changes)))

    world = a_world(*flights.values())
    assert set(journals) == set(flights)
    for flid, flight in flights.items():
        folded = _fold(flid, journals[flid])
        shown = [Sharer(one["FLID"], one["FLNO"]) for one in folded.pop("MAFL", [])]
        day = folded.pop("OPERATION_DAY", None)
        assert folded.pop("STATE") == flight.state.value
        assert (None if day is None else date.fromisoformat(day)) == flight.operation_day
        values = {tag: from_journal(tag, form) for tag, form in folded.items()}
        assert {tag: v for tag, v in values.items() if v is not None} == flight.values
        if flight.shown:
            assert tuple(shown) == mafl(world, flight)


@pytest.mark.covers("R12")
@given(st.sampled_from(sorted(_TOLD)).flatmap(lambda tag: st.tuples(st.just(tag), _TOLD[tag])))
def test_every_value_comes_back_from_its_journal_form(told: tuple[str, Any]) -> None:
    tag, value = told

    form = json.loads(json.dumps(journal_form(value)))

    assert from_journal(tag, form) == value
