"""Asking the AODB over HTTP: what is registered, what is shown, what is refused (C-8, R27,
R33)."""

from collections.abc import Iterator
from typing import Any, Final

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from msgx.domain.requests import RequestState
from tests.support.api import api_settings, serving
from tests.support.servers import postgres
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = [pytest.mark.pg]

JSON: Final = {"content-type": "application/json"}
WAITING: Final = "SELECT count(*) FROM req_track"


@pytest.fixture(scope="module")
def dsn(postgres_url: str, pg_template: str) -> Iterator[str]:
    with postgres.database(postgres_url, copy_of=pg_template) as dsn:
        yield dsn


@pytest.fixture(scope="module")
def client(dsn: str) -> Iterator[httpx.Client]:
    """A client of an api that comes as its own role; Redis and the mailbox are away."""
    with (
        serving(api_settings(database=make_conninfo(dsn, user="msgx_api"))) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        yield client


@pytest.fixture
def pg(dsn: str) -> Iterator["psycopg.Connection[Any]"]:
    """The database, without requests."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("TRUNCATE req_track")
        yield conn


def registered(client: httpx.Client, path: str, told: Any) -> int:
    answer = client.post(path, json=told)
    assert answer.status_code == 202, answer.text
    assert answer.json()["message"] == "ok"
    return int(answer.json()["body"])


@pytest.mark.covers("US-09", "C-8", "R27")
def test_a_sync_registers_a_day_plan_and_says_its_number(
    client: httpx.Client, pg: "psycopg.Connection[Any]"
) -> None:
    number = registered(
        client, "/schd/sync", {"startDate": "2026-06-15 12:30 AM", "endDate": "2026-06-16"}
    )

    row = pg.execute(
        "SELECT req_type, req_styp, state, registered_by,"
        " begin_at AT TIME ZONE 'Asia/Shanghai', end_at AT TIME ZONE 'Asia/Shanghai'"
        " FROM req_track WHERE req_id = %s",
        (number,),
    ).fetchone()
    assert row is not None
    assert [str(one) for one in row] == [
        "RQFD", "NONE", "PENDING", "api", "2026-06-15 00:30:00", "2026-06-16 23:59:00",
    ]  # fmt: skip


@pytest.mark.covers("US-09", "R33")
@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            {"type": "RQFD", "startDate": "2026-06-15", "endDate": "2026-06-15"},
            {"styp": "NONE", "startDate": "2026-06-15T00:00:00+08:00"},
        ),
        ({"type": "RQRD", "category": "GLST"}, {"styp": "GLST", "rtyp": None}),
        (
            {"type": "RQRD", "category": "RSTA", "rtyp": "GATE"},
            {"styp": "RSTA", "rtyp": "GATE"},
        ),
    ],
)
def test_both_kinds_are_registered_and_shown(
    client: httpx.Client,
    pg: "psycopg.Connection[Any]",
    told: dict[str, str],
    expected: dict[str, str | None],
) -> None:
    number = registered(client, "/api/v1/requests", told)

    shown = client.get(f"/api/v1/requests/{number}").json()["body"]

    expected = expected | {"type": told["type"], "state": "PENDING", "answer": None}
    assert {key: shown[key] for key in expected} == expected
    assert shown["sentAt"] is None
    assert shown["id"] == number


@pytest.mark.covers("US-09", "R27")
@pytest.mark.parametrize(
    ("path", "told", "words"),
    [
        ("/schd/sync", {"startDate": "2026-06-15 12:30", "endDate": "2026-06-16"}, "AM or PM"),
        (
            "/schd/sync",
            {"startDate": "2026-06-16", "endDate": "2026-06-15"},
            "before the begin",
        ),
        ("/schd/sync", {"startDate": "2026-06-16", "endDate": "2029-06-15"}, "days are asked"),
        (
            "/schd/sync",
            {"startDate": "tomorrow", "endDate": "2026-06-16"},
            "startDate is none of: a date YYYY-MM-DD, ",
        ),
        (
            "/schd/sync",
            {"startDate": "2026-06-15", "endDate": "2026-06-31"},
            "endDate is out of range",
        ),
        ("/schd/sync", {"startDate": "2026-06-16"}, "endDate"),
        ("/schd/sync", {"startDate": 5, "endDate": "2026-06-15"}, "startDate"),
        ("/schd/sync", [], "the body"),
        ("/api/v1/requests", {"type": "FLOP"}, "FLOP"),
        ("/api/v1/requests", {"type": "RQRD", "category": "ABDG"}, "category"),
        ("/api/v1/requests", {"type": "RQRD", "category": "GLST", "rtyp": "GATE"}, "RSTA"),
        ("/api/v1/requests", {"type": "RQRD", "category": "GLST", "more": 1}, "more"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason_and_not_registered(
    client: httpx.Client, pg: "psycopg.Connection[Any]", path: str, told: Any, words: str
) -> None:
    answer = client.post(path, json=told)

    assert answer.status_code == 400, answer.text
    assert words in answer.json()["message"]
    assert answer.json()["body"] is None
    assert pg.execute(WAITING).fetchone() == (0,)


@pytest.mark.covers("R27", "B103")
@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"", JSON, 400),
        (b"{", JSON, 400),
        (b'{"startDate": "\xff"}', JSON, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b'{"startDate": "' + b"x" * 5000, JSON, 413),
    ],
)
def test_a_body_that_is_none_or_too_long_is_refused(
    client: httpx.Client, content: bytes, headers: dict[str, str], status: int
) -> None:
    assert client.post("/schd/sync", content=content, headers=headers).status_code == status


@pytest.mark.covers("US-09")
def test_the_list_is_bounded_filtered_and_goes_on_where_it_ended(
    client: httpx.Client, pg: "psycopg.Connection[Any]"
) -> None:
    wanted = {"type": "RQRD", "category": "GLST"}
    numbers = [registered(client, "/api/v1/requests", wanted) for _ in range(3)]
    registered(client, "/schd/sync", {"startDate": "2026-06-15", "endDate": "2026-06-15"})

    def page(**query: Any) -> list[int]:
        answer = client.get("/api/v1/requests", params=query)
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["body"]]

    assert page(styp="GLST", limit=2) == numbers[:0:-1]
    assert page(styp="GLST", before=numbers[1]) == numbers[:1]
    assert page(type="RQFD", state=RequestState.SENT.value) == []
    assert client.get("/api/v1/requests", params={"limit": 501}).status_code == 400
    assert client.get("/api/v1/requests", params={"state": "LOST"}).status_code == 400
    assert client.get(f"/api/v1/requests/{max(numbers) + 99}").status_code == 404


@pytest.mark.covers("US-09", "R27")
def test_too_many_waiting_requests_are_refused(
    client: httpx.Client, pg: "psycopg.Connection[Any]"
) -> None:
    pg.execute(
        "INSERT INTO req_track (req_type, req_styp, registered_at, registered_by, state_since)"
        " SELECT 'RQRD', 'GLST', now(), 'test', now() FROM generate_series(1, 100)"
    )

    answer = client.post("/api/v1/requests", json={"type": "RQRD", "category": "BLST"})

    assert (answer.status_code, answer.json()["body"]) == (503, None)


def test_a_connection_that_the_server_has_ended_costs_no_request(
    client: httpx.Client, pg: "psycopg.Connection[Any]"
) -> None:
    assert client.get("/api/v1/requests").status_code == 200
    of_api = "FROM pg_stat_activity WHERE usename = 'msgx_api' AND datname = current_database()"
    ended = pg.execute(f"SELECT pg_terminate_backend(pid) {of_api}").fetchall()
    until(lambda: not pg.execute(f"SELECT {of_api}").fetchall(), "it is gone")

    answer = client.get("/api/v1/requests")

    assert (len(ended) > 0, answer.status_code) == (True, 200)


@pytest.mark.covers("US-09", "INV-24")
def test_without_postgresql_only_requests_are_refused() -> None:
    with (
        serving(api_settings()) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        days = {"startDate": "2026-06-15", "endDate": "2026-06-15"}

        assert client.post("/schd/sync", json=days).status_code == 503
        assert client.get("/api/v1/requests/1").status_code == 503
        assert "PostgreSQL" in client.get("/api/v1/requests").json()["message"]
        assert client.get("/healthz").status_code == 200
