"""What operators see and decide: dead events, held flights; who may; what is kept."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from msgx.domain.delivery import Target
from msgx.rpc.v1 import delivery_pb2 as pb
from msgx.rpc.v1.admin_pb2 import Admin
from msgx.runtime.leadership import Leadership
from services.dispatcher.settings import DispatcherSettings
from tests.support.calls import TOKEN, WHO
from tests.support.dispatcher import add, settings, states
from tests.support.operator import Operator, answering, operating

pytestmark = [pytest.mark.pg]
LATER = timedelta(hours=1)
UNKNOWN = pb.Filter(topic=9)  # type: ignore[arg-type]  # of a newer caller


@pytest.fixture
def unsent(pg_dsn: str) -> DispatcherSettings:
    """The service's settings; nothing here reaches a broker."""
    return settings(pg_dsn, "127.0.0.1:1", "")


@pytest.fixture
def led(unsent: DispatcherSettings) -> Iterator[tuple[Operator, Leadership]]:
    with operating(unsent) as both:
        yield both


@pytest.fixture
def operator(led: tuple[Operator, Leadership]) -> Operator:
    return led[0]


def bury(
    pg: "psycopg.Connection[Any]",
    flid: str,
    version: int,
    *,
    error_class: str = "TOO_LARGE",
    target: Target = Target.MSG,
) -> int:
    event = add(pg, flid, version, state="DEAD", attempts=3, target=target, msg_id=12)
    pg.execute(
        "UPDATE msg_event SET error_class = %s, last_error = 'over the limit',"
        " failed_at = created_at + interval '1 minute' WHERE event_id = %s",
        (error_class, event),
    )
    return event


def audit(pg: "psycopg.Connection[Any]") -> list[dict[str, Any]]:
    with pg.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            "SELECT service, operator, reason, action, target, affected FROM admin_audit"
            " ORDER BY audit_id"
        ).fetchall()


def by(operator: str, reason: str) -> Admin:
    return Admin(operator=operator, reason=reason)


@pytest.mark.covers("R29", "R55", "B23")
def test_dead_events_are_listed_page_by_page_without_their_payload(
    pg: "psycopg.Connection[Any]", operator: Operator
) -> None:
    first = bury(pg, "7", 2)
    add(pg, "7", 3)
    others = [bury(pg, "8", 1, error_class="PROCESSING"), bury(pg, "9", 1, target=Target.SCHD)]

    one, *rest = operator.dead()

    assert (one.key.topic, one.key.flid, one.key.event_id) == (pb.TOPIC_MSG, "7", first)
    assert (one.error_class, one.error_text) == ("TOO_LARGE", "over the limit")
    assert (one.state_version, one.source_msg_id, one.attempts) == (2, 12, 3)
    assert one.value_bytes == len('{"FLID": "7", "STATE_VERSION": 2}')
    assert not one.tombstone
    row = pg.execute(
        "SELECT extract(epoch FROM failed_at)::bigint - %s FROM msg_event WHERE event_id = %s",
        (one.since.seconds, first),
    ).fetchone()
    assert row is not None
    assert row[0] in (0, 1)  # rounded
    assert [event.key.event_id for event in rest] == others
    page = operator.dead(limit=1, after_event_id=first)
    assert [event.key.event_id for event in page] == others[:1]
    of_class = operator.dead(filter=pb.Filter(error_class="PROCESSING"))
    assert [event.key.event_id for event in of_class] == others[:1]
    on_schd = operator.dead(filter=pb.Filter(topic=pb.TOPIC_SCHD))
    assert [event.key.event_id for event in on_schd] == others[1:]


