"""`msgxctl events` and `msgxctl held`, asked of the dispatcher itself."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from msgx.domain.delivery import Target
from msgxctl.failure import Status
from services.dispatcher.settings import DispatcherSettings
from tests.support.ctl import WHY, ctl, sentence
from tests.support.dispatcher import add, leading, settings, states
from tests.support.operator import answering

pytestmark = [pytest.mark.pg]

Pg = psycopg.Connection[Any]


@pytest.fixture
def unsent(pg_dsn: str) -> DispatcherSettings:
    return settings(pg_dsn, "127.0.0.1:1", "")


@pytest.fixture
def dispatcher(unsent: DispatcherSettings) -> Iterator[str]:
    with leading(unsent) as leadership, answering(unsent, leadership) as port:
        yield f"127.0.0.1:{port}"


def bury(pg: Pg, flid: str, version: int, target: Target = Target.MSG) -> int:
    event = add(pg, flid, version, state="DEAD", attempts=3, target=target)
    pg.execute(
        "UPDATE msg_event SET error_class = 'TOO_LARGE', last_error = %s, failed_at = now()"
        " WHERE event_id = %s",
        ("over \x1b]0;x\x07the limit\u202e", event),
    )
    return event


@pytest.mark.covers("R29", "R55")
def test_dead_events_and_held_flights_are_listed(pg: Pg, dispatcher: str) -> None:
    event = bury(pg, "7", 2)
    add(pg, "7", 3)

    events = ctl("--dispatcher", dispatcher, "events", "list", "--json").told
    held = ctl("--dispatcher", dispatcher, "held", "list", "--json").told
    shown = [
        ctl("--dispatcher", dispatcher, *words)
        for words in (("events", "list"), ("held", "list", "--topic", "msg"))
    ]

    assert [one["key"] for one in events["events"]] == [
        {"topic": "MSG", "flid": "7", "event_id": event}
    ]
    assert (held["total"], held["flights"][0]["cause"]) == (1, "DEAD")
    assert "1 dead events" in shown[0].out
    assert "1 of 1 held flights" in shown[1].out
    for one in shown:
        assert "TOO_LARGE" in one.out
        assert all(c.isprintable() or c == "\n" for c in one.out)


@pytest.mark.covers("R29", "R55", "R35")
@pytest.mark.parametrize(
    ("command", "state"), [("requeue", "PENDING"), ("discard", "DISCARDED")]
)
def test_one_event_is_decided_about_by_its_whole_name(
    pg: Pg, dispatcher: str, command: str, state: str
) -> None:
    event, other = bury(pg, "7", 2), bury(pg, "8", 1)
    named = ("--dispatcher", dispatcher, "events", command, event, *WHY, "--yes")

    unnamed = ctl(*named)
    done = ctl(*named, "--topic", "msg", "--flid", "7", "--json")
    again = ctl(*named, "--topic", "msg", "--flid", "7")

    assert unnamed.status == Status.USAGE
    assert (done.status, done.told) == (0, {"affected": 1})
    assert again.status == Status.FAILED
    assert "is not dead" in sentence(again)
    assert states(pg) == {event: state, other: "DEAD"}


@pytest.mark.covers("R29", "R55")
def test_events_are_discarded_by_filter_only_after_asking_back(pg: Pg, dispatcher: str) -> None:
    chosen, other = bury(pg, "7", 2), bury(pg, "7", 2, Target.SCHD)
    discard = (
        "--dispatcher", dispatcher, "events", "discard", "--matching", "--topic", "msg", *WHY,
    )  # fmt: skip

    silent = ctl(*discard)
    agreed = ctl(*discard, stdin=b"y\n")

    assert (silent.status, agreed.status) == (Status.USAGE, 0)
    assert "1 events are given up" in agreed.out
    assert states(pg) == {chosen: "DISCARDED", other: "DEAD"}


def test_what_is_meant_must_be_clear(pg: Pg, dispatcher: str) -> None:
    event = bury(pg, "7", 2)
    requeue = ("--dispatcher", dispatcher, "events", "requeue", *WHY)

    nothing, both = ctl(*requeue), ctl(*requeue, event, "--matching")
    wrong = ctl(*requeue, "--matching", "--yes", "--class", "x" * 65)

    assert (nothing.status, both.status, wrong.status) == (2, 2, 1)
    assert sentence(wrong) == "dispatcher refuses: error_class must be a short word"
    assert states(pg) == {event: "DEAD"}
