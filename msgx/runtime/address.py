"""The control address: health, reflection and the gRPC services of operators."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from msgx.runtime import tls
from msgx.runtime.admission import Admission
from msgx.runtime.denials import Denial
from msgx.settings import Admin, Control

SERVING: Final = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING
_WORKERS: Final = 8
_REFLECTIONS: Final = 2  # each keeps a thread as long as its caller likes
_LARGEST_CALL: Final = 20 * 1024 * 1024  # a corrected text may be as large as a message


@dataclass(frozen=True, slots=True)
class GrpcService:
    """A service of operators: what it is, what adds it to a server, and which of its methods
    the read-only token may call."""

    descriptor: ServiceDescriptor
    add: Callable[[grpc.Server], None]
    reads: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse a method that there is not.

        Raises:
            ValueError: which one.
        """
        if unknown := self.reads - set(self.descriptor.methods_by_name):
            raise ValueError(f"{self.name} has no {', '.join(sorted(unknown))}")

    @property
    def name(self) -> str:
        """Return the full name."""
        return str(self.descriptor.full_name)

    @property
    def methods(self) -> dict[str, bool]:
        """Return the path of every method, and whether it only reads."""
        return {
            f"/{self.name}/{method}": method in self.reads
            for method in self.descriptor.methods_by_name
        }


class Health(health.HealthServicer):
    """The standard servicer, which can also complete its open watches."""

    def __init__(self) -> None:
        super().__init__()
        self._open: set[Callable[[Any], None]] = set()

    def Watch(
        self, request: Any, context: grpc.ServicerContext, send_response_callback: Any = None
    ) -> Any:
        """Tell what is, and what changes."""
        if send_response_callback is not None:
            self._open.add(send_response_callback)
            context.add_callback(lambda: self._open.discard(send_response_callback))
        return super().Watch(request, context, send_response_callback)

    def complete(self) -> None:
        """End every watch."""
        for send in tuple(self._open):
            send(None)


class Reflection(reflection_pb2_grpc.ServerReflectionServicer):
    """The standard servicer for few callers at once, whose open streams can be ended."""

    def __init__(self, names: Sequence[str]) -> None:
        self._standard: Any = reflection.ReflectionServicer(names)
        self._places = threading.BoundedSemaphore(_REFLECTIONS)
        self._streams: set[Any] = set()

    def ServerReflectionInfo(self, request_iterator: Any, context: Any) -> Iterator[Any]:
        """Answer what is asked until the caller or the service ends it."""
        if not self._places.acquire(blocking=False):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "others look at present")
        self._streams.add(context)
        try:
            yield from self._standard.ServerReflectionInfo(request_iterator, context)
        finally:
            self._streams.discard(context)
            self._places.release()

    def complete(self) -> None:
        """End every stream."""
        for context in tuple(self._streams):
            context.cancel()


class Address:
    """The standard gRPC health service, reflection, and `services` for whom `admin` or a
    client's certificate admits: where nothing admits anybody, there are none."""

    def __init__(
        self,
        control: Control,
        admin: Admin,
        services: Sequence[GrpcService] = (),
        *,
        denied: Callable[[Denial], None] = lambda _: None,
    ) -> None:
        """Take the address.

        Raises:
            ValueError: it cannot be taken, or its TLS does not fit, in one sentence.
        """
        credentials = tls.credentials(control)
        certificate = control.tls_client_ca is not None
        closed = admin.token is None and admin.read_token is None and not certificate
        offered = () if closed else tuple(services)
        methods = {path: reads for one in offered for path, reads in one.methods.items()}
        self._told: dict[str, bool] = {}
        self._health = Health()
        self._server = grpc.server(
            ThreadPoolExecutor(max_workers=_WORKERS, thread_name_prefix="grpc"),
            interceptors=[Admission(admin, methods, denied, certificate=certificate)],
            options=[
                ("grpc.so_reuseport", 0),  # else two services would share an address
                ("grpc.max_receive_message_length", _LARGEST_CALL),
            ],
        )
        for one in offered:
            one.add(self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        own: list[Any] = [health_pb2.DESCRIPTOR.services_by_name["Health"].full_name]
        self._reflection = Reflection(
            (*(one.name for one in offered), *own, reflection.SERVICE_NAME)
        )
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(
            self._reflection, self._server
        )
        self.readable = bool(offered) and credentials is None and not _is_near(control.bind)
        try:
            self.port = (
                self._server.add_insecure_port(control.bind)
                if credentials is None
                else self._server.add_secure_port(control.bind, credentials)
            )
        except RuntimeError:
            raise ValueError(f"MSGX_CONTROL__BIND {control.bind} cannot be taken") from None

    def start(self, parts: Iterable[str] = ()) -> None:
        """Answer from now on; neither the service nor any of its `parts` serves yet."""
        for name in ("", *parts):
            self.tell(name, serving=False)
        self._server.start()

    def tell(self, name: str, *, serving: bool) -> None:
        """Say whether `name` serves: a loop, or "" for the whole service."""
        if self._told.get(name) is not serving:  # a watch hears of changes only
            self._told[name] = serving
            self._health.set(name, SERVING if serving else NOT_SERVING)

    def retire(self) -> None:
        """Say NOT_SERVING for everything, for good (B104), and end what callers only keep open
        (B105)."""
        self._health.enter_graceful_shutdown()
        self._complete()

    def stop(self, grace: float = 0.0) -> None:
        """Take no more calls, and give those in work so many seconds to end."""
        ended = self._server.stop(grace)
        self._complete()  # one may have come since
        ended.wait(grace + 1)

    def _complete(self) -> None:
        self._health.complete()
        self._reflection.complete()


def _is_near(bind: str) -> bool:
    """Tell whether only this machine reaches an address."""
    return bind.startswith(("127.", "localhost:", "[::1]:", "unix:"))
