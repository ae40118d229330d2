"""`msgxctl send`: through the api, into the mailbox."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from msgxctl.failure import Status
from tests.support.api import api_settings, serving
from tests.support.ctl import ctl, sentence
from tests.support.intake import run

GOOD = "<MSG><META/></MSG>"


@pytest.fixture
def api(mailbox_url: str) -> Iterator[str]:
    with serving(api_settings(mailbox=mailbox_url)) as url:
        yield url


@contextmanager
def answering(answer: bytes | None) -> Iterator[str]:
    """Serve one connection: `answer`, or nothing before it is closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                if answer is not None:
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):  # unread, it would undo the answer
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def written(folder: Path, *texts: str) -> list[Path]:
    files = [folder / f"{number}.xml" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


@pytest.mark.mysql
@pytest.mark.covers("C-7", "US-02")
def test_files_land_in_their_order_and_as_they_are(
    tmp_path: Path, api: str, adapter: Any
) -> None:
    files = written(tmp_path, GOOD, "<MSG><META/>二</MSG>")

    done = ctl("--api", api, "send", *files, "--json")

    assert done.status == 0
    ids = [one["msg_id"] for one in done.told]
    assert ids == sorted(ids)
    landed = run(adapter, "SELECT CMINMSGS_CLOB_MSG FROM CMINMSGS ORDER BY CMINMSGS_ID")
    assert [row[0] for row in landed] == [file.read_text() for file in files]


@pytest.mark.mysql
@pytest.mark.covers("US-02")
def test_a_refused_file_does_not_stop_the_others_and_the_status_is_1(
    tmp_path: Path, api: str, adapter: Any
) -> None:
    files = written(tmp_path, GOOD, "<MSG>", GOOD)

    done = ctl("--api", api, "send", *files)

    assert done.status == Status.FAILED
    assert "(400)" in done.out
    assert sentence(done) == "1 of 3 messages did not land"
    assert len(run(adapter, "SELECT 1 FROM CMINMSGS")) == 2


@pytest.mark.mysql
def test_standard_input_lands_too(api: str, adapter: Any) -> None:
    done = ctl("--api", api, "send", "-", stdin=GOOD.encode())

    assert done.status == 0
    assert len(run(adapter, "SELECT 1 FROM CMINMSGS")) == 1


@pytest.mark.mysql
def test_a_file_that_cannot_be_read_is_told_before_anything_is_sent(
    tmp_path: Path, api: str, adapter: Any
) -> None:
    (good,) = written(tmp_path, GOOD)

    done = ctl("--api", api, "send", good, tmp_path / "none.xml")

    assert done.status == Status.USAGE
    assert run(adapter, "SELECT 1 FROM CMINMSGS") == []


@pytest.mark.mysql
@pytest.mark.covers("B103")
def test_a_message_that_is_too_large_is_refused_in_the_words_of_the_api(
    tmp_path: Path, api: str, adapter: Any
) -> None:
    files = written(tmp_path, f"<MSG>{'x' * 40_000_000}</MSG>", GOOD)

    done = ctl("--api", api, "send", *files, "--json")

    assert done.status == Status.FAILED
    large, good = done.told
    assert large["error"] == "the body is longer than 1048576 bytes (413)"
    assert [row[0] for row in run(adapter, "SELECT CMINMSGS_ID FROM CMINMSGS")] == [
        good["msg_id"]
    ]


def test_a_file_without_an_end_is_refused_before_anything_is_sent() -> None:
    done = ctl("send", "/dev/zero")

    assert done.status == Status.USAGE
    assert sentence(done) == "the file /dev/zero is longer than any message: 67108864 bytes"


@pytest.mark.parametrize(
    ("url", "status", "words"),
    [
        ("http://127.0.0.1:1", Status.AWAY, "2 of 2 messages did not land"),
        ("ftp://127.0.0.1", Status.USAGE, "must be an http or https URL"),
        ("127.0.0.1:80", Status.USAGE, "must be an http or https URL"),
        ("http://a b", Status.USAGE, "must be an http or https URL"),
        ("http://机场", Status.USAGE, "must be an http or https URL"),
        ("http://a..b", Status.AWAY, "2 of 2 messages did not land"),
    ],
)
def test_an_api_that_is_away_or_no_address_is_one_sentence(
    tmp_path: Path, url: str, status: Status, words: str
) -> None:
    files = written(tmp_path, GOOD, GOOD)

    done = ctl("--api", url, "send", *files)

    assert done.status == status
    assert words in sentence(done)
    assert ("not sent" in done.out) == (status is Status.AWAY)


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (None, Status.AWAY, "may have landed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Status.FAILED, "is not the api"),
        (b"HTTP/1.1 500 \x1b[2J\r\nContent-Length: 1\r\n\r\n{", Status.FAILED, "(500)"),
        (b"SSH-2.0-x\r\n", Status.AWAY, "may have landed"),
    ],
)
def test_what_is_not_the_api_is_told_and_nothing_is_claimed(
    tmp_path: Path, answer: bytes | None, status: Status, words: str
) -> None:
    (file,) = written(tmp_path, GOOD)

    with answering(answer) as url:
        done = ctl("--api", url, "send", file, "--json")

    assert done.status == status
    (one,) = done.told
    assert one["msg_id"] is None
    assert words in one["error"]
