"""`POST /cminmsgs/send` on a real mailbox: a whole good message lands, anything else leaves no
row (US-02, C-7)."""

import socket
from collections.abc import Iterator
from datetime import datetime
from http.client import HTTPException, HTTPResponse
from urllib.parse import urlsplit

import httpx
import pytest

from tests.integration.api.conftest import Inbox
from tests.support.api import api_settings, serving
from tests.support.servers import mysql
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.mysql

SEND = "/cminmsgs/send"
XML = {"content-type": "text/xml"}
MESSAGE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    "<MSG><META><SNDR>FLOP</SNDR><SEQN>1</SEQN><DTTM>20261130120000</DTTM>"
    "<TYPE>FLOP</TYPE><STYP>REMC</STYP></META>"
    "<FLOP><FLID>71</FLID><REMC>延误 𠜎 🛫</REMC></FLOP></MSG>\n"
)
BOMB = (
    '<!DOCTYPE b [<!ENTITY a "'
    + "x" * 100
    + '">'
    + "".join(f'<!ENTITY a{n} "{"&a;" * 20}">' for n in range(3))
    + "]><MSG>&a2;</MSG>"
)


@pytest.mark.covers("US-02", "C-7", "R27", "INV-2b")
@pytest.mark.parametrize(
    "media",
    [
        "text/xml",
        "application/xml",
        "text/plain",
        "text/xml; charset=utf-8",
        'Application/XML;charset="UTF-8"',
        "text/plain ; charset=utf8",
    ],
)
def test_a_message_of_each_media_type_lands_under_the_returned_id(
    sender: httpx.Client, inbox: Inbox, media: str
) -> None:
    answer = sender.post(SEND, content=MESSAGE.encode(), headers={"content-type": media})

    (landed,) = inbox.texts()
    assert (answer.status_code, answer.json()) == (
        200,
        {"code": 0, "message": "ok", "body": landed},
    )
    assert inbox.texts() == {landed: MESSAGE}


@pytest.mark.covers("US-02", "INV-1")
def test_a_landed_row_looks_like_the_adapters_and_is_not_processed(
    sender: httpx.Client, inbox: Inbox
) -> None:
    sender.post(SEND, content=MESSAGE.encode(), headers=XML)

    ((received, mark),) = inbox.execute(
        "SELECT CMINMSGS_DATE_RECEIVED, CMINMSGS_DATE_PROCESSED FROM CMINMSGS"
    )
    assert isinstance(received, datetime)
    assert mark is None


@pytest.mark.covers("C-7")
def test_the_same_message_sent_twice_lands_twice_since_identity_is_judged_later(
    sender: httpx.Client, inbox: Inbox
) -> None:
    ids = [
        sender.post(SEND, content=MESSAGE.encode(), headers=XML).json()["body"]
        for _ in range(2)
    ]

    assert sorted(inbox.texts()) == sorted(set(ids))
    assert len(set(ids)) == 2


@pytest.mark.covers("B81", "R26")
@pytest.mark.parametrize("before", ["\ufeff", "\n", " \r\n\t", "\ufeff\n"])
def test_a_bom_and_blanks_before_the_declaration_are_dropped(
    sender: httpx.Client, inbox: Inbox, before: str
) -> None:
    answer = sender.post(SEND, content=(before + MESSAGE).encode(), headers=XML)

    assert answer.status_code == 200
    assert list(inbox.texts().values()) == [MESSAGE]