@pytest.mark.covers("R29", "R55", "B01")
def test_held_flights_are_listed_with_what_holds_them_and_how_many_wait(
    pg: "psycopg.Connection[Any]", operator: Operator
) -> None:
    dead = bury(pg, "7", 2)
    for version in (3, 4, 5):
        add(pg, "7", version)
    bury(pg, "7", 6)
    waits = add(pg, "8", 1, attempts=2, due_in=LATER)
    add(pg, "8", 2)
    unreleased = add(pg, "9", 1, released=False)
    add(pg, "9", 2)
    add(pg, "10", 1, released=False)  # in work, and in nobody's way
    add(pg, "11", 1)

    held = {one.cause_event.flid: one for one in operator.held()}

    assert {
        flid: (one.cause_event.event_id, one.cause, one.events_behind)
        for flid, one in held.items()
    } == {
        "7": (dead, pb.HOLD_CAUSE_DEAD, 3),
        "8": (waits, pb.HOLD_CAUSE_WAITING, 1),
        "9": (unreleased, pb.HOLD_CAUSE_UNRELEASED, 1),
    }
    assert (held["7"].error_class, held["7"].attempts) == ("TOO_LARGE", 3)
    assert held["8"].next_attempt_at.seconds > held["8"].since.seconds
    answer = operator.call("ListHeld", pb.ListHeldRequest(limit=1))
    assert (len(answer.flights), answer.total) == (1, 3)
    assert operator.held(topic=pb.TOPIC_SCHD) == []
    assert [one.cause_event.flid for one in operator.held(flid="8")] == ["8"]


@pytest.mark.covers("R55", "R35", "R29")
def test_a_requeued_event_begins_anew_and_the_act_is_kept(
    pg: "psycopg.Connection[Any]", operator: Operator
) -> None:
    event = bury(pg, "7", 2)
    other = bury(pg, "8", 1)
    key = pb.EventKey(topic=pb.TOPIC_MSG, flid="7", event_id=event)

    assert operator.requeue(event=key) == 1
    assert operator.requeue(event=key) == 0

    row = pg.execute(
        "SELECT state, attempts, next_attempt_at, failed_at FROM msg_event WHERE event_id = %s",
        (event,),
    ).fetchone()
    assert row == ("PENDING", 0, None, None)
    assert states(pg)[other] == "DEAD"
    asked = {"target": "KAFKA:msg", "flid": "7", "event_id": str(event), "limit": 1}
    kept = {"service": "dispatcher", "operator": "ops", "reason": "a test", "target": asked}
    assert audit(pg) == [
        kept | {"action": "requeue", "affected": 1},
        kept | {"action": "requeue", "affected": 0},
    ]


@pytest.mark.covers("R55", "R29")
def test_a_filter_decides_about_the_oldest_up_to_the_limit(
    pg: "psycopg.Connection[Any]", operator: Operator
) -> None:
    large = [bury(pg, str(flid), 1) for flid in range(1, 6)]
    refused = bury(pg, "1", 2, error_class="PROCESSING")
    chosen = pb.Filter(topic=pb.TOPIC_MSG, error_class="TOO_LARGE")

    assert operator.discard(filter=chosen, limit=2) == 2
    assert operator.requeue(filter=chosen, limit=2) == 2
    assert operator.requeue(filter=pb.Filter(flid="1"), limit=100) == 1

    told = states(pg)
    assert [told[event] for event in large] == [
        "DISCARDED", "DISCARDED", "PENDING", "PENDING", "DEAD",
    ]  # fmt: skip
    assert told[refused] == "PENDING"
    assert [one["affected"] for one in audit(pg)] == [2, 2, 1]


@pytest.mark.covers("R29", "R55")
def test_a_replaced_generation_cannot_be_addressed_any_more(
    pg: "psycopg.Connection[Any]", operator: Operator
) -> None:
    old = bury(pg, "7", 4, target=Target.SCHD)
    pg.execute("UPDATE msg_event SET event_id = nextval('event_id_seq'), state_version = 5")
    key = pb.EventKey(topic=pb.TOPIC_SCHD, flid="7", event_id=old)

    assert operator.discard(event=key) == 0

    assert list(states(pg).values()) == ["DEAD"]


