"""`GET /all/flights` on a real Redis: the whole projection or an error (INV-24, US-12)."""

import threading
from contextlib import closing
from datetime import timedelta

import httpx
import pytest

from msgx.domain.failure import Away
from msgx.projection.read import Incomplete, Reader
from msgx.projection.write import Field, Projection
from msgx.settings import Redis as RedisSettings
from tests.integration.api.conftest import HandmadeProjection
from tests.support import patient
from tests.support.api import api_settings, serving
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.redis

SOON = timedelta(seconds=0.5)

FLIGHTS = {
    "71": '{"FLID":"71","FLNO":"MU5101","REMC":"延误 𠜎"}',
    "72": '{"FLID":"72","FLNO":"CA1883","MAFL":[{"FLID":"73"}]}',
}


def generation(name: str, flights: int = 900) -> dict[str, str]:
    """Return a whole projection whose flights all carry `name`."""
    return {
        str(flid): f'{{"FLID":"{flid}","REMC":"{name * 40}"}}' for flid in range(1, flights + 1)
    }


@pytest.mark.covers("INV-24", "US-12", "C-11", "R30")
def test_every_flight_of_a_complete_projection_is_returned(
    projection: HandmadeProjection, viewer: httpx.Client
) -> None:
    projection.complete(FLIGHTS)

    answer = viewer.get("/all/flights")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == (
        f'{{"code":0,"message":"ok","body":[{FLIGHTS["71"]},{FLIGHTS["72"]}]}}'.encode()
    )


@pytest.mark.covers("INV-24")
def test_a_complete_projection_of_no_flight_is_an_empty_list(
    projection: HandmadeProjection, viewer: httpx.Client
) -> None:
    projection.complete({})

    answer = viewer.get("/all/flights")

    assert (answer.status_code, answer.json()["body"]) == (200, [])


@pytest.mark.covers("INV-24", "R15")
@pytest.mark.parametrize("epoch", [None, "0123456789abcdef:1", "{run_id}:0", "{run_id}"])
def test_flights_that_no_epoch_vouches_for_are_an_error_and_never_a_list(
    projection: HandmadeProjection, viewer: httpx.Client, epoch: str | None
) -> None:
    projection.complete(FLIGHTS)
    if epoch is None:
        projection.client.delete(projection.keys.epoch)
    else:
        projection.client.set(projection.keys.epoch, epoch.format(run_id=projection.run_id))

    answer = viewer.get("/all/flights")

    assert answer.status_code == 503
    assert answer.json()["body"] is None
    assert "not complete" in answer.json()["message"]


@pytest.mark.covers("INV-24", "R15")
def test_after_a_flush_the_answer_is_an_error_until_the_rebuild_is_complete(
    projection: HandmadeProjection, viewer: httpx.Client
) -> None:
    projection.complete(FLIGHTS)
    projection.client.flushdb()
    flushed = viewer.get("/all/flights")
    projection.client.hset(projection.keys.flights, "71", FLIGHTS["71"])
    filling = viewer.get("/all/flights")
    projection.complete(FLIGHTS)

    rebuilt = viewer.get("/all/flights")

    assert [flushed.status_code, filling.status_code, rebuilt.status_code] == [503, 503, 200]
    assert len(rebuilt.json()["body"]) == 2


