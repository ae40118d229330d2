"""The projection's writer: only forward, only under its own term, complete or marked as not."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
import redis
from pydantic import SecretStr

from msgx.domain.failure import Away, Unfit
from msgx.projection.keys import FORMAT
from msgx.projection.read import Reader
from msgx.projection.write import Field, Incomplete, Projection
from msgx.settings import Redis as RedisSettings
from msgx.store.service_term import Deposed

pytestmark = [pytest.mark.redis]

FLIGHTS, VERSIONS, EPOCH, TERM = (
    f"flightInfo{end}" for end in ("", ":versions", ":epoch", ":term")
)


def writer(url: str, *, seconds: float = 60.0) -> "closing[Projection]":
    settings = RedisSettings(url=SecretStr(url), timeout=timedelta(seconds=seconds))
    return closing(Projection(settings, "test"))


@pytest.fixture
def server(redis_url: str) -> Iterator[Any]:
    with closing(redis.Redis.from_url(redis_url, decode_responses=True)) as client:
        yield client


@pytest.fixture
def projection(redis_url: str) -> Iterator[Projection]:
    with writer(redis_url) as one:
        one.replace([], {}, term=5)
        yield one


@pytest.mark.covers("R15", "INV-24", "R30")
def test_a_field_is_shown_and_removed_and_its_version_stays(
    projection: Projection, server: Any
) -> None:
    projection.put([Field("1", 1, "{one}"), Field("2", 4, "{two}")], term=5)
    assert server.hgetall(FLIGHTS) == {"1": "{one}", "2": "{two}"}

    projection.put([Field("2", 5, None)], term=5)

    assert server.hgetall(FLIGHTS) == {"1": "{one}"}
    assert server.hgetall(VERSIONS) == {"1": "1", "2": "5"}


@pytest.mark.covers("R15")
def test_an_older_version_cannot_win_not_even_over_a_removed_flight(
    projection: Projection, server: Any
) -> None:
    projection.put([Field("1", 9, "{new}"), Field("2", 10, None)], term=5)

    projection.put([Field("1", 8, "{old}"), Field("2", 9, "{old}")], term=5)

    assert server.hgetall(FLIGHTS) == {"1": "{new}"}
    assert server.hgetall(VERSIONS) == {"1": "9", "2": "10"}


@pytest.mark.covers("R15", "INV-23")
def test_the_same_version_again_gives_the_same_bytes(
    projection: Projection, server: Any
) -> None:
    for _ in range(2):
        projection.put([Field("1", 9, "{new}")], term=5)

    assert server.hgetall(FLIGHTS) == {"1": "{new}"}


@pytest.mark.covers("R15", "B88")
def test_a_replacement_shows_exactly_the_given_set_and_merges_versions(
    projection: Projection, server: Any
) -> None:
    projection.put([Field("1", 9, "{old}"), Field("2", 7, "{old}")], term=5)

    projection.replace([Field("3", 1, "{new}")], {"2": 6, "3": 1, "4": 2}, term=5)

    assert server.hgetall(FLIGHTS) == {"3": "{new}"}
    assert server.hgetall(VERSIONS) == {"1": "9", "2": "7", "3": "1", "4": "2"}
    assert not server.keys("*:new")


@pytest.mark.covers("R15", "INV-31")
def test_a_large_replacement_is_whole(projection: Projection, server: Any) -> None:
    fields = [Field(str(flid), 1, f"{{{flid}}}") for flid in range(1, 1502)]

    projection.replace(iter(fields), {field.flid: 1 for field in fields}, term=5)

    assert server.hgetall(FLIGHTS) == {field.flid: field.json for field in fields}
    assert server.hlen(VERSIONS) == len(fields)


@pytest.mark.covers("R15")
def test_an_empty_replacement_leaves_no_key_but_is_complete(
    projection: Projection, server: Any
) -> None:
    projection.put([Field("1", 1, "{}")], term=5)

    projection.replace([], {"1": 2}, term=5)

    assert not server.exists(FLIGHTS)
    projection.check(term=5)


@pytest.mark.covers("R15", "INV-24")
@pytest.mark.parametrize("damage", ["flushed", "epoch lost", "another run", "another format"])
def test_what_is_not_complete_takes_no_writes(
    projection: Projection, server: Any, damage: str
) -> None:
    run = server.info("server")["run_id"]
    match damage:
        case "flushed":
            server.flushdb()
        case "epoch lost":
            server.delete(EPOCH)
        case "another run":
            server.set(EPOCH, f"{'0' * 40}:{FORMAT}")
        case _:
            server.set(EPOCH, f"{run}:{FORMAT + 1}")

    with pytest.raises(Incomplete):
        projection.check(term=5)
    with pytest.raises(Incomplete):
        projection.put([Field("1", 1, "{}")], term=5)

    assert not server.exists(FLIGHTS)
    projection.replace([Field("1", 1, "{}")], {"1": 1}, term=5)
    projection.check(term=5)


@pytest.mark.covers("R13", "R15", "B42")
def test_a_deposed_writer_is_refused_in_every_way(projection: Projection, server: Any) -> None:
    projection.replace([Field("1", 3, "{new}")], {"1": 3}, term=6)

    with pytest.raises(Deposed):
        projection.check(term=5)
    with pytest.raises(Deposed):
        projection.put([Field("1", 4, "{stale}")], term=5)
    with pytest.raises(Deposed):
        projection.replace([Field("1", 4, "{stale}")], {"1": 4}, term=5)

    assert server.hgetall(FLIGHTS) == {"1": "{new}"}
    assert server.get(TERM) == "6"


@pytest.mark.covers("R15")
def test_a_new_term_must_replace_before_it_writes(projection: Projection, server: Any) -> None:
    with pytest.raises(Incomplete):
        projection.put([Field("1", 1, "{}")], term=6)

    assert not server.exists(FLIGHTS)


@pytest.mark.covers("R15", "B42")
@pytest.mark.parametrize("meanwhile", ["7", None])
def test_the_switch_asks_for_the_term_again(
    projection: Projection, server: Any, meanwhile: str | None
) -> None:
    projection.put([Field("1", 1, "{old}")], term=5)

    def shown() -> Iterator[Field]:
        yield Field("1", 2, "{new}")
        if meanwhile is None:
            server.delete(TERM)
        else:
            server.set(TERM, meanwhile)

    with pytest.raises(Deposed):
        projection.replace(shown(), {"1": 2}, term=6)

    assert server.hgetall(FLIGHTS) == {"1": "{old}"}


@pytest.mark.covers("R04", "B91")
@pytest.mark.parametrize("state", ["replica", "full", "silent", "gone"])
def test_a_server_that_refuses_or_does_not_answer_is_away(
    own_redis_url: str, state: str
) -> None:
    with (
        writer(own_redis_url) as first,
        writer(own_redis_url, seconds=0.5 if state == "silent" else 60.0) as projection,
        closing(redis.Redis.from_url(own_redis_url, decode_responses=True)) as client,
    ):
        server: Any = client
        first.replace([], {}, term=1)
        match state:
            case "replica":
                server.replicaof("127.0.0.1", 9)
            case "full":
                server.config_set("maxmemory", "1")
            case "silent":
                server.execute_command("CLIENT", "PAUSE", "600000", "ALL")
            case _:
                server.shutdown(nosave=True)

        with pytest.raises(Away) as away:
            projection.put([Field("1", 1, "{secret}")], term=1)
        with pytest.raises(Away):
            projection.replace([Field("1", 1, "{secret}")], {"1": 1}, term=1)

        assert "secret" not in str(away.value)
        assert own_redis_url not in str(away.value)


@pytest.mark.covers("R50")
def test_the_first_writer_says_whose_projection_it_is_and_another_one_stays_away(
    redis_url: str, projection: Projection, server: Any
) -> None:
    projection.put([Field("1", 1, "{ours}")], term=5)
    settings = RedisSettings(url=SecretStr(redis_url))

    with closing(Projection(settings, "another")) as foreign:
        for act in (
            foreign.look,
            lambda: foreign.check(term=9),
            lambda: foreign.replace([Field("1", 9, "{theirs}")], {"1": 9}, term=9),
        ):
            with pytest.raises(Unfit, match="another MSGX_ENVIRONMENT"):
                act()

    assert server.get(f"{FLIGHTS}:environment") == "test"
    assert server.get(TERM) == "5"
    assert server.hgetall(FLIGHTS) == {"1": "{ours}"}
    projection.look()
    projection.check(term=5)


@pytest.mark.covers("R50", "INV-24")
def test_a_reader_shows_nothing_of_another_environment(
    redis_url: str, projection: Projection
) -> None:
    projection.put([Field("1", 1, "{ours}")], term=5)
    settings = RedisSettings(url=SecretStr(redis_url))

    with closing(Reader(settings, connections=1, environment="test")) as ours:
        ours.look()
        assert ours.read_all() == [b"{ours}"]
    with closing(Reader(settings, connections=1, environment="another")) as theirs:
        with pytest.raises(Unfit):
            theirs.look()
        with pytest.raises(Away):
            theirs.read_all()
