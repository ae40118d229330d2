"""A process whose surroundings are not the ones it was told of ends with one sentence (R50)."""

import pytest
from psycopg.conninfo import make_conninfo

from tests.support.pooler import pooling
from tests.support.process import Process, running
from tests.support.processor import Line
from tests.support.processor_process import processing
from tests.support.waiting import until
from tests.support.worker import ours

pytestmark = [
    pytest.mark.system,
    pytest.mark.pg,
    pytest.mark.mysql,
    pytest.mark.redis,
    pytest.mark.covers("R50"),
]


def refusal(process: Process) -> str:
    """Return the one sentence of a process that refuses."""
    assert process.ended() == 1
    logged = [line["reason"] for line in process.logged("refuses to run")]
    plain = [line for line in process.lines if not line.startswith("{")]
    (said,) = set(logged) or plain  # two loops may find it out at the same time
    return str(said)


def test_a_database_of_another_environment_is_refused(line: Line) -> None:
    line.stop()
    line.pg.execute("INSERT INTO installation VALUES (true, 'production', now())")
    term = line.term()

    with processing(line) as process:
        said = refusal(process)

    assert "MSGX_DATABASE__DSN belongs to another MSGX_ENVIRONMENT" in said
    assert "production" not in "".join(process.lines)
    assert line.term() == term


def test_the_first_that_leads_writes_whose_database_it_is(line: Line) -> None:
    line.stop()
    with processing(line):
        until(lambda: line.redis.exists(line.keys.environment), "Redis is claimed")

    assert line.one("SELECT environment FROM installation") == "test"
    assert line.redis.get(line.keys.environment) == "test"


def test_a_redis_of_another_environment_is_refused_before_anything_leads(line: Line) -> None:
    line.stop()
    line.redis.set(line.keys.environment, "production")
    term = line.term()

    with processing(line) as process:
        said = refusal(process)

    assert "MSGX_REDIS__URL belongs to another MSGX_ENVIRONMENT" in said
    assert line.term() == term
    assert not line.redis.exists(line.keys.flights)


def test_another_mailbox_is_refused(line: Line) -> None:
    with processing(line, MSGX_MAILBOX__EXPECTED_SERVER="elsewhere") as process:
        said = refusal(process)

    assert said == ("the server of MSGX_MAILBOX__URL is none of MSGX_MAILBOX__EXPECTED_SERVER")


@pytest.mark.covers("R13")
def test_a_transaction_mode_pooler_is_refused(line: Line) -> None:
    line.stop()
    term = line.term()
    with (
        pooling(ours(line.places.dsn), "transaction") as dsn,
        processing(line, MSGX_DATABASE__DSN=dsn) as process,
    ):
        said = refusal(process)

    assert "a pooler that lends sessions by the transaction" in said
    assert line.term() == term


def test_a_service_that_leads_nothing_refuses_a_foreign_database_too(line: Line) -> None:
    line.pg.execute("INSERT INTO installation VALUES (true, 'production', now())")
    variables = {
        "MSGX_DATABASE__DSN": make_conninfo(line.places.dsn, user="msgx_api"),
        "MSGX_MAILBOX__URL": line.places.mailbox,
        "MSGX_REDIS__URL": line.places.redis,
        "MSGX_HTTP__BIND": "127.0.0.1:0",
    }

    with running("api", **variables) as process:
        said = refusal(process)

    assert "MSGX_DATABASE__DSN belongs to another MSGX_ENVIRONMENT" in said
