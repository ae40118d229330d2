"""Reference data over HTTP: categories, pages, availability (US-13, R27)."""

from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.support.api import api_settings, serving
from tests.support.servers import postgres
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.pg]

ADD = """
    INSERT INTO ref_master (rtype, rkey, payload, source_msg_id, batch, refreshed_at)
    VALUES (%s, %s, %s, 7, 'AODB|GLST|DNLD|1', '2026-01-05 12:00 Asia/Shanghai')
"""
REFRESHED = "2026-01-05T12:00:00+08:00"
GATES = ["10", "2", "A1", "名"]
CLOSED = {
    "RTYP": "GATE",
    "RSID": "1",
    "STAT": "D",
    "BEGIN": "2026-01-05T12:00:00+08:00",
    "END": "2026-01-05T18:00:00+08:00",
}


@pytest.fixture(scope="module")
def client(postgres_url: str, pg_template: str) -> Iterator[httpx.Client]:
    """A client of an api that comes as its own role; Redis and the mailbox are away."""
    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        psycopg.connect(dsn, autocommit=True) as pg,
        serving(api_settings(database=make_conninfo(dsn, user="msgx_api"))) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        for key in GATES:
            pg.execute(ADD, ("GLST", key, Jsonb({"GCOD": key, "TERM": None})))
        pg.execute(ADD, ("RSTA", "GATE:1", Jsonb(CLOSED)))
        yield client


def body(client: httpx.Client, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.json()["message"] == "ok"
    return answer.json()["body"]


@pytest.mark.covers("US-13", "R27")
def test_every_category_is_counted(client: httpx.Client) -> None:
    found = {one["category"]: one for one in body(client, "/api/v1/reference")}

    assert len(found) == 14
    assert found["AIRL"] == {"category": "AIRL", "records": 0, "last": None}
    assert found["GLST"]["records"] == len(GATES)
    last = {"msgId": 7, "batch": "AODB|GLST|DNLD|1", "refreshedAt": REFRESHED}
    assert found["GLST"]["last"] == last


@pytest.mark.covers("US-13", "R27")
def test_pages_follow_each_other_without_a_gap(client: httpx.Client) -> None:
    keys: list[str] = []
    after: str | None = ""
    while after is not None:
        page = body(client, "/api/v1/reference/GLST", limit=2, after=after)
        keys += [one["key"] for one in page["records"]]
        after = page["next"]

    assert keys == GATES
    (last,) = body(client, "/api/v1/reference/GLST", after="A1")["records"]
    assert last["payload"] == {"GCOD": "名", "TERM": None}
    assert (last["msgId"], last["refreshedAt"]) == (7, REFRESHED)


@pytest.mark.covers("US-13", "INV-26")
@pytest.mark.parametrize(
    ("at", "available"),
    [
        ("2026-01-05T11:59:59.999999", True),
        ("2026-01-05T12:00:00", False),
        ("2026-01-05T12:00:00+08:00", False),
        ("2026-01-05T03:59:59Z", True),
        ("2026-01-05T17:59:59.999999", False),
        ("2026-01-05T18:00:00", True),
    ],
)
def test_a_resource_is_available_outside_its_window(
    client: httpx.Client, at: str, available: bool
) -> None:
    found = body(client, "/api/v1/availability", rtyp="GATE", rsid="1", at=at)

    assert found["available"] is available
    assert found["event"]["payload"] == CLOSED


@pytest.mark.covers("US-13")
def test_now_is_meant_unless_told_and_nothing_said_is_available(client: httpx.Client) -> None:
    found = body(client, "/api/v1/availability", rtyp="STND", rsid="1")

    assert found["available"] is True
    assert found["event"] is None
    assert found["at"].endswith("+08:00")
    unescaped = client.get("/api/v1/availability?rtyp=GATE&rsid=1&at=2026-01-05T12:00:00+08:00")
    assert unescaped.json()["body"]["at"] == "2026-01-05T12:00:00+08:00"


@pytest.mark.covers("R27")
@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/reference/NONE",
        "/api/v1/reference/GLST?limit=0",
        "/api/v1/reference/GLST?limit=1001",
        "/api/v1/reference/GLST?after=%00",
        "/api/v1/availability?rtyp=GATE",
        "/api/v1/availability?rtyp=DOOR&rsid=1",
        "/api/v1/availability?rtyp=GATE&rsid=",
        "/api/v1/availability?rtyp=GATE&rsid=1&at=noon",
        "/api/v1/availability?rtyp=GATE&rsid=1&at=0001-01-01T00:00:00",
        "/api/v1/availability?rtyp=GATE&rsid=1&at=9999-12-31T23:59:59Z",
    ],
)
def test_what_cannot_be_asked_is_refused(client: httpx.Client, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 400, answer.text
    assert answer.json()["body"] is None


@pytest.mark.covers("R27", "INV-24")
def test_a_database_that_is_away_is_said_so_and_stops_nothing_else() -> None:
    with (
        serving(api_settings()) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        assert client.get("/api/v1/reference").status_code == 503
        assert client.get("/healthz").status_code == 200
