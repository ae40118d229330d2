"""A message of a lower id that comes late: what each has committed leaves in the order of the
versions, whoever is finished first."""

from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from msgx.domain.delivery import Target
from tests.support.dispatcher import (
    Seen,
    consume,
    leading,
    make_topics,
    relaying,
    settings,
    settle,
)
from tests.support.messages import adft, fltr, stand
from tests.support.processor import Line
from tests.support.relay import relayed

pytestmark = [
    pytest.mark.system,
    pytest.mark.pg,
    pytest.mark.mysql,
    pytest.mark.redis,
    pytest.mark.kafka,
]


HOUR = timedelta(hours=1)
PATIENT = {"infra_backoff": HOUR, "infra_backoff_limit": HOUR}


@pytest.mark.covers("R06", "R29", "US-03 AC4", "INV-23")
def test_the_version_of_a_message_that_waits_on_redis_goes_before_that_of_a_late_one(
    line: Line, kafka_bootstrap: str, kafka_prefix: str
) -> None:
    given = settings(line.places.dsn, kafka_bootstrap, kafka_prefix)
    make_topics(given)
    with ExitStack() as stack:
        redis, url = stack.enter_context(relayed(line.places.redis))
        line.start(redis_url=url, epoch_check=HOUR, pipeline=PATIENT)
        line.run(adft(fltr("1")))
        line.worker.step()
        redis.cut()
        waits = line.land(stand("7", "1"), msg_id=10)
        line.worker.step()  # committed, and not projected
        late = line.land(stand("8", "1"), msg_id=9)
        line.worker.step()
        assert unreleased(line) == [(waits, 2), (late, 3)]
        redis.restore()
        line.pg.execute(
            "UPDATE proc_state SET next_attempt_at = NULL WHERE msg_id = %s", [late]
        )
        line.worker.step()  # the late one is the head: it is finished first
        assert (line.end(late)[0], line.end(waits)[0]) == ("SUCCEEDED", "FAILED")

        leadership = stack.enter_context(leading(given))
        relay = stack.enter_context(relaying(given, leadership=leadership))
        settle(relay, lambda: len(consume(given)) == 1, "the first version")
        relay.step()
        assert versions(consume(given)) == [1]

        line.release_head()
        line.run()
        settle(relay, lambda: len(consume(given)) == 3, "all versions")

    assert versions(consume(given)) == [1, 2, 3]
    line.agree()


def unreleased(line: Line) -> list[tuple[Any, Any]]:
    """Return message and version of each event that is not released."""
    return [
        (event["msg_id"], event["state_version"])
        for event in line.events(Target.MSG)
        if event["released_at"] is None
    ]


def versions(seen: list[Seen]) -> list[int]:
    return [one.version for one in seen]
