"""Streams of services that have several instances."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import grpc
import pytest

from msgx.rpc.v1 import replay_pb2 as pb
from msgx.rpc.v1 import replay_pb2_grpc
from msgxctl.connect import Remote
from msgxctl.failure import Failure, Status
from msgxctl.messages import SERVICE
from msgxctl.place import Peer, Place

STANDBY: Final = "this processor does not lead"


class Instance(replay_pb2_grpc.ReplayServiceServicer):
    """A processor that tells some progress, and then does not lead, if it ever did."""

    def __init__(self, *, steps: int, leads: bool) -> None:
        self._steps = steps
        self._leads = leads
        self.calls = 0

    def Replay(
        self, request: Any, context: grpc.ServicerContext
    ) -> Iterator[pb.ReplayResponse]:
        self.calls += 1
        for step in range(self._steps):
            yield pb.ReplayResponse(total=3, replayed=step + 1)
        if not self._leads:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, STANDBY)


@contextmanager
def serving(*instances: Instance) -> Iterator[Remote]:
    """Let the instances answer, in this order."""
    servers, ports = [], []
    for instance in instances:
        server = grpc.server(ThreadPoolExecutor(max_workers=1))
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(instance, server)
        ports.append(server.add_insecure_port("127.0.0.1:0"))
        server.start()
        servers.append(server)
    try:
        yield Remote(Place(processor=",".join(f"127.0.0.1:{port}" for port in ports)))
    finally:
        for server in servers:
            server.stop(None)


def replay(remote: Remote) -> list[int]:
    """Follow a replay; return how far it says that it came."""
    told: list[int] = []
    request = pb.ReplayRequest()
    remote.follow(
        Peer.PROCESSOR, SERVICE, "Replay", request, lambda one: told.append(one.replayed)
    )
    return told


def test_who_leads_is_followed() -> None:
    standby = Instance(steps=0, leads=False)

    with serving(standby, Instance(steps=3, leads=True)) as remote:
        told = replay(remote)

    assert told == [1, 2, 3]
    assert standby.calls == 1


@pytest.mark.covers("R35")
def test_what_a_leader_began_is_not_asked_of_the_next_one_again() -> None:
    heir = Instance(steps=3, leads=True)

    with (
        serving(Instance(steps=1, leads=False), heir) as remote,
        pytest.raises(Failure, match=STANDBY) as failure,
    ):
        replay(remote)

    assert failure.value.status is Status.FAILED
    assert heir.calls == 0