@pytest.mark.covers("B56")
def test_a_column_that_cannot_hold_the_text_refuses_it_whole(mailbox_url: str) -> None:
    inbox = Inbox(mailbox_url)
    inbox.execute(
        "ALTER TABLE CMINMSGS MODIFY CMINMSGS_CLOB_MSG"
        " MEDIUMTEXT CHARACTER SET utf8mb3 NOT NULL"
    )
    settings = api_settings(mailbox=mailbox_url)
    with (
        serving(settings) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        answer = client.post(SEND, content=MESSAGE.encode(), headers=XML)

    assert (answer.status_code, answer.json()["body"]) == (400, None)
    assert inbox.texts() == {}


@pytest.mark.covers("US-02", "R27", "C-7")
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the body is empty"),
        (b" \r\n\t", "the body is empty"),
        (b"\xef\xbb\xbf\n", "the body is empty"),
        (b"no xml at all", "line 1, column"),
        (b"<MSG>\n<META>\n</MSG>", "line 3, column"),
        (b"<MSG/><MSG/>", "line 1, column"),
        (b"<MSG>\x08</MSG>", "forbidden character 0x08 at line 1, column 6"),
        (b"<MSG>\x00</MSG>", "forbidden character 0x00 at line 1, column 6"),
        (b"<MSG>\xff\xfe</MSG>", "no UTF-8 at byte 6"),
        (b"<MSG>&nbsp;</MSG>", "entity"),
    ],
)
def test_what_is_empty_or_malformed_says_where_and_leaves_no_row(
    sender: httpx.Client, inbox: Inbox, content: bytes, says: str
) -> None:
    answer = sender.post(SEND, content=content, headers=XML)

    assert (answer.status_code, answer.json()["code"], answer.json()["body"]) == (
        400,
        400,
        None,
    )
    assert says in answer.json()["message"]
    assert inbox.texts() == {}


@pytest.mark.covers("B76", "B77", "R26", "C-7")
@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE MSG [<!ENTITY h SYSTEM "file:///etc/hostname">]><MSG>&h;</MSG>',
        '<!DOCTYPE MSG SYSTEM "http://127.0.0.1:9/x.dtd"><MSG/>',
        BOMB,
    ],
    ids=["file", "network", "bomb"],
)
def test_a_doctype_is_refused_and_leaves_no_row(
    sender: httpx.Client, inbox: Inbox, content: str
) -> None:
    answer = sender.post(SEND, content=content.encode(), headers=XML)

    assert answer.status_code == 400
    assert "DOCTYPE at line 1, column 1" in answer.json()["message"]
    assert inbox.texts() == {}


@pytest.mark.covers("B78", "R26", "R27")
@pytest.mark.parametrize("encoding", ["GBK", "gb2312", "GB18030", "ISO-8859-1", "UTF-16"])
def test_another_declared_encoding_is_refused_the_same_everywhere(
    sender: httpx.Client, inbox: Inbox, encoding: str
) -> None:
    content = MESSAGE.replace("UTF-8", encoding).replace(" 𠜎 🛫", "")
    bytes_of_it = content.encode(encoding, "replace")

    answer = sender.post(SEND, content=bytes_of_it, headers=XML)

    assert (answer.status_code, answer.json()["code"]) == (415, 415)
    assert inbox.texts() == {}


