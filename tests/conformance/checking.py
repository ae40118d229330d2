"""Everything that a cell says, asserted: end, states, journal, events, Redis, traces."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgx.domain.flight import journal_form, render
from services.processor.decide.writes import mafl
from services.processor.examine import read_world
from tests.conformance.bench import Bench, text_of
from tests.conformance.cell import Cell, Place, Wrote
from tests.support.asked import asked, request

_BOOKKEEPING: Final = frozenset({"FLID", "STATE_VERSION", "UPDATED_AT", "OPERATION_DAY"})
_OWN_CHANGES: Final = frozenset({"STATE", "OPERATION_DAY"})
_LOG: Final = (
    "kind", "scope_begin", "scope_end", "declared", "parsed", "created", "restored", "changed",
    "unchanged", "deleted",
)  # fmt: skip


def check(bench: Bench, cell: Cell, number: int) -> None:
    """Run a cell and assert everything that it says."""
    place = Place(number)
    bench.wear(cell.settings)
    for letter, (version, life) in cell.floors.items():
        bench.pg.execute(
            "INSERT INTO flight_version_floor VALUES (%s, %s, %s)",
            (place.flids[letter], version, life),
        )
    for given in cell.given:
        (before,) = bench.run(text_of(given, place))
        assert bench.end(before)[0] == "SUCCEEDED", bench.end(before)
    assert shown_states(bench, place) == _wanted(cell.before, place), "before"
    floors = {place.flids[letter]: version for letter, (version, _) in cell.floors.items()}
    versions = floors | _versions(bench, place)

    requests = []
    if cell.asked:
        begin, end = place.asked(cell.asked)
        requests.append(asked(bench.pg, begin=begin, end=end))
    text = text_of(cell.when, place)
    if cell.crash is None:
        (msg_id,) = bench.run(text)
    else:
        msg_id = bench.run_crashing(text, place, cell.crash)
    checked = msg_id
    if cell.twice:
        assert bench.end(msg_id)[0] == "SUCCEEDED"
        (checked,) = bench.run(text)
        assert bench.rows("SELECT FROM flight_journal WHERE msg_id = %s", checked) == []
        assert bench.rows("SELECT FROM msg_event WHERE msg_id = %s", checked) == []
        _check_log(bench, cell.again_log, place, checked)

    _check_end(bench, cell, place, checked, first=msg_id)
    assert shown_states(bench, place) == _wanted(cell.after, place), "after"
    for one in cell.wrote:
        flid = place.flids[one.flid]
        versions[flid] = versions.get(flid, 0) + 1
    assert _versions(bench, place) == {
        flid: version for flid, version in versions.items() if flid in _versions(bench, place)
    }
    assert [request(bench.pg, one, "state, matched_msg_id") for one in requests] == [
        ("DONE", msg_id) for _ in requests
    ]
    _check_journal(bench, cell, place, msg_id)
    _check_events(bench, cell, place, msg_id)
    _check_redis(bench, cell, place)
    _check_traces(bench, cell, place, msg_id)


def shown_states(bench: Bench, place: Place) -> dict[str, Any]:
    """Return every flight of the cell as it is shown, by letter."""
    return {letter: _bare(view) for letter, view in _views(bench, place).items()}


def _views(bench: Bench, place: Place) -> dict[str, dict[str, Any]]:
    world = read_world(bench.pg, list(place.flids.values()))
    zone = bench.worker.airport.zone
    return {
        letter: render(world.flights[flid], mafl(world, world.flights[flid]), zone)
        for letter, flid in place.flids.items()
        if flid in world.flights
    }


def _bare(view: Mapping[str, Any]) -> dict[str, Any]:
    bare = {name: part for name, part in view.items() if name not in _BOOKKEEPING}
    if bare["STATE"] == "ACTIVE":
        del bare["STATE"]
    return bare


def _wanted(states: Mapping[str, Any], place: Place) -> dict[str, Any]:
    return {letter: place.state(state) for letter, state in states.items() if state is not None}


def _versions(bench: Bench, place: Place) -> dict[str, int]:
    world = read_world(bench.pg, list(place.flids.values()))
    return {flid: flight.state_version for flid, flight in world.flights.items()}


def _check_end(bench: Bench, cell: Cell, place: Place, msg_id: int, *, first: int) -> None:
    state, error_class, reason = bench.end(msg_id)
    assert (state, error_class) == (cell.end.state, cell.end.error_class), reason
    if cell.end.error_class is None:
        wanted = cell.end.reason and place.fill(cell.end.reason).replace("<id>", str(first))
        assert reason == wanted
    else:
        assert reason is not None
        for word in cell.end.says:
            assert place.fill(word) in reason
    assert bench.row(msg_id)["backfill_next_at"] is not None
    dead = bench.rows("SELECT FROM dead_letter WHERE msg_id = %s", msg_id)
    assert bool(dead) == (state == "DEAD")


def _check_journal(bench: Bench, cell: Cell, place: Place, msg_id: int) -> None:
    rows = bench.rows(
        "SELECT flid, kind, changes FROM flight_journal WHERE msg_id = %s", msg_id
    )
    found = {row["flid"]: row for row in rows}
    assert set(found) == {place.flids[one.flid] for one in cell.wrote}
    for one in cell.wrote:
        row = found[place.flids[one.flid]]
        assert row["kind"] == one.kind
        told = {name: pair for name, pair in row["changes"].items() if name not in _OWN_CHANGES}
        assert set(told) == set(_tags(cell, one)), one.flid
        states = [place.state(side.get(one.flid) or {}) for side in (cell.before, cell.after)]
        for tag, pair in told.items():
            if tag != "MAFL":
                assert pair == [_in_utc(state.get(tag)) for state in states], tag


def _tags(cell: Cell, one: Wrote) -> tuple[str, ...]:
    if one.tags != ("*",):
        return one.tags
    state = cell.after[one.flid] or {}
    return tuple(tag for tag in state if tag not in ("STATE", "BOARDING_STATUS"))


def _in_utc(form: Any) -> Any:
    match form:
        case str() if form.endswith("+08:00"):
            return journal_form(datetime.fromisoformat(form))
        case dict():
            return {name: _in_utc(part) for name, part in form.items()}
        case list():
            return [_in_utc(part) for part in form]
        case _:
            return form


def _check_events(bench: Bench, cell: Cell, place: Place, msg_id: int) -> None:
    rows = bench.rows("SELECT * FROM msg_event WHERE msg_id = %s ORDER BY event_id", msg_id)
    assert all(row["released_at"] is not None for row in rows)
    views = _views(bench, place)
    for target in ("KAFKA:msg", "KAFKA:schd"):
        events = {row["partition_key"]: row for row in rows if row["target"] == target}
        sent = [one for one in cell.wrote if one.sends != "nothing"]
        assert set(events) == {place.flids[one.flid] for one in sent}, target
        for one in sent:
            event = events[place.flids[one.flid]]
            assert event["event_type"] == one.sends.upper()
            assert event["state_version"] == views[one.flid]["STATE_VERSION"]
            if one.sends == "tombstone":
                assert event["payload"] is None
            elif target == "KAFKA:schd":
                assert json.loads(event["payload"]) == views[one.flid]
            else:
                told = json.loads(event["payload"])
                wanted = {tag: views[one.flid].get(tag) for tag in _tags(cell, one)}
                if "MAFL" in wanted:
                    wanted["MAFL"] = wanted["MAFL"] or []
                assert (told["KIND"], told["STYP"]) == (one.kind, cell.when.styp)
                assert told["CHANGES"] == wanted


def _check_redis(bench: Bench, cell: Cell, place: Place) -> None:
    flids = list(place.flids.values())
    fields = dict(zip(flids, bench.redis.hmget(bench.keys.flights, flids), strict=True))
    found = {flid: json.loads(text) for flid, text in fields.items() if text is not None}
    assert found == {
        view["FLID"]: view
        for view in _views(bench, place).values()
        if view["STATE"] == "ACTIVE" and view.get("MAID", view["FLID"]) == view["FLID"]
    }


def _check_traces(bench: Bench, cell: Cell, place: Place, msg_id: int) -> None:
    _check_log(bench, cell.log, place, msg_id)
    for tag, count in cell.kept.items():
        table = {"SRVT": "flight_srvt", "VIPF": "flight_vipf"}[tag]
        statement = f"SELECT count(*) FROM {table} WHERE msg_id = %s"
        assert bench.one(statement, msg_id) == count
    for tag in cell.unmapped:
        statement = "SELECT count(*) FROM unmapped_field WHERE tag = %s AND last_msg_id = %s"
        assert bench.one(statement, tag, msg_id) == 1


def _check_log(
    bench: Bench, wanted: Mapping[str, Any] | None, place: Place, msg_id: int
) -> None:
    if wanted is None:
        return
    ends = {name: wanted.get(name, place.day) for name in ("scope_begin", "scope_end")}
    if ends["scope_end"] == "next":
        ends["scope_end"] = place.day + timedelta(days=1)
    rows = bench.rows("SELECT * FROM schd_snap_log WHERE msg_id = %s ORDER BY snap_id", msg_id)
    assert {name: rows[-1][name] for name in _LOG} == {**wanted, **ends}
    assert rows[-1]["recv_at"] == bench.row(msg_id)["received_at"] is not None
    assert rows[-1]["duration_seconds"] >= 0
