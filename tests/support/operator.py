"""An operator: makes administrative calls of the dispatcher, in this process or another."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

import grpc
from pydantic import SecretStr

from msgx.rpc.v1 import delivery_pb2 as pb
from msgx.rpc.v1 import delivery_pb2_grpc
from msgx.runtime.address import Address
from msgx.runtime.desk import Desk
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Admin as AdminSettings
from msgx.settings import Control
from services.dispatcher.admin import Delivery
from services.dispatcher.request_admin import Requests
from services.dispatcher.settings import DispatcherSettings
from tests.support.calls import TOKEN, WHO, Calls, bearer
from tests.support.dispatcher import leading
from tests.support.patient import PATIENT

ALL: Final = pb.Filter()


class Operator(Calls):
    """Looks at events, and decides about them."""

    def __init__(self, port: int, authorization: str | None = bearer(TOKEN)) -> None:
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        super().__init__(channel, delivery_pb2_grpc.DeliveryServiceStub, authorization)

    def dead(self, **fields: Any) -> list[Any]:
        """List dead events."""
        return list(self.call("ListDead", pb.ListDeadRequest(**fields)).events)

    def held(self, **fields: Any) -> list[Any]:
        """List held flights."""
        return list(self.call("ListHeld", pb.ListHeldRequest(**fields)).flights)

    def requeue(self, **fields: Any) -> int:
        """Requeue dead events; return how many."""
        return int(self.call("Requeue", pb.RequeueRequest(admin=WHO, **fields)).affected)

    def discard(self, **fields: Any) -> int:
        """Discard dead events; return how many."""
        return int(self.call("Discard", pb.DiscardRequest(admin=WHO, **fields)).affected)


@contextmanager
def answering(given: DispatcherSettings, leadership: Leadership) -> Iterator[int]:
    """Answer calls as the service does; yield the port."""
    session = Session(given.database, "dispatcher-admin", transaction_timeout=PATIENT)
    with closing(Desk(leadership, session)) as desk:
        admin = AdminSettings(token=SecretStr(TOKEN))
        requests = Requests(desk, given.request, given.airport)
        server = Address(Control(), admin, [Delivery(desk).service(), requests.service()])
        server.start()
        try:
            yield server.port
        finally:
            server.stop()


@contextmanager
def operating(given: DispatcherSettings) -> Iterator[tuple[Operator, Leadership]]:
    """Yield an operator, and the leadership under whose term the calls are made."""
    with (
        leading(given) as leadership,
        answering(given, leadership) as port,
        closing(Operator(port)) as operator,
    ):
        yield operator, leadership
