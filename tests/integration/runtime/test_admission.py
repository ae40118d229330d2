"""Who may call: tokens at the door, and what is kept of those who were refused."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from pydantic import SecretStr

from msgx.rpc.v1 import control_pb2 as pb
from msgx.runtime.address import Address, GrpcService
from msgx.runtime.control import About, ControlService
from msgx.runtime.denials import KINDS, ROWS_A_MINUTE, Denial, Denials
from msgx.runtime.desk import Desk
from msgx.runtime.halt import Halt
from msgx.runtime.loops import Loop
from msgx.runtime.session import Session
from msgx.settings import Admin
from msgx.store import backlog
from msgx.store.service_term import Service
from tests.support.calls import TIMEOUT, TOKEN, WHO
from tests.support.control import READ_TOKEN, Caller, Steps, Watch, serving, settings
from tests.support.waiting import until

pytestmark = pytest.mark.pg

READS = ("Status", pb.StatusRequest())
CHANGES = ("Pause", pb.PauseRequest(admin=WHO, part="msg"))
WAKES = ("Wake", pb.WakeRequest())


@contextmanager
def door(dsn: str, denials: Denials, admin: Admin, **control: Any) -> Iterator[Address]:
    """Answer on a port of loopback as a service does, without loops."""
    given = settings(dsn, "127.0.0.1:0", **control)
    with closing(Desk(None, Session(given.database, "test"))) as desk:
        about = About(Service.DISPATCHER, None, [], Halt(), backlog.of_nothing)
        address = Address(
            given.control,
            admin,
            [ControlService(about, desk).service()],
            denied=denials.note,
        )
        address.start()
        try:
            yield address
        finally:
            address.stop()


def tokens() -> Admin:
    """Return both tokens, configured."""
    return Admin(token=SecretStr(TOKEN), read_token=SecretStr(READ_TOKEN))


@contextmanager
def calling(address: Address, *authorization: str) -> Iterator[Caller]:
    """Yield a caller that sends these values of the header."""
    with grpc.insecure_channel(f"127.0.0.1:{address.port}") as channel:
        caller = Caller(channel)
        caller._metadata = [("authorization", value) for value in authorization]
        yield caller


def audit(pg: "psycopg.Connection[Any]") -> list[dict[str, Any]]:
    """Return what ADMIN_AUDIT kept."""
    with pg.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute("SELECT * FROM admin_audit ORDER BY audit_id").fetchall()


@pytest.mark.covers("R35", "R55")
@pytest.mark.parametrize("call", [READS, CHANGES, WAKES], ids=lambda call: call[0])
@pytest.mark.parametrize(
    "authorization",
    [
        [],
        [TOKEN],
        [f"Bearer {TOKEN}x"],
        ["Bearer "],
        [f"bearer {TOKEN}"],
        [f"Bearer {TOKEN}", f"Bearer {TOKEN}"],
    ],
    ids=["none", "bare", "longer", "empty", "other-scheme", "twice"],
)
def test_without_the_token_a_call_is_refused_and_kept(
    pg: "psycopg.Connection[Any]",
    pg_dsn: str,
    authorization: list[str],
    call: tuple[str, Any],
) -> None:
    denials = Denials(Service.DISPATCHER)
    with (
        door(pg_dsn, denials, tokens()) as address,
        calling(address, *authorization) as stranger,
    ):
        code, said = stranger.refusal(*call)
        denials.keep(pg)

    reason = "the token is not ours" if authorization else "there is no token"
    assert (code, said) == ("UNAUTHENTICATED", reason)
    (kept,) = audit(pg)
    assert (kept["service"], kept["operator"]) == ("dispatcher", "ipv4:127.0.0.1")
    assert (kept["action"], kept["reason"]) == (f"denied:{call[0]}", reason)
    assert kept["target"] == {"method": f"/msgx.v1.ControlService/{call[0]}", "times": 1}
    assert TOKEN not in str(kept)


@pytest.mark.covers("R35", "R55")
@pytest.mark.parametrize("call", [CHANGES, WAKES], ids=lambda call: call[0])
def test_the_read_only_token_reads_and_changes_nothing(
    pg: "psycopg.Connection[Any]", pg_dsn: str, call: tuple[str, Any]
) -> None:
    denials = Denials(Service.DISPATCHER)
    with (
        door(pg_dsn, denials, tokens()) as address,
        calling(address, f"Bearer {READ_TOKEN}") as reader,
    ):
        assert reader.status().service == "dispatcher"
        refused = reader.refusal(*call)
        denials.keep(pg)

    assert refused == ("PERMISSION_DENIED", "the token is the read-only one")
    assert [one["action"] for one in audit(pg)] == [f"denied:{call[0]}"]
    assert pg.execute("SELECT FROM service_control").fetchall() == []


@pytest.mark.covers("R55")
def test_with_the_read_only_token_alone_nothing_can_be_changed(pg_dsn: str) -> None:
    alone = Admin(read_token=SecretStr(READ_TOKEN))
    with (
        door(pg_dsn, Denials(Service.DISPATCHER), alone) as address,
        calling(address, f"Bearer {READ_TOKEN}") as reader,
        calling(address, "Bearer None") as guesser,
    ):
        assert reader.status().service == "dispatcher"
        assert reader.refusal(*CHANGES)[0] == "PERMISSION_DENIED"
        assert guesser.refusal(*CHANGES)[0] == "UNAUTHENTICATED"


@pytest.mark.covers("R55")
def test_without_any_token_there_are_only_health_and_reflection(pg_dsn: str) -> None:
    with (
        door(pg_dsn, Denials(Service.DISPATCHER), Admin()) as address,
        calling(address, f"Bearer {TOKEN}") as stranger,
    ):
        assert stranger.refusal(*READS)[0] == "UNIMPLEMENTED"
        assert stranger.health() == "NOT_SERVING"
        names = reflected(stranger.channel)

    assert names == {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}


def reflected(channel: grpc.Channel) -> set[str]:
    """Return the services that reflection names."""
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = stub.ServerReflectionInfo(iter([asked]), timeout=TIMEOUT)
    return {one.name for one in answer.list_services_response.service}


@pytest.mark.covers("R55")
def test_a_refusal_does_not_wait_for_postgresql_and_is_kept_when_it_is_back(
    pg: "psycopg.Connection[Any]", pg_dsn: str
) -> None:
    denials = Denials(Service.DISPATCHER)
    with psycopg.connect(pg_dsn, autocommit=True) as gone:
        pass
    with (
        door("host=127.0.0.1 port=9", denials, tokens()) as address,
        calling(address) as stranger,
    ):
        assert stranger.refusal(*CHANGES)[0] == "UNAUTHENTICATED"
        with pytest.raises(psycopg.OperationalError):
            denials.keep(gone)
        assert stranger.refusal(*CHANGES)[0] == "UNAUTHENTICATED"
        denials.keep(pg)

    assert [one["target"]["times"] for one in audit(pg)] == [2]


@pytest.mark.covers("R55")
def test_a_flood_is_counted_in_few_rows(pg: "psycopg.Connection[Any]") -> None:
    time = [0.0]
    denials = Denials(Service.DISPATCHER, lambda: time[0])
    asked = 5000
    for number in range(asked):
        denials.note(Denial("/msgx.v1.ControlService/Pause", f"ipv4:10.0.0.{number}", "no"))

    denials.keep(pg)
    time[0] += 30
    denials.keep(pg)
    assert len(audit(pg)) == ROWS_A_MINUTE
    for _ in range(10):
        time[0] += 61
        denials.keep(pg)

    rows = [one["target"] for one in audit(pg)]
    assert len(rows) == KINDS
    assert sum(row["times"] + row.get("others", 0) for row in rows) == asked


@pytest.mark.covers("R55")
def test_the_same_caller_again_and_again_is_one_row(pg: "psycopg.Connection[Any]") -> None:
    denials = Denials(Service.DISPATCHER)
    for _ in range(1000):
        denials.note(Denial("/msgx.v1.ControlService/Pause", "ipv4:10.0.0.7", "no"))

    denials.keep(pg)

    assert [one["target"]["times"] for one in audit(pg)] == [1000]


def test_a_method_that_there_is_not_cannot_be_declared_a_read() -> None:
    descriptor = pb.DESCRIPTOR.services_by_name["ControlService"]
    with pytest.raises(ValueError, match=r"msgx\.v1\.ControlService has no Statsu"):
        GrpcService(descriptor, lambda _: None, reads=frozenset({"Statsu"}))


@pytest.mark.covers("R55", "B104")
def test_a_call_that_is_refused_while_the_service_stops_is_kept_too(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    halt, steps = Halt(), Steps()
    steps.gate.clear()
    with (
        serving(pg_dsn, tmp_path, Loop("msg", steps), halt=halt) as running,
        closing(Watch(running.caller.channel, "control")) as watch,
    ):
        steps.reach(1)
        watch.wait_for("SERVING")
        halt.stop()
        watch.wait_for(None)
        until(lambda: not any(one.name == "control" for one in threading.enumerate()), "ended")
        stranger = Caller(running.caller.channel, "a-token-of-somebody-else")
        code, _ = stranger.refusal("Status", pb.StatusRequest())
        steps.gate.set()
        assert running.stop() == 0

    assert code == "UNAUTHENTICATED"
    assert pg.execute("SELECT action FROM admin_audit").fetchall() == [("denied:Status",)]
