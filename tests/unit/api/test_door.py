"""Limits before the routes, and what a client is told of a fault."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from msgx.domain.failure import Away, ErrorClass, Fault
from services.api.door import Door, Gate
from services.api.errors import Busy, answer


def scope(path: str) -> Scope:
    """Return a request's scope."""
    return {"type": "http", "path": path, "method": "GET", "headers": []}


async def nothing() -> Message:
    """Receive nothing more."""
    return {"type": "http.disconnect"}


async def ask(door: Door, path: str) -> list[Message]:
    """Return what the door sends for a request to `path`."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await door(scope(path), nothing, send)
    return sent


def status(sent: list[Message]) -> int:
    """Return the status of an answer."""
    return int(sent[0]["status"])


def blocking(release: asyncio.Event) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """Return an application that answers once `release` is set; /healthz at once."""

    async def app(given: Scope, receive: Receive, send: Send) -> None:
        if given["path"] != "/healthz":
            await release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


def test_a_full_house_refuses_all_but_the_question_whether_it_is_up() -> None:
    async def scene() -> tuple[int, int, int, int]:
        release = asyncio.Event()
        door = Door(blocking(release), limit=1)
        first = asyncio.create_task(ask(door, "/all/flights"))
        await asyncio.sleep(0)
        refused = await ask(door, "/all/flights")
        up = await ask(door, "/healthz")
        release.set()
        served = await first
        return status(refused), status(up), status(served), status(await ask(door, "/x"))

    assert asyncio.run(scene()) == (503, 200, 200, 200)


def test_an_unexpected_fault_tells_the_client_nothing_of_itself() -> None:
    async def app(given: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("a secret")

    sent = asyncio.run(ask(Door(app, limit=1), "/all/flights"))

    body = json.loads(sent[1]["body"])
    assert (status(sent), body["code"], body["body"]) == (500, 500, None)
    assert "secret" not in body["message"]


def test_a_fault_after_the_answer_began_adds_nothing_to_it() -> None:
    async def app(given: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError

    sent = asyncio.run(ask(Door(app, limit=1), "/all/flights"))

    assert [message["type"] for message in sent] == ["http.response.start"]


def test_a_place_is_given_back_and_who_finds_none_is_sent_away() -> None:
    async def scene() -> str:
        gate = Gate(1, seconds=0.01)
        async with gate.place():
            with pytest.raises(Busy):
                async with gate.place():
                    pass
        async with gate.place():
            return "served"

    assert asyncio.run(scene()) == "served"


@pytest.mark.covers("R27")
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Fault(ErrorClass.MALFORMED, "text"), 400),
        (Fault(ErrorClass.PROTOCOL, "text"), 400),
        (Fault(ErrorClass.TOO_LARGE, "text"), 413),
        (Away("text"), 503),
        (Fault(ErrorClass.PROCESSING, "text"), 500),
        (ValueError("text"), 500),
    ],
)
def test_each_class_has_its_status_and_only_a_defect_keeps_its_words(
    error: Exception, expected: int
) -> None:
    response = answer(error)

    body = json.loads(bytes(response.body))
    assert (response.status_code, body["code"]) == (expected, expected)
    assert (body["message"] == "text") == (expected != 500)
