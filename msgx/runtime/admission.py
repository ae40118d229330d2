"""Who may make administrative calls: whoever knows the token."""

import hmac
from collections.abc import Callable
from typing import Any, Final

import grpc
from pydantic import SecretStr

_HEADER: Final = "authorization"
_SCHEME: Final = "Bearer "


class Bearer(grpc.ServerInterceptor):  # type: ignore[type-arg]  # not generic when run
    """Refuses calls of one gRPC service that do not carry the token; others pass."""

    def __init__(self, service: str, token: SecretStr) -> None:
        self._prefix = f"/{service}/"
        self._expected = f"{_SCHEME}{token.get_secret_value()}".encode()

    def intercept_service(
        self, continuation: Callable[[Any], Any], handler_call_details: Any
    ) -> Any:
        """Return the handler of the call, or one that refuses it."""
        if handler_call_details.method.startswith(self._prefix) and not self._admits(
            handler_call_details.invocation_metadata
        ):
            return grpc.unary_unary_rpc_method_handler(_refuse)
        return continuation(handler_call_details)

    def _admits(self, metadata: Any) -> bool:
        given = [value for name, value in metadata if name == _HEADER]
        if len(given) != 1:
            return False
        told = given[0] if isinstance(given[0], bytes) else given[0].encode()
        return hmac.compare_digest(told, self._expected)


def _refuse(_: Any, context: Any) -> None:
    context.abort(
        grpc.StatusCode.UNAUTHENTICATED, "this call needs the administrator's bearer token"
    )