@pytest.mark.covers("R27", "C-7")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "application/json"},
        {"content-type": "text/html"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "text/xml; charset=gbk"},
        {"content-type": "text/plain; charset="},
        {"content-type": "text/xml", "content-encoding": "gzip"},
    ],
)
def test_another_media_type_or_charset_is_refused(
    sender: httpx.Client, inbox: Inbox, headers: dict[str, str]
) -> None:
    answer = sender.post(SEND, content=MESSAGE.encode(), headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (415, 415)
    assert inbox.texts() == {}


def padded(size: int) -> bytes:
    """Return a well-formed message of exactly `size` bytes."""
    return b"<MSG>" + b" " * (size - 11) + b"</MSG>"


@pytest.mark.covers("R27", "C-7")
def test_the_limit_is_the_last_size_that_lands(sender: httpx.Client, inbox: Inbox) -> None:
    answers = [
        sender.post(SEND, content=padded(size), headers=XML).status_code
        for size in (4096, 4097)
    ]

    assert answers == [200, 413]
    assert len(inbox.texts()) == 1


@pytest.mark.covers("B103", "R27")
def test_a_body_without_a_length_is_counted_while_it_arrives(
    sender: httpx.Client, inbox: Inbox
) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"<MSG>"
        for _ in range(64):
            yield b" " * 1024
        yield b"</MSG>"

    answer = sender.post(SEND, content=pieces(), headers=XML)

    assert (answer.status_code, answer.json()["message"]) == (
        413,
        "the body is longer than 4096 bytes",
    )
    assert inbox.texts() == {}


def exchange(sender: httpx.Client, request: bytes) -> tuple[int, bytes]:
    """Send raw bytes and return the first answer: status and body."""
    where = urlsplit(str(sender.base_url))
    with socket.create_connection(
        (where.hostname, where.port), timeout=PATIENCE_SECONDS
    ) as raw:
        raw.sendall(request)
        answer = HTTPResponse(raw)
        answer.begin()
        return answer.status, answer.read()


def head(length: int) -> bytes:
    """Return the head of a request that declares `length`."""
    return (
        f"POST {SEND} HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.covers("B103")
def test_a_declared_length_over_the_limit_is_refused_before_the_body(
    sender: httpx.Client, inbox: Inbox
) -> None:
    status, _ = exchange(sender, head(10**12) + b"<MSG>")

    assert status == 413
    assert inbox.texts() == {}


@pytest.mark.covers("B103")
def test_a_declared_length_that_is_too_small_lands_no_cut_message(
    sender: httpx.Client, inbox: Inbox
) -> None:
    status, _ = exchange(sender, head(len(MESSAGE) - 20) + MESSAGE.encode())

    assert status == 400
    assert inbox.texts() == {}


@pytest.mark.covers("B103", "R27")
def test_a_body_that_does_not_arrive_in_time_is_given_up(inbox: Inbox) -> None:
    settings = api_settings(mailbox=inbox.url, http={"timeout": "PT0.3S"})
    with (
        serving(settings) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):

        def is_given_up() -> bool:
            """A machine that stands still before the head is sent is cut off without a word."""
            try:
                status, body = exchange(client, head(1000) + b"<MSG>")
            except (OSError, HTTPException):
                return False
            return status == 408 and b'"code":408' in body

        until(is_given_up, "the body is given up in words")

    assert inbox.texts() == {}


def test_a_client_that_leaves_halfway_lands_nothing(sender: httpx.Client, inbox: Inbox) -> None:
    where = urlsplit(str(sender.base_url))
    with socket.create_connection(
        (where.hostname, where.port), timeout=PATIENCE_SECONDS
    ) as raw:
        raw.sendall(head(len(MESSAGE.encode())) + MESSAGE.encode()[:-1])

    answer = sender.post(SEND, content=b"<NEXT/>", headers=XML)

    assert answer.status_code == 200
    assert list(inbox.texts().values()) == ["<NEXT/>"]


@pytest.mark.covers("US-02", "R27")
def test_a_mailbox_that_is_away_gives_an_error_without_an_id() -> None:
    with (
        serving(api_settings()) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        answer = client.post(SEND, content=MESSAGE.encode(), headers=XML)

    assert (answer.status_code, answer.json()["body"]) == (503, None)


@pytest.mark.covers("US-02")
def test_the_mailbox_serves_again_after_its_connections_were_lost(
    sender: httpx.Client, inbox: Inbox
) -> None:
    sender.post(SEND, content=MESSAGE.encode(), headers=XML)
    mysql.end_sessions(inbox.url)

    until(
        lambda: sender.post(SEND, content=b"<A/>", headers=XML).status_code == 200,
        "a message lands again",
    )

    assert "<A/>" in inbox.texts().values()


@pytest.mark.covers("R50")
def test_a_read_only_gateway_sends_nothing(inbox: Inbox) -> None:
    settings = api_settings(mailbox=inbox.url, read_only=True)
    with (
        serving(settings) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        answer = client.post(SEND, content=MESSAGE.encode(), headers=XML)

    assert answer.status_code == 503
    assert "read-only" in answer.json()["message"]
    assert inbox.texts() == {}
