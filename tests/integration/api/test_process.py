"""The api as a process: health, a graceful end, and what it costs (B103, B104, B105)."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import grpc
import httpx
import pytest

from tests.integration.api.conftest import HandmadeProjection, Inbox
from tests.support.api import NOWHERE, Api, api_settings, running
from tests.support.control import Watch
from tests.support.servers import mysql
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.system

XML = {"content-type": "text/xml"}


@pytest.fixture
def process(redis_url: str, mailbox_url: str) -> Iterator[Api]:
    """A running api on an empty Redis and an empty mailbox."""
    settings = api_settings(redis=redis_url, mailbox=mailbox_url)
    with running(settings) as process:
        yield process


@contextmanager
def watching(process: Api) -> Iterator[Watch]:
    """Yield an open health Watch."""
    with grpc.insecure_channel(process.control) as channel, closing(Watch(channel)) as watch:
        yield watch


@pytest.mark.covers("B105", "B104")
def test_an_idle_api_ends_at_a_signal_with_a_watch_open_and_status_0(process: Api) -> None:
    with watching(process) as watch:
        watch.wait_for("SERVING")

        process.child.terminate()

        watch.wait_for("NOT_SERVING")
        watch.wait_for(None)
        assert process.ended() == 0


@pytest.mark.covers("B104")
def test_a_request_in_work_ends_after_health_said_not_serving(
    process: Api, mailbox_url: str
) -> None:
    answers: list[httpx.Response] = []

    def send() -> None:
        answers.append(
            httpx.post(
                f"{process.url}/cminmsgs/send",
                content=b"<MSG/>",
                headers=XML,
                trust_env=False,
                timeout=PATIENCE_SECONDS,
            )
        )

    inbox = Inbox(mailbox_url)
    request = threading.Thread(target=send)
    with closing(mysql.connect(mailbox_url)) as owner, watching(process) as watch:
        watch.wait_for("SERVING")
        with owner.cursor() as cursor:
            cursor.execute("LOCK TABLES CMINMSGS WRITE")
        request.start()
        until(lambda: inbox_has_a_waiter(inbox), "the insert waits for the table")

        process.child.terminate()
        watch.wait_for("NOT_SERVING")
        with owner.cursor() as cursor:
            cursor.execute("UNLOCK TABLES")

        request.join(PATIENCE_SECONDS)
        assert process.ended() == 0
    (msg_id,) = inbox.texts()
    assert [(answer.status_code, answer.json()["body"]) for answer in answers] == [
        (200, msg_id)
    ]


def inbox_has_a_waiter(inbox: Inbox) -> bool:
    """Say whether an insert into the mailbox waits for a lock."""
    rows = inbox.execute(
        "SELECT STATE FROM information_schema.PROCESSLIST"
        " WHERE DB = DATABASE() AND INFO LIKE '%INSERT INTO CMINMSGS%'"
    )
    return any("lock" in str(state).lower() for (state,) in rows)


@pytest.mark.covers("B103")
def test_a_chunked_gigabyte_is_refused_and_memory_stays_flat(
    process: Api, mailbox_url: str
) -> None:
    piece = b" " * 65536

    def gigabyte() -> Iterator[bytes]:
        yield b"<MSG>"
        for _ in range(2**30 // len(piece)):
            yield piece

    with httpx.Client(
        base_url=process.url, trust_env=False, timeout=PATIENCE_SECONDS
    ) as client:
        client.post("/cminmsgs/send", content=b"<A/>", headers=XML)
        before = process.peak_megabytes()

        answer = client.post("/cminmsgs/send", content=gigabyte(), headers=XML)
        after = process.peak_megabytes()

    assert (answer.status_code, answer.json()["code"]) == (413, 413)
    assert after - before < 16
    assert list(Inbox(mailbox_url).texts().values()) == ["<A/>"]


@pytest.mark.covers("INV-24")
def test_several_apis_serve_at_once(redis_url: str, mailbox_url: str) -> None:
    projection = HandmadeProjection(redis_url)
    settings = api_settings(redis=redis_url, mailbox=mailbox_url)
    with closing(projection.client), running(settings) as one, running(settings) as other:
        projection.complete({"7": '{"FLID":"7"}'})

        answers = [
            httpx.get(f"{process.url}/all/flights", trust_env=False).json()["body"]
            for process in (one, other)
        ]

    assert answers == [[{"FLID": "7"}]] * 2


def test_no_payload_and_no_secret_is_logged(process: Api) -> None:
    httpx.post(
        f"{process.url}/cminmsgs/send",
        content=b"<MSG><REMC>a-passenger</REMC>",
        headers=XML,
        trust_env=False,
    )
    assert process.terminate() == 0
    assert "a-passenger" not in "".join(process.lines)
    assert "://" not in "".join(process.lines)


def test_an_address_in_use_is_one_clear_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        bind = f"127.0.0.1:{other.getsockname()[1]}"
        with running(api_settings(), MSGX_HTTP__BIND=bind) as process:
            assert process.ended() == 1

    assert process.lines == [
        f"the HTTP address {bind} cannot be taken: Address already in use (MSGX_HTTP__BIND)"
    ]


def test_a_setting_that_is_missing_or_of_another_form_is_named_and_not_shown() -> None:
    other = f"http://u:secret@{NOWHERE}"
    with running(api_settings(), MSGX_REDIS__URL="", MSGX_MAILBOX__URL=other) as process:
        assert process.ended() == 1

    assert process.lines[0] == "the configuration is not usable:"
    said = "\n".join(process.lines)
    assert "MSGX_REDIS__URL" in said
    assert "MSGX_MAILBOX__URL: must look like" in said
    assert "secret" not in said
