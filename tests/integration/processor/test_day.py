"""A simulated day on real servers, cut again and again; every sample, told twice."""

import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from msgx.domain.failure import Away
from msgx.domain.flight import render
from msgx.runtime.leadership import Standby
from services.processor.decide.writes import mafl
from services.processor.examine import read_world
from tests.aodb import Played, build_day
from tests.aodb.verify import (
    SELECT_REFERENCE,
    compare_flights,
    compare_messages,
    compare_reference,
)
from tests.support.messages import adft, fltr
from tests.support.processor import Line
from tests.support.refdata import Desk, keeping
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

SAMPLES = Path(__file__).parents[2] / "support" / "samples"
SOON = timedelta(microseconds=1)
AT_ONCE: dict[str, Any] = {
    "ladder": (SOON,) * 4,
    "infra_backoff": SOON,
    "infra_backoff_limit": SOON,
    "prefetch": 5,
}
OPEN = "SELECT count(*) FROM proc_state WHERE state IN ('PENDING', 'FAILED')"
END_SESSIONS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database()
       AND application_name SIMILAR TO 'msgx-(processor|refdata)-%'
"""


@pytest.mark.covers("INV-3", "INV-20b", "INV-26", "R12", "R16", "R15", "R58", "G-MAFL", "B102")
@pytest.mark.parametrize("seed", [3])
@pytest.mark.slow
def test_a_day_that_is_cut_again_and_again_ends_as_the_oracle_says(
    line: Line, desk: Desk, seed: int
) -> None:
    day = build_day(seed=seed, flights=16)
    rng = random.Random(seed)
    ids = {message.index: message.index + 1 for message in day.messages}
    waiting = [message.index + 1 for message in day.messages]
    for message in day.messages:
        line.land(message.xml, msg_id=ids[message.index], registered=False)
    line.restart(pipeline=AT_ONCE, schd={"batch": 7})
    desk.restart(pipeline={"ladder": AT_ONCE["ladder"]})

    while waiting or line.one(OPEN):
        many = rng.randrange(1, 15)
        for msg_id in waiting[:many]:
            line.register(msg_id)
        del waiting[:many]
        cut = rng.randrange(10)
        if cut == 0:
            line.restart(pipeline=AT_ONCE, schd={"batch": 7})
        elif cut == 1:
            line.redis.flushdb()
        elif cut == 2:
            line.pg.execute(END_SESSIONS)
        elif cut == 3:
            desk.restart(pipeline={"ladder": AT_ONCE["ladder"]})
        with suppress(Away, Standby):  # a session was lost: the next step begins anew
            line.worker.step()
            desk.keeper.step()

    until(lambda: _steps(line), "the last cut is over")
    columns = "msg_id, state, error_class, last_error"
    rows = line.pg.execute(f"SELECT {columns} FROM proc_state ORDER BY msg_id").fetchall()
    assert compare_messages(day, Played(ids, 0.0), rows) == []
    world = read_world(line.pg, line.flids())
    shown = {
        flid: render(flight, mafl(world, flight), line.worker.airport.zone)
        for flid, flight in world.flights.items()
    }
    assert compare_flights(day, shown) == []
    stored = line.pg.execute(SELECT_REFERENCE).fetchall()
    assert compare_reference(day, {(rtype, key): said for rtype, key, said in stored}) == []
    assert line.one("SELECT count(*) FROM msg_event WHERE released_at IS NULL") == 0
    line.agree()


def _steps(line: Line) -> bool:
    try:
        line.worker.step()
    except (Away, Standby):
        return False
    return True


@pytest.fixture
def desk(line: Line) -> Iterator[Desk]:
    """Refdata beside the processor."""
    with keeping(line) as one:
        yield one


def samples() -> list[str]:
    texts = (path.read_text("utf-8") for path in sorted(SAMPLES.glob("flop-*.xml")))
    return [text for text in texts if "FDEL" not in text]


@pytest.mark.covers("R40", "INV-14b", "R12", "R47")
def test_every_sample_changes_its_flight_once_and_told_again_nothing(line: Line) -> None:
    line.run(adft(fltr("700001"), fltr("700002"), fltr("700003")))
    for text in samples():
        again = text.replace("<SEQN>", "<SEQN>9")

        first, second = line.run(text, again)

        state, _, reason = line.end(first)
        assert state == "SUCCEEDED" or reason == "unsupported", (text, reason)
        expected = "no-change" if state == "SUCCEEDED" else "unsupported"
        assert line.end(second)[2] == expected, text
    assert line.flight("700001").state_version > 20
    line.agree()


@pytest.mark.covers("C-6", "INV-15b", "R47", "R12")
def test_the_sample_of_a_whole_plan_comes_back_from_the_tables_as_it_was_told(
    line: Line,
) -> None:
    text = (SAMPLES / "schd-dnld.xml").read_text("utf-8")

    done, again = line.run(text, text.replace("<SEQN>", "<SEQN>9"))

    assert line.end(done) == ("SUCCEEDED", None, None)
    assert line.end(again) == ("SUCCEEDED", None, "no-change")
    line.agree()
