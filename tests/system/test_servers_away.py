"""A server goes away and comes back under a processor: nothing is lost, no try is burnt."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.messages import adft, fltr, stand
from tests.support.processor import Line
from tests.support.processor_process import environment, processing, wait_for_end
from tests.support.relay import HOST, Relay, relayed
from tests.support.waiting import until
from tests.support.worker import Places

pytestmark = [pytest.mark.system, pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@contextmanager
def behind_relay(places: Places, server: str) -> Iterator[tuple[Relay, Places]]:
    """Yield a relay before one of the servers, and the places as the processor sees them."""
    if server == "dsn":
        parts = conninfo_to_dict(places.dsn)
        with closing(Relay(str(parts["host"]), int(str(parts["port"])))) as relay:
            yield (
                relay,
                replace(places, dsn=make_conninfo(places.dsn, host=HOST, port=relay.port)),
            )
        return
    with relayed(getattr(places, server)) as (relay, url):
        yield relay, replace(places, **{server: url})


@pytest.mark.covers("R04", "R13", "B12", "B91", "INV-3", "INV-23")
@pytest.mark.parametrize("server", ["dsn", "redis", "mailbox"])
def test_a_server_that_comes_back_finds_the_head_where_it_was(line: Line, server: str) -> None:
    with (
        behind_relay(line.places, server) as (relay, seen),
        processing(line, **environment(seen)) as process,
    ):
        wait_for_end(line, line.land(adft(fltr("1"))))
        relay.cut()
        head, after = line.land(stand("7", "1")), line.land(stand("8", "1"))
        if server == "dsn":
            process.wait_for_health("NOT_SERVING")
        else:
            until(lambda: line.row(head)["infra_attempts"] >= 3, "it is tried again")
            assert line.end(head)[:2] == ("FAILED", "INFRA")
        assert line.end(after)[0] == "PENDING"

        relay.restore()

        wait_for_end(line, after)
        process.wait_for_health("SERVING")
        assert process.terminate() == 0

    assert line.end(head)[0] == "SUCCEEDED"
    assert line.row(head)["attempts"] == line.row(after)["attempts"] == 0
    assert line.flight().state_version == 3
    line.agree()


@pytest.mark.covers("B104", "OPS-1", "R04")
@pytest.mark.parametrize("server", ["dsn", "redis", "mailbox"])
def test_a_processor_ends_cleanly_while_a_server_is_away(line: Line, server: str) -> None:
    with behind_relay(line.places, server) as (relay, seen):
        relay.cut()
        with processing(line, **environment(seen)) as process:
            line.land(adft(fltr("1")))
            process.wait_for_health("NOT_SERVING" if server == "dsn" else "SERVING")

            assert process.terminate() == 0

    assert not process.logged("loop fault")
    assert line.flids() == []