@pytest.mark.covers("R55", "R35")
@pytest.mark.parametrize(
    ("name", "request_", "words"),
    [
        ("Requeue", pb.RequeueRequest(filter=pb.Filter(), limit=1), "who acts, and why"),
        (
            "Discard",
            pb.DiscardRequest(admin=by("ops", "  "), filter=pb.Filter(), limit=1),
            "who acts, and why",
        ),
        ("Requeue", pb.RequeueRequest(admin=by("o" * 501, "w")), "at most 500"),
        ("Requeue", pb.RequeueRequest(admin=WHO, limit=1), "either event or filter"),
        ("Requeue", pb.RequeueRequest(admin=WHO, filter=pb.Filter()), "limit must be"),
        (
            "Discard",
            pb.DiscardRequest(admin=WHO, filter=pb.Filter(), limit=10_001),
            "limit must be",
        ),
        (
            "Discard",
            pb.DiscardRequest(admin=WHO, event=pb.EventKey(flid="7", event_id=1)),
            "topic, flid and event_id",
        ),
        (
            "Discard",
            pb.DiscardRequest(admin=WHO, filter=UNKNOWN, limit=9),
            "none that this version knows",
        ),
        ("ListDead", pb.ListDeadRequest(limit=1001), "limit must be"),
        ("ListHeld", pb.ListHeldRequest(limit=-1), "limit must be"),
    ],
)
def test_what_is_not_asked_properly_is_refused_and_changes_nothing(
    pg: "psycopg.Connection[Any]", operator: Operator, name: str, request_: Any, words: str
) -> None:
    event = bury(pg, "7", 2)

    code, said = operator.refusal(name, request_)

    assert code == "INVALID_ARGUMENT"
    assert words in said
    assert states(pg) == {event: "DEAD"}
    assert audit(pg) == []


@pytest.mark.covers("R55")
@pytest.mark.parametrize(
    "authorization",
    [None, TOKEN, "Bearer another-token", f"Bearer {TOKEN}x", "Bearer "],
)
def test_without_the_token_nothing_is_answered(
    unsent: DispatcherSettings,
    pg: "psycopg.Connection[Any]",
    led: tuple[Operator, Leadership],
    authorization: str | None,
) -> None:
    event = bury(pg, "7", 2)
    requeue = pb.RequeueRequest(admin=WHO, filter=pb.Filter(), limit=9)
    with (
        answering(unsent, led[1]) as port,
        closing(Operator(port, authorization)) as stranger,
    ):
        assert stranger.refusal("Requeue", requeue)[0] == "UNAUTHENTICATED"
        assert stranger.refusal("ListDead", pb.ListDeadRequest())[0] == "UNAUTHENTICATED"

    assert states(pg) == {event: "DEAD"}


@pytest.mark.covers("R13", "R14", "R55")
def test_only_the_leader_changes_anything(
    pg: "psycopg.Connection[Any]", led: tuple[Operator, Leadership]
) -> None:
    operator, leadership = led
    event = bury(pg, "7", 2)
    requeue = pb.RequeueRequest(admin=WHO, filter=pb.Filter(), limit=9)

    pg.execute("UPDATE service_term SET term = term + 1 WHERE service = 'dispatcher'")
    deposed = operator.refusal("Requeue", requeue)
    leadership.lose()
    standby = operator.refusal("Requeue", requeue)

    assert (deposed[0], standby[0]) == ("FAILED_PRECONDITION", "FAILED_PRECONDITION")
    assert states(pg) == {event: "DEAD"}
    assert audit(pg) == []
    assert [one.key.event_id for one in operator.dead()] == [event]  # looking is allowed


@pytest.mark.covers("R35")
def test_hostile_words_are_refused_or_kept_harmless(
    pg: "psycopg.Connection[Any]", operator: Operator
) -> None:
    event = bury(pg, "7", 2)
    hostile = by("o\x1b[31m", "w\x00'; DROP TABLE msg_event; --")

    for flid in ("7\x00", "7" * 65):
        request = pb.RequeueRequest(admin=hostile, filter=pb.Filter(flid=flid), limit=1)
        assert operator.refusal("Requeue", request)[0] == "INVALID_ARGUMENT"
    quoted = pb.Filter(flid="7' OR 'a' = 'a")
    assert (
        operator.call(
            "Requeue", pb.RequeueRequest(admin=hostile, filter=quoted, limit=1)
        ).affected
        == 0
    )

    assert states(pg) == {event: "DEAD"}
    (kept,) = audit(pg)
    assert (kept["operator"], kept["reason"]) == ("o [31m", "w '; DROP TABLE msg_event; --")
