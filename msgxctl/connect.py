"""Calls to the services: channels, the token, TLS; what a status code means to a user."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from msgxctl.failure import Failure, Status, misused
from msgxctl.place import PREFIX, Peer, Place, read, tls, token
from msgxctl.show import harmless

_STREAM_LIMIT: Final = timedelta(hours=12)
_OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),  # an address inside the installation
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),  # a page with texts of messages
)
_NO_WAY: Final = ("failed to connect", "connections to all backends", "errors resolving")
_HINTS: Final = {  # what the channel says, and what to do about it
    "errors resolving": "the name is not known",
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not one of the given CA",
    "handshake": "it speaks no TLS, or another one",
    "Socket closed": "it may want TLS (--ca) or a client certificate (--certificate, --key)",
}


class Remote:
    """The services, as one command asks them. Channels are closed after each call."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._token = token(place)

    def ask(
        self,
        peer: Peer,
        service: ServiceDescriptor,
        method: str,
        request: Message,
        *,
        address: str | None = None,
    ) -> Any:
        """Return the answer of `peer`: of the instance that leads, if several are known, or of
        the one at `address`.

        Raises:
            Failure: it does not answer, does not admit the call, or refuses.
        """
        named = service.methods_by_name[method]
        limit = self.place.timeout

        def once(channel: grpc.Channel, _: str) -> Any:
            call = channel.unary_unary(*_wire(named))
            return call(request, metadata=self._metadata(), timeout=limit)

        return self._try(peer, address, once)

    def follow(
        self,
        peer: Peer,
        service: ServiceDescriptor,
        method: str,
        request: Message,
        each: Callable[[Any], None],
    ) -> None:
        """Hand every message of a stream to `each` as it comes.

        Raises:
            Failure: as `ask`; what was handed over before stands.
        """
        named = service.methods_by_name[method]

        def through(channel: grpc.Channel, at: str) -> None:
            begun = False
            call = channel.unary_stream(*_wire(named))
            limit = _STREAM_LIMIT.total_seconds()
            stream = call(request, metadata=self._metadata(), timeout=limit)
            try:
                for one in stream:
                    begun = True
                    each(one)
            except grpc.RpcError as error:
                if begun:  # another instance would begin it anew
                    raise explained(error, peer, at) from None
                raise
            finally:
                stream.cancel()  # type: ignore[no-untyped-call]  # Ctrl-C: cancelled there, too

        self._try(peer, None, through)

    def _try(
        self, peer: Peer, address: str | None, use: Callable[[grpc.Channel, str], Any]
    ) -> Any:
        """Ask one instance after the other until one does it; who is away or on standby did
        nothing."""
        addresses = self.place.addresses(peer) if address is None else (address,)
        if not addresses:
            variable = PREFIX + peer.upper().replace("-", "_")
            misused(
                f"where does {peer.service} answer? --{peer} HOST:PORT or {variable} says so"
            )
        refusals = []
        for one in addresses:
            try:
                with self._channel(one) as channel:
                    return use(channel, one)
            except grpc.RpcError as error:
                refusal = explained(error, peer, one)
                if not _another_may(error):
                    raise refusal from None
                refusals.append(refusal)
        raise next((one for one in refusals if one.status is Status.FAILED), refusals[0])

    @contextmanager
    def _channel(self, address: str) -> Iterator[grpc.Channel]:
        place = self.place
        if not place.secure:
            channel = grpc.insecure_channel(address, options=_OPTIONS)
        else:
            shown = [
                None if path is None else read(path, what)
                for path, what in (
                    (place.ca, "the CA file"),
                    (place.key, "the client key"),
                    (place.certificate, "the client certificate"),
                )
            ]
            tls(place)  # gRPC itself would only log that it cannot use them
            credentials = grpc.ssl_channel_credentials(*shown)
            channel = grpc.secure_channel(address, credentials, options=_OPTIONS)
        with channel:
            yield channel

    def _metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        return () if self._token is None else (("authorization", f"Bearer {self._token}"),)


def explained(error: grpc.RpcError, peer: Peer, address: str) -> Failure:
    """Return what a status code means, in one sentence."""
    code, words = error.code(), harmless(error.details() or "")[:600]
    who = f"{peer.service} at {harmless(address)}"
    match code:
        case grpc.StatusCode.UNAVAILABLE if _unreached(error):
            return Failure(Status.AWAY, f"{who} does not answer{_hint(words)}")
        case grpc.StatusCode.UNAVAILABLE:
            return Failure(Status.AWAY, f"{who} cannot do it now: {words}")
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return Failure(Status.AWAY, f"{who} did not answer in time; it may have done it")
        case grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.PERMISSION_DENIED:
            return Failure(Status.DENIED, f"{who} denies it: {words}")
        case grpc.StatusCode.UNIMPLEMENTED:
            why = "no msgx.admin.token is set there, or another version runs"
            return Failure(Status.DENIED, f"{who} does not offer this: {why}")
        case grpc.StatusCode.RESOURCE_EXHAUSTED if "larger than max" in words:
            return Failure(Status.FAILED, f"{peer.service} refuses: it is too large for a call")
        case grpc.StatusCode.CANCELLED:
            return Failure(Status.FAILED, f"{who} ended the call: {words}")
        case _:
            return Failure(Status.FAILED, f"{peer.service} refuses: {words}")


def _another_may(error: grpc.RpcError) -> bool:
    """Tell whether this instance has certainly done nothing and another one could."""
    return error.code() is grpc.StatusCode.FAILED_PRECONDITION or _unreached(error)


def _unreached(error: grpc.RpcError) -> bool:
    """Tell whether the call never left this machine."""
    words = (error.details() or "").lower()
    return error.code() is grpc.StatusCode.UNAVAILABLE and any(one in words for one in _NO_WAY)


def _hint(words: str) -> str:
    return next((f": {text}" for name, text in _HINTS.items() if name in words), "")


def _wire(method: MethodDescriptor) -> tuple[str, Any, Any]:
    path = f"/{method.containing_service.full_name}/{method.name}"
    taken = message_factory.GetMessageClass(method.input_type)
    given = message_factory.GetMessageClass(method.output_type)
    return path, taken.SerializeToString, given.FromString
