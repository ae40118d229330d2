"""Calls of an operator: by name, with a token."""

from typing import Any, Final

import grpc

from msgx.rpc.v1.admin_pb2 import Admin

TOKEN: Final = "a-token-for-tests-only"
WHO: Final = Admin(operator="ops", reason="a test")
TIMEOUT: Final = 60.0


def bearer(token: str) -> str:
    """Return the header that shows a token."""
    return f"Bearer {token}"


class Calls:
    """Calls over a channel; `stub` is the service's, and `authorization` what is sent under
    that name, if anything."""

    def __init__(
        self, channel: grpc.Channel, stub: Any, authorization: str | None = bearer(TOKEN)
    ) -> None:
        self.channel = channel
        self._stub = stub(channel)
        self._metadata = [] if authorization is None else [("authorization", authorization)]

    def call(self, name: str, request: Any) -> Any:
        """Make a call; of a stream the answers are still to come."""
        call = getattr(self._stub, name)
        return call(request, metadata=self._metadata, timeout=TIMEOUT, wait_for_ready=True)

    def refusal(self, name: str, request: Any) -> tuple[str, str]:
        """Make a call that is refused, and return the code and the words."""
        try:
            answer = self.call(name, request)
            told = list(answer) if hasattr(answer, "__next__") else answer
        except grpc.RpcError as error:
            return str(error.code().name), str(error.details())
        raise AssertionError(f"answered: {told}")

    def close(self) -> None:
        """Close the channel."""
        self.channel.close()