@pytest.mark.covers("INV-24")
def test_a_redis_that_is_away_is_an_error() -> None:
    with (
        serving(api_settings()) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        answer = client.get("/all/flights")

    assert (answer.status_code, answer.json()) == (
        503,
        {"code": 503, "message": "Redis does not answer", "body": None},
    )


@pytest.mark.covers("INV-24")
def test_a_redis_that_hangs_is_an_error_and_serves_again_afterwards(
    own_redis_url: str,
) -> None:
    projection = HandmadeProjection(own_redis_url)
    with (
        closing(projection.client),
        serving(api_settings(redis=own_redis_url, redis_timeout=SOON)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        projection.complete(FLIGHTS)
        until(lambda: client.get("/all/flights").status_code == 200, "Redis answers")
        projection.client.client_pause(600_000, all=False)  # writes, and scripts that may write

        hanging = client.get("/all/flights")

        projection.client.client_unpause()
        until(lambda: client.get("/all/flights").status_code == 200, "Redis answers again")
    assert hanging.status_code == 503


@pytest.mark.covers("B88", "INV-24", "R15")
def test_a_refresh_of_900_flights_shows_the_old_or_the_new_set_to_everyone(
    projection: HandmadeProjection, viewer: httpx.Client
) -> None:
    sets = [generation("old"), generation("new")]
    versions = dict.fromkeys(sets[0], 1)
    first_is_there, end = threading.Event(), threading.Event()

    def refresh() -> None:
        settings = RedisSettings.model_validate(
            {"url": projection.url, "timeout": patient.PATIENT}
        )
        with closing(Projection(settings, "test")) as writer:
            while not end.is_set():
                for flights in sets:
                    shown = (Field(flid, 1, text) for flid, text in flights.items())
                    writer.replace(shown, versions, term=1)
                first_is_there.set()

    answers: list[httpx.Response] = []
    seen: set[frozenset[str]] = set()

    def poll() -> bool:
        answers.append(viewer.get("/all/flights"))
        shown = answers[-1].json()["body"] or [{"REMC": "nothing"}]
        seen.add(frozenset(flight["REMC"] for flight in shown))
        return len(answers) >= 30 and len(seen) >= 2

    refreshing = threading.Thread(target=refresh)
    refreshing.start()
    try:
        assert first_is_there.wait(PATIENCE_SECONDS)
        until(poll, "both sets were seen")
    finally:
        end.set()
        refreshing.join()

    assert {answer.status_code for answer in answers} == {200}
    assert seen == {frozenset({"old" * 40}), frozenset({"new" * 40})}
    assert {len(answer.json()["body"]) for answer in answers} == {900}


@pytest.mark.covers("INV-24")
def test_readiness_is_a_complete_projection_and_life_is_not(
    projection: HandmadeProjection, viewer: httpx.Client
) -> None:
    incomplete = viewer.get("/readyz")
    alive = viewer.get("/healthz")
    projection.complete({})

    complete = viewer.get("/readyz")

    assert [incomplete.status_code, alive.status_code, complete.status_code] == [503, 200, 200]


def reader(url: str) -> Reader:
    """Return a reader that waits long for an answer."""
    settings = RedisSettings.model_validate({"url": url, "timeout": patient.PATIENT})
    return Reader(settings, connections=2)


@pytest.mark.covers("R15")
def test_the_same_projection_reads_the_same_whatever_the_order_of_writing(
    projection: HandmadeProjection,
) -> None:
    flights = generation("x", 300)
    with closing(reader(projection.url)) as reading:
        projection.complete(flights)
        first = reading.read_all()
        projection.complete(dict(reversed(flights.items())))

        second = reading.read_all()

    assert first == second
    assert len(first) == 300


@pytest.mark.covers("R15")
def test_a_probe_judges_as_a_read_does(projection: HandmadeProjection) -> None:
    with closing(reader(projection.url)) as reading:
        with pytest.raises(Incomplete):
            reading.probe()
        projection.complete(FLIGHTS)
        reading.probe()
        projection.client.delete(projection.keys.epoch)
        with pytest.raises(Incomplete):
            reading.read_all()


@pytest.mark.covers("R15", "B91")
def test_a_key_of_another_kind_is_a_refusal_not_a_list(
    projection: HandmadeProjection,
) -> None:
    projection.complete({})
    projection.client.set(projection.keys.flights, "no hash")

    with closing(reader(projection.url)) as reading, pytest.raises(Away, match="refuses"):
        reading.read_all()
