"""All services, each as its own role: one update from the door to everything it reaches."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from psycopg.conninfo import make_conninfo

from msgx.domain.delivery import Target
from tests.support.dispatcher import Seen, consume, make_topics, settings
from tests.support.messages import adft, fltr, stand
from tests.support.process import Process, running
from tests.support.processor import Line
from tests.support.processor_process import environment
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = [
    pytest.mark.system,
    pytest.mark.pg,
    pytest.mark.mysql,
    pytest.mark.redis,
    pytest.mark.kafka,
]

FIGURES = {
    "intake": {
        "msgx_service_ready 1.0",
        "msgx_intake_registered_total 2.0",
        "msgx_pipeline_backfill_owed 0.0",
    },
    "processor": {
        'msgx_pipeline_finished_total{state="SUCCEEDED",type="FLOP"} 1.0',
        "msgx_pipeline_backlog_messages 0.0",
    },
    "refdata": {"msgx_service_ready 1.0"},
    "dispatcher": {
        'msgx_dispatch_delivered_total{topic="msg"} 2.0',
        'msgx_dispatch_pending{topic="schd"} 0.0',
    },
    "api": {"msgx_service_ready 1.0"},
}
XML = {"content-type": "text/xml"}


@pytest.fixture
def topics(line: Line, kafka_bootstrap: str, kafka_prefix: str) -> Any:
    """Both topics, as the dispatcher wants them."""
    given = settings(line.places.dsn, kafka_bootstrap, kafka_prefix)
    make_topics(given)
    return given


@pytest.fixture
def gateway(line: Line, topics: Any) -> Iterator[dict[str, Process]]:
    """Every service as a process, serving."""
    with ExitStack() as stack:
        processes = {}
        for name in ("intake", "processor", "refdata", "dispatcher", "api"):
            variables = environment(line.places) | {
                "MSGX_DATABASE__DSN": make_conninfo(line.places.dsn, user=f"msgx_{name}"),
                "MSGX_KAFKA__BOOTSTRAP": topics.kafka.bootstrap,
                "MSGX_KAFKA__PREFIX": topics.kafka.prefix,
                "MSGX_HTTP__BIND": "127.0.0.1:0",
                "MSGX_TELEMETRY__METRICS_BIND": "127.0.0.1:0",
                "MSGX_TELEMETRY__PERIOD": "PT0.2S",
            }
            processes[name] = stack.enter_context(running(name, **variables))
        for process in processes.values():
            process.wait_for_health("SERVING")
        yield processes


def values(seen: list[Seen]) -> list[Any]:
    return [None if one.value is None else json.loads(one.value) for one in seen]


@pytest.mark.covers("US-01", "US-02", "US-03", "US-04", "INV-7", "INV-24", "R28", "R30")
@pytest.mark.covers("B104", "OPS-1")
def test_one_update_goes_all_the_way_and_every_service_ends_cleanly(
    line: Line, topics: Any, gateway: dict[str, Process]
) -> None:
    door = f"http://127.0.0.1:{gateway['api'].logged('listens')[0]['http']}"
    with httpx.Client(base_url=door, timeout=PATIENCE_SECONDS) as client:
        texts = adft(fltr("1", "<FLNO>CA1</FLNO>")), stand("101", "1")

        answers = [
            client.post("/cminmsgs/send", content=text.encode(), headers=XML) for text in texts
        ]

        assert [answer.status_code for answer in answers] == [200, 200]
        marked = "SELECT count(*) FROM proc_state WHERE backfill_at IS NOT NULL"
        until(lambda: line.one(marked) == 2, "both messages are finished and marked")
        sent = "SELECT count(*) FROM msg_event WHERE state = 'SENT'"
        until(lambda: line.one(sent) == 3, "two changes and the latest state are sent")
        shown = client.get("/all/flights").json()["body"]

    rows = line.rows("SELECT msg_id, state FROM proc_state ORDER BY msg_id")
    assert [row["state"] for row in rows] == ["SUCCEEDED", "SUCCEEDED"]
    with line.upstream.cursor() as cursor:
        cursor.execute("SELECT CMINMSGS_ID, CMINMSGS_DATE_PROCESSED IS NOT NULL FROM CMINMSGS")
        assert list(cursor.fetchall()) == [(row["msg_id"], 1) for row in rows]
    assert shown == [line.shown()["1"]]
    assert shown[0]["STND"] == "101"
    changes = consume(topics, Target.MSG)
    assert [one.key for one in changes] == ["1", "1"]
    assert [value["KIND"] for value in values(changes)] == ["CREATED", "CHANGED"]
    assert values(changes)[1]["CHANGES"] == {"STND": "101"}
    assert values(consume(topics, Target.SCHD))[-1] == shown[0]
    line.agree()
    for name, wanted in FIGURES.items():
        gateway[name].wait_for_figures(wanted)

    for process in gateway.values():
        process.child.terminate()
    assert {process.ended() for process in gateway.values()} == {0}
    for name, process in gateway.items():
        assert process.logged("stopped"), name
        assert not process.logged("loop fault"), name
        assert "msgx:msgx@" not in "\n".join(process.lines), name
