"""`check` reads the mailbox, the system's tables and its API, and says what differs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import psycopg
import pytest

from tests.aodb import Day, Played, build_day, play
from tests.aodb import __main__ as command
from tests.aodb.model import Flight
from tests.aodb.verify import shown_flights

FLIGHTS = 12
ENDED = (
    "INSERT INTO proc_state (msg_id, state, error_class, last_error, enqueued_at, updated_at,"
    " finished_at, backfill_next_at) VALUES (%s, %s, %s, %s, now(), now(), now(), now())"
)


@contextmanager
def answering(flights: list[Flight]) -> Iterator[str]:
    """A server whose `/all/flights` answers with `flights`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"code": 0, "message": "ok", "body": flights}).encode()
            self.send_response(200 if self.path == "/all/flights" else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def end_all(pg: psycopg.Connection, day: Day, played: Played) -> None:
    """Writes the record that each message should have."""
    with pg.cursor() as cursor:
        for message in day.messages:
            wanted = message.expected
            dead = wanted.state == "DEAD"
            other = "" if wanted.other is None else str(played.ids[wanted.other])
            reason = (
                f"conflicts-with:{other}" if dead else f"{wanted.reason_prefix or ''}{other}"
            )
            error_class = wanted.reason_prefix if dead else None
            row = (played.ids[message.index], wanted.state, error_class, reason)
            cursor.execute(ENDED, row)


@pytest.mark.mysql
@pytest.mark.pg
def test_check_reads_the_ends_of_the_messages(
    mailbox_url: str, pg: psycopg.Connection, pg_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    day = build_day(seed=1, flights=FLIGHTS)
    played = play(day, mailbox_url)
    arguments = ["check", "--flights", str(FLIGHTS), "--mailbox", mailbox_url]
    end_all(pg, day, played)

    assert command.main([*arguments, "--database", pg_dsn]) == 0
    pg.execute("DELETE FROM proc_state WHERE msg_id = %s", (played.ids[5],))
    assert command.main([*arguments, "--database", pg_dsn]) == 1

    told = capsys.readouterr().out
    assert "agree" in told
    assert f"message {played.ids[5]} (planned 5, " in told
    assert "1 differences" in told


def test_check_reads_the_flights_that_the_api_shows(capsys: pytest.CaptureFixture[str]) -> None:
    flights = list(shown_flights(build_day(seed=1, flights=FLIGHTS)).values())
    arguments = ["check", "--flights", str(FLIGHTS), "--api"]

    with answering(flights) as url:
        assert command.main([*arguments, url]) == 0
    with answering(flights[1:]) as url:
        assert command.main([*arguments, url]) == 1

    assert f"flight {flights[0]['FLID']} is missing" in capsys.readouterr().out


@pytest.mark.mysql
def test_check_refuses_a_mailbox_that_lacks_the_day(
    mailbox_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--mailbox", mailbox_url, "--database", "postgresql://nobody@127.0.0.1:1/none"]

    assert command.main(["check", "--flights", str(FLIGHTS), *options]) == 1

    assert "the mailbox holds 0 of " in capsys.readouterr().err
