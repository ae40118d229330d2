"""ControlService: what every service says of itself, and how operators let its loops rest."""

import threading
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest

from msgx.domain.failure import Away
from msgx.rpc.v1 import control_pb2 as pb
from msgx.runtime.address import Address
from msgx.runtime.control import VERSION
from msgx.runtime.halt import Halt
from msgx.runtime.loops import Loop
from msgx.settings import Admin, Control
from msgx.store import backlog, migrate
from tests.support.calls import WHO
from tests.support.control import Caller, Steps, Watch, leading, serving, standing
from tests.support.dispatcher import add
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.pg
OFTEN = timedelta(milliseconds=5)


def audit(pg: "psycopg.Connection[Any]") -> list[tuple[Any, ...]]:
    """Return what ADMIN_AUDIT kept."""
    return pg.execute(
        "SELECT operator, reason, action, target, affected FROM admin_audit ORDER BY audit_id"
    ).fetchall()


def test_status_tells_versions_term_loops_and_backlog(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    add(pg, "7", 1)
    add(pg, "7", 2)
    add(pg, "8", 1, state="DEAD")
    loop, broken = Loop("msg", Steps(), needed=True), Loop("schd", Steps(fault=OSError("x")))
    with (
        leading(pg_dsn) as leadership,
        serving(
            pg_dsn,
            tmp_path,
            loop,
            broken,
            leadership=leadership,
            backlog=backlog.of_dispatcher,
        ) as running,
    ):
        until(lambda: running.caller.state("msg") == "RESTING", "a clean step")
        until(lambda: running.caller.state("schd") == "FAILED", "a defect")
        told = running.caller.status()

    needed = migrate.needed()
    assert (told.service, told.version, told.leads, told.serving) == (
        "dispatcher",
        VERSION,
        True,
        True,
    )
    assert (told.schema.needed, told.schema.current >= needed) == (needed, True)
    assert (told.leader.term, told.leader.instance) == (1, told.instance)
    assert told.leader.since.seconds > 0
    names = [one.name for one in told.loops]
    assert names == ["msg", "schd", "control"]
    msg, schd, control = told.loops
    assert msg.last_clean.seconds > 0
    assert (msg.faults, msg.pausable, control.pausable) == (0, True, False)
    assert (schd.faults > 0, schd.reason) == (True, "a defect, see the log: OSError")
    assert not schd.HasField("last_clean")
    items = {one.name: (one.count, one.HasField("oldest")) for one in told.backlog}
    assert items == {
        "msg_pending": (2, True),
        "msg_dead": (1, True),
        "msg_held": (1, True),
        "schd_pending": (0, False),
        "schd_dead": (0, False),
        "schd_held": (0, False),
    }
    assert told.store_fault == ""


def test_before_its_first_step_a_loop_is_known_and_does_not_serve(tmp_path: Path) -> None:
    bind = f"unix:{tmp_path}/control"
    address = Address(Control(bind=bind), Admin())
    with ExitStack() as stack:
        stack.callback(address.stop)
        address.start(["msg"])
        channel = stack.enter_context(closing(grpc.insecure_channel(bind)))
        told = {name: Caller(channel).health(name) for name in ("", "msg", "schd")}

    assert told == {"": "NOT_SERVING", "msg": "NOT_SERVING", "schd": "NOT_FOUND"}


@pytest.mark.covers("R14")
def test_a_standby_answers_names_the_leader_and_changes_nothing(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    with leading(pg_dsn) as leader:
        other = standing(pg_dsn)
        beat = Loop("leadership", other.beat, pausable=False)
        msg = Loop("msg", Steps())
        with serving(pg_dsn, tmp_path, beat, msg, leadership=other) as running:
            until(lambda: running.caller.state("leadership") == "WAITING", "a standby")
            told = running.caller.status()
            refused = running.caller.refusal("Pause", pb.PauseRequest(admin=WHO, part="msg"))
            reason = running.caller.loop("leadership").reason
            health = running.caller.health()

    assert (told.leads, told.serving, health) == (False, False, "NOT_SERVING")
    assert told.leader.instance == leader.instance != told.instance
    assert reason == "another dispatcher leads"
    assert refused[0] == "FAILED_PRECONDITION"
    assert audit(pg) == []


@pytest.mark.covers("R04")
def test_where_postgresql_is_away_status_says_so_and_nothing_starts(tmp_path: Path) -> None:
    steps = Steps()
    with serving("host=127.0.0.1 port=9", tmp_path, Loop("msg", steps)) as running:
        until(lambda: running.caller.state("control") == "WAITING", "PostgreSQL is away")
        told = running.caller.status()
        until(lambda: running.caller.state("msg") == "WAITING", "the loop waits")

    assert told.store_fault == "PostgreSQL does not accept our connection"
    assert not told.HasField("leader")
    assert not told.HasField("schema")
    assert steps.count == 0  # it may be paused: nobody knows


@pytest.mark.covers("R55", "R35")
def test_a_paused_loop_rests_is_not_unhealthy_and_the_others_go_on(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    msg, schd = Steps(OFTEN), Steps(OFTEN)
    loops = Loop("msg", msg, needed=True), Loop("schd", schd, needed=True)
    with (
        leading(pg_dsn) as leadership,
        serving(pg_dsn, tmp_path, *loops, leadership=leadership) as running,
    ):
        caller = running.caller
        msg.reach(1)
        assert caller.pause("msg")
        assert not caller.pause("msg")
        until(lambda: caller.state("msg") == "PAUSED", "paused")
        pause = caller.loop("msg").pause
        before = msg.count
        schd.reach(schd.count + 5)
        assert msg.count == before
        until(lambda: caller.health() == "SERVING", "the service serves")
        until(lambda: caller.health("msg") == "SERVING", "and so does the loop")

        assert caller.resume("msg")
        assert not caller.resume("msg")
        msg.reach(before + 1)
        until(lambda: not caller.loop("msg").HasField("pause"), "nothing paused")

    assert (pause.operator, pause.reason, pause.since.seconds > 0) == ("ops", "a test", True)
    assert audit(pg) == [
        ("ops", "a test", action, {"part": "msg"}, affected)
        for action, affected in (("pause", 1), ("pause", 0), ("resume", 1), ("resume", 0))
    ]


@pytest.mark.covers("R55", "R14")
def test_a_pause_outlives_the_instance_that_took_it(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    with (
        leading(pg_dsn) as first,
        serving(pg_dsn, tmp_path, Loop("msg", Steps()), leadership=first) as running,
    ):
        running.caller.pause("msg")
    again = Steps(OFTEN)
    with (
        leading(pg_dsn) as second,
        serving(pg_dsn, tmp_path, Loop("msg", again, needed=True), leadership=second) as next_,
    ):
        caller = next_.caller
        until(lambda: caller.state("msg") == "PAUSED", "paused from the start")
        until(lambda: caller.health() == "SERVING", "and yet it serves")
        assert again.count == 0

        caller.resume("msg")
        again.reach(1)

    assert pg.execute("SELECT FROM service_control").fetchall() == []


@pytest.mark.covers("R55")
def test_a_pause_lets_the_step_in_work_end_and_tells_it(pg_dsn: str, tmp_path: Path) -> None:
    halt, steps = Halt(), Steps(OFTEN)
    steps.gate.clear()
    asked = halt.of("msg")
    with (
        leading(pg_dsn) as leadership,
        serving(
            pg_dsn, tmp_path, Loop("msg", steps), leadership=leadership, halt=halt
        ) as running,
    ):
        caller = running.caller
        steps.reach(1)
        assert not asked()
        caller.pause("msg")
        until(asked, "the step is told")
        working = caller.loop("msg")
        steps.gate.set()
        until(lambda: caller.state("msg") == "PAUSED", "it rests")

    assert (working.state, working.pause.operator) == (pb.LOOP_STATE_WORKING, "ops")
    assert steps.count == 1


@pytest.mark.covers("R13", "R55")
def test_what_must_not_rest_is_done_in_place_of_a_paused_step(
    pg_dsn: str, tmp_path: Path
) -> None:
    steps, beats = Steps(OFTEN), Steps(OFTEN)
    pump = Loop("pump", steps, while_paused=beats)
    with (
        leading(pg_dsn) as leadership,
        serving(pg_dsn, tmp_path, pump, leadership=leadership) as running,
    ):
        steps.reach(1)
        running.caller.pause("pump")
        until(lambda: running.caller.state("pump") == "PAUSED", "paused")
        steps_then, beats_then = steps.count, beats.count
        beats.reach(beats_then + 3)
        beats.fault = Away("PostgreSQL is away")
        until(lambda: running.caller.state("pump") == "WAITING", "its fault is seen")
        until(lambda: running.caller.health("pump") == "NOT_SERVING", "and told")

    assert steps.count == steps_then


@pytest.mark.covers("R55")
@pytest.mark.parametrize(
    ("name", "request_", "words"),
    [
        ("Pause", pb.PauseRequest(part="msg"), "who acts, and why"),
        ("Pause", pb.PauseRequest(admin=WHO, part="leadership"), "must be one of msg"),
        ("Pause", pb.PauseRequest(admin=WHO, part="control"), "must be one of msg"),
        ("Resume", pb.ResumeRequest(admin=WHO, part="x'; --"), "must be one of msg"),
        ("Resume", pb.ResumeRequest(admin=WHO), "must be one of msg"),
        ("Wake", pb.WakeRequest(part="pump"), "must be one of msg, leadership, control"),
    ],
)
def test_what_is_no_part_or_has_no_operator_is_refused(
    pg: "psycopg.Connection[Any]",
    pg_dsn: str,
    tmp_path: Path,
    name: str,
    request_: Any,
    words: str,
) -> None:
    with leading(pg_dsn) as leadership:
        beat = Loop("leadership", Steps(), pausable=False)
        loops = Loop("msg", Steps()), beat
        with serving(pg_dsn, tmp_path, *loops, leadership=leadership) as running:
            code, said = running.caller.refusal(name, request_)

    assert code == "INVALID_ARGUMENT"
    assert words in said
    assert audit(pg) == []


def test_a_wake_ends_a_rest_and_a_backoff(pg_dsn: str, tmp_path: Path) -> None:
    rests, fails = Steps(), Steps(fault=Away("a server is away"))
    loops = (
        Loop("msg", rests),
        Loop("schd", fails, lambda _: timedelta(hours=1)),
    )
    with serving(pg_dsn, tmp_path, *loops) as running:
        rests.reach(1)
        fails.reach(1)
        for number in range(2, 12):
            running.caller.wake("msg")
            rests.reach(number)
        assert fails.count <= 2  # the first look at what is paused may have ended a rest
        woken = fails.count, rests.count

        running.caller.wake()
        fails.reach(woken[0] + 1)
        rests.reach(woken[1] + 1)


@pytest.mark.covers("B104", "B105")
def test_a_stop_is_told_first_and_no_watch_delays_it(pg_dsn: str, tmp_path: Path) -> None:
    halt, steps = Halt(), Steps(OFTEN)
    with serving(
        pg_dsn,
        tmp_path,
        Loop("msg", steps, needed=True),
        halt=halt,
        on_stop=steps.gate.set,
    ) as running:
        channel = running.caller.channel
        with closing(Watch(channel)) as whole, closing(Watch(channel, "msg")) as part:
            whole.wait_for("SERVING")
            part.wait_for("SERVING")
            steps.gate.clear()
            steps.reach(steps.count + 1)

            status = running.stop()

            whole.wait_for("NOT_SERVING")
            part.wait_for("NOT_SERVING")
            whole.wait_for(None)
            part.wait_for(None)
    assert status == 0


@pytest.mark.covers("B104")
def test_a_call_in_work_ends_after_health_said_not_serving(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    answers: list[bool] = []
    with (
        leading(pg_dsn) as leadership,
        serving(pg_dsn, tmp_path, Loop("msg", Steps()), leadership=leadership) as running,
        closing(Watch(running.caller.channel)) as watch,
        psycopg.connect(pg_dsn) as holder,
    ):
        caller = running.caller
        watch.wait_for("SERVING")
        holder.execute("SELECT FROM service_term WHERE service = 'dispatcher' FOR UPDATE")
        call = threading.Thread(target=lambda: answers.append(caller.pause("msg")))
        call.start()
        until(lambda: waiting(pg, 0), "the call waits for the term row")
        stop = threading.Thread(target=running.stop)
        stop.start()
        watch.wait_for("NOT_SERVING")
        watch.wait_for(None)
        until(lambda: waiting(pg, 1), "it still waits, longer than an idle stop takes")
        holder.rollback()
        call.join(PATIENCE_SECONDS)
        stop.join(PATIENCE_SECONDS)

    assert (answers, running.status) == ([True], 0)


def waiting(pg: "psycopg.Connection[Any]", seconds: int) -> bool:
    """Tell whether a call has waited for a lock so long."""
    return bool(
        pg.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'msgx-dispatcher-status' AND wait_event_type = 'Lock'"
            " AND query_start <= clock_timestamp() - make_interval(secs => %s)",
            (seconds,),
        ).fetchall()
    )


@pytest.mark.covers("B104")
def test_a_loop_that_overruns_the_grace_is_exit_status_1(pg_dsn: str, tmp_path: Path) -> None:
    steps = Steps()
    steps.gate.clear()
    grace = {"grace": timedelta(milliseconds=50)}
    with serving(pg_dsn, tmp_path, Loop("msg", steps), control=grace) as running:
        steps.reach(1)

        assert running.stop() == 1
        steps.gate.set()


@pytest.mark.covers("B104")
def test_health_follows_each_loop_and_the_whole_follows_the_needed_ones(
    pg_dsn: str, tmp_path: Path
) -> None:
    needed, other = Steps(OFTEN), Steps(OFTEN, fault=Away("a server is away"))
    loops = Loop("msg", needed, lambda _: OFTEN, needed=True), Loop("schd", other)
    with serving(pg_dsn, tmp_path, *loops) as running:
        caller = running.caller
        until(lambda: caller.health() == "SERVING", "the needed one is well")
        until(lambda: caller.health("schd") == "NOT_SERVING", "the other one is not")

        needed.fault = RuntimeError("a defect")
        until(lambda: caller.health() == "NOT_SERVING", "nor is the needed one")
        needed.fault = None
        until(lambda: caller.health() == "SERVING", "it is again")

        assert caller.health("nobody") == "NOT_FOUND"
