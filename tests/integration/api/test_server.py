"""The server's own manners: envelopes for everything, patience with limits, nothing told of
itself."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPResponse
from urllib.parse import urlsplit

import httpx
import pytest

from tests.integration.api.conftest import HandmadeProjection
from tests.support.api import api_settings, serving
from tests.support.waiting import PATIENCE_SECONDS, until


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An api whose servers are away."""
    with serving(api_settings()) as url:
        yield url


def connect(url: str, *, receives: int = 65536) -> socket.socket:
    """Open a raw connection whose kernel takes about `receives` bytes by itself."""
    where = urlsplit(url)
    raw = socket.socket()
    raw.settimeout(PATIENCE_SECONDS)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    raw.connect((where.hostname, where.port))
    return raw


@pytest.mark.covers("R27")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/all/flights/", 404),
        ("GET", "/docs", 404),
        ("GET", "/%2e%2e/etc/passwd", 404),
        ("POST", "/all/flights", 405),
        ("GET", "/cminmsgs/send", 405),
        ("BREW", "/healthz", 405),
    ],
)
def test_an_unknown_route_or_method_is_an_envelope(
    url: str, method: str, path: str, status: int
) -> None:
    answer = httpx.request(method, url + path, trust_env=False)

    assert answer.status_code == status
    assert answer.json().keys() == {"code", "message", "body"}
    assert (answer.json()["code"], answer.json()["body"]) == (status, None)
    assert ("allow" in answer.headers) == (status == 405)


def test_no_answer_names_the_server_or_may_be_cached(url: str) -> None:
    headers = httpx.get(f"{url}/healthz", trust_env=False).headers

    assert "server" not in headers
    assert headers["cache-control"] == "no-store"


def test_what_is_no_http_is_an_envelope_too(url: str) -> None:
    with connect(url) as raw:
        raw.sendall(b"GARBAGE\r\n\r\n")
        answer = HTTPResponse(raw)
        answer.begin()
        body = answer.read()

    assert answer.status == 400
    assert body == b'{"code":400,"message":"the request is not valid HTTP","body":null}'


def test_clients_that_never_finish_a_head_are_cut_off() -> None:
    first = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    starts = [b"", b"GET /healthz HTT", b"GET /healthz HTTP/1.1\r\nHost", first + b"GET /he"]
    with serving(api_settings(http={"timeout": "PT1S"})) as url, ExitStack() as stack:
        clients = [stack.enter_context(connect(url)) for _ in starts]
        for client, start in zip(clients, starts, strict=True):
            with suppress(OSError):  # it may be cut off before
                client.sendall(start)

        assert all(ended(client) for client in clients)


@pytest.mark.redis
def test_a_client_that_does_not_take_its_answer_is_cut_off(
    projection: HandmadeProjection,
) -> None:
    text = "x" * 4000
    projection.complete({str(n): f'{{"FLID":"{n}","REMC":"{text}"}}' for n in range(2000)})
    settings = api_settings(redis=projection.url, http={"timeout": "PT1S"})
    with serving(settings) as url, ExitStack() as stack:
        clients: list[socket.socket] = []

        def answer_has_begun() -> bool:
            """A client that is too slow to ask is cut off, and has to come again."""
            clients.append(stack.enter_context(connect(url, receives=4096)))
            with suppress(OSError):
                clients[-1].sendall(b"GET /all/flights HTTP/1.1\r\nHost: x\r\n\r\n")
                return clients[-1].recv(1) == b"H"
            return False

        until(answer_has_begun, "the answer begins")
        taken = drained_after_the_cut(url, clients[-1])

    assert 0 < taken < 2000 * len(text)


def ended(raw: socket.socket) -> bool:
    """Read until the other side ends the connection."""
    try:
        while raw.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def drained_after_the_cut(url: str, raw: socket.socket) -> int:
    """Take nothing until another connection that says nothing was cut, twice; then take what
    is left and return its size."""
    for _ in range(3):
        with connect(url) as other:
            assert ended(other)
    taken = 0
    try:
        while piece := raw.recv(65536):
            taken += len(piece)
    except ConnectionResetError:
        pass
    return taken
