"""One queue, two executors: the head changes hands, and nothing passes it (R16, INV-3)."""

import random
from datetime import timedelta
from typing import Final

import psycopg
import pytest

from msgx.store import listen
from tests.support.intake import move_time
from tests.support.messages import adft, fltr, stand
from tests.support.processor import Line
from tests.support.refdata import Desk, gates, package, record
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

HEARS: Final = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle'
       AND query = 'LISTEN "' || %s || '"'
"""


@pytest.mark.covers("R16", "INV-3", "INV-9", "INV-8")
def test_the_processor_hands_over_and_refdata_ends(line: Line, desk: Desk) -> None:
    msg_id = desk.route(gates("DNLD", "1", seqn="77"))

    row = line.row(msg_id)
    assert (row["state"], row["route"], row["attempts"]) == ("PENDING", "REFDATA", 0)
    assert row["identity_key"] == "AODB|GLST|DNLD|77"
    assert (row["sndr"], row["type"], row["styp"], row["seqn"]) == (
        "AODB",
        "GLST",
        "DNLD",
        "77",
    )
    assert row["dttm"] is not None
    assert line.one("SELECT msg_id FROM identity_ledger") == msg_id

    desk.keeper.step()

    row = line.row(msg_id)
    assert (row["state"], row["last_error"], row["error_class"]) == ("SUCCEEDED", None, None)
    assert row["backfill_next_at"] == row["finished_at"]
    assert (row["type"], row["seqn"], row["dttm"] is None) == ("GLST", "77", False)
    assert desk.records("GLST") == {"1": {"GCOD": "1", "TERM": "T2"}}
    assert line.events() == []


@pytest.mark.covers("R16")
def test_each_hears_what_the_other_hands_over(line: Line, desk: Desk) -> None:
    line.worker.step()
    desk.keeper.step()
    channels = [listen.ROUTED, listen.EXECUTED]
    assert [line.one(HEARS, channel) for channel in channels] == [1, 1]

    with psycopg.connect(line.places.dsn, autocommit=True) as ears:
        for channel in channels:
            listen.listen(ears, channel)
        desk.run(gates("DNLD", "1"))
        heard = ears.notifies(timeout=PATIENCE_SECONDS, stop_after=len(channels))

        assert [one.channel for one in heard] == channels


@pytest.mark.covers("R16", "INV-3")
def test_everything_behind_a_routed_head_waits_and_then_goes_on_in_order(
    line: Line, desk: Desk
) -> None:
    head = desk.route(gates("DNLD", "1"))
    later = [line.land(one) for one in (adft(fltr("1")), stand("7", "1"), gates("ADD", "2"))]
    for _ in range(3):
        line.worker.step()
    line.restart()
    line.worker.step()

    assert {line.end(one)[0] for one in (head, *later)} == {"PENDING"}
    assert line.flids() == []

    desk.run()

    ids = [head, *later]
    ended = line.rows("SELECT msg_id FROM proc_state ORDER BY finished_at, msg_id")
    assert [row["msg_id"] for row in ended] == ids
    assert {line.end(one)[0] for one in ids} == {"SUCCEEDED"}
    assert line.flight().values["STND"] == "7"
    assert desk.records("GLST").keys() == {"1", "2"}


@pytest.mark.covers("R16")
def test_what_was_fetched_behind_a_routed_head_is_used(line: Line, desk: Desk) -> None:
    line.land(gates("DNLD", "1"))
    flights = [line.land(adft(fltr(str(flid)))) for flid in range(1, 6)]
    line.worker.step()
    for one in flights:
        line.forget(one)  # so that nobody can read it twice

    desk.run()

    assert {line.end(one)[0] for one in flights} == {"SUCCEEDED"}


@pytest.mark.covers("R16", "INV-3", "R11")
def test_a_late_lower_id_goes_before_a_routed_head(line: Line, desk: Desk) -> None:
    line.run()
    routed = line.land(gates("DNLD", "1"), msg_id=20)
    line.worker.step()
    assert line.row(routed)["route"] == "REFDATA"
    late = line.land(adft(fltr("1")), msg_id=10)

    desk.keeper.step()
    assert line.end(routed)[0] == "PENDING", "it is not the lowest open one any more"

    desk.run()
    assert [line.end(one)[0] for one in (late, routed)] == ["SUCCEEDED", "SUCCEEDED"]
    assert line.row(late)["finished_at"] < line.row(routed)["finished_at"]


@pytest.mark.covers("R16", "R01", "INV-9")
def test_duplicates_and_conflicts_never_get_a_route(line: Line, desk: Desk) -> None:
    (first,) = desk.run(gates("DNLD", "1", seqn="9"))

    same, other = line.run(gates("DNLD", "1", seqn="9"), gates("DNLD", "2", seqn="9"))

    assert line.end(same) == ("SKIPPED", None, f"duplicate-of:{first}")
    assert line.end(other) == ("DEAD", "IDENTITY_CONFLICT", f"conflicts-with:{first}")
    assert line.row(same)["route"] is None
    assert line.row(other)["route"] is None
    assert desk.records("GLST").keys() == {"1"}
    assert desk.sources("GLST")["1"][0] == first


@pytest.mark.covers("R16", "R54")
def test_what_is_not_ours_is_never_routed(line: Line) -> None:
    state, city = line.run(
        package("RSTA", "UPD", record("RSTA", RTYP="GATE", RSID="1", STAT="D")),
        package("CITY", "DNLD", record("CITY", CODE="1")),
    )

    for msg_id in (state, city):
        assert line.end(msg_id) == ("SKIPPED", None, "unsupported")
        assert line.row(msg_id)["route"] is None


@pytest.mark.covers("R16", "INV-3")
def test_refdata_touches_no_head_that_is_not_routed_to_it(line: Line, desk: Desk) -> None:
    line.run()
    head = line.land(adft(fltr("1")))

    desk.keeper.step()

    assert line.row(head)["state"] == "PENDING"
    assert line.row(head)["attempts"] == 0


@pytest.mark.covers("R16", "INV-17b")
def test_a_routed_head_that_failed_is_taken_when_it_is_due(line: Line, desk: Desk) -> None:
    msg_id = desk.route(gates("DNLD", "1"))
    line.pg.execute(
        "UPDATE proc_state SET state = 'FAILED', next_attempt_at = now() + interval '1 hour'"
    )

    for _ in range(3):
        assert desk.keeper.step() > timedelta(), "it rests"
        line.worker.step()
    assert line.end(msg_id)[0] == "FAILED"

    move_time(line.pg, timedelta(hours=1))
    desk.run()
    assert line.end(msg_id)[0] == "SUCCEEDED"


@pytest.mark.covers("R16", "INV-3", "INV-20b")
def test_both_executors_end_a_mixed_queue_in_order_whoever_steps_when(
    line: Line, desk: Desk
) -> None:
    rng = random.Random(1)
    line.run(adft(fltr("1")))
    ids: list[int] = []
    codes: set[str] = set()
    stands: list[str] = []
    for number in range(24):
        match rng.choice(["flight", "add", "del", "bad", "same"]):
            case "flight":
                text, stands = stand(str(number), "1"), [*stands, str(number)]
            case "add":
                text = gates("ADD", code := str(rng.randrange(6)))
                codes.add(code)
            case "del":
                text = gates("DEL", code := str(rng.randrange(6)))
                codes.discard(code)
            case "bad":
                text = gates("DNLD", "9", recs=2)
            case _:
                text = stand("same", "1", seqn="7")
                stands = stands if "same" in stands else [*stands, "same"]
        ids.append(line.land(text))

    steps = 0
    while line.is_due():
        rng.choice([line.worker.step, desk.keeper.step])()
        if rng.random() < 0.03:
            line.restart()
        if rng.random() < 0.03:
            desk.restart()
        assert (steps := steps + 1) < 2000

    ended = line.rows("SELECT msg_id FROM proc_state ORDER BY finished_at, msg_id")
    assert [row["msg_id"] for row in ended][1:] == ids
    assert desk.records("GLST").keys() == codes
    journal = line.rows("SELECT changes FROM flight_journal ORDER BY journal_id")
    assert [row["changes"]["STND"][1] for row in journal[1:]] == stands
    line.agree()
