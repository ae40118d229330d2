"""Who may make administrative calls: whoever knows a token (R35, R55)."""

import hmac
from collections.abc import Callable, Mapping
from typing import Any, Final

import grpc
from pydantic import SecretStr

from msgx.settings import Admin

_HEADER: Final = "authorization"
_SCHEME: Final = "Bearer "


class Admission(grpc.ServerInterceptor):  # type: ignore[type-arg]  # not generic when run
    """Refuses calls of `methods` that do not carry a token that admits them; calls of other
    methods pass. `methods` says of each path whether it only reads."""

    def __init__(self, admin: Admin, methods: Mapping[str, bool]) -> None:
        self._methods = methods
        self._token = _expected(admin.token)
        self._read_token = _expected(admin.read_token)

    def intercept_service(
        self, continuation: Callable[[Any], Any], handler_call_details: Any
    ) -> Any:
        """Return the handler of the call, or one that refuses it."""
        reads = self._methods.get(handler_call_details.method)
        if reads is None:
            return continuation(handler_call_details)
        told = _told(handler_call_details.invocation_metadata)
        if _same(told, self._token):
            return continuation(handler_call_details)
        if not _same(told, self._read_token):
            return _refusal(
                grpc.StatusCode.UNAUTHENTICATED, "this call needs an operator's bearer token"
            )
        if not reads:
            return _refusal(
                grpc.StatusCode.PERMISSION_DENIED, "the read-only token admits no such call"
            )
        return continuation(handler_call_details)


def _expected(token: SecretStr | None) -> bytes | None:
    return None if token is None else f"{_SCHEME}{token.get_secret_value()}".encode()


def _told(metadata: Any) -> bytes:
    given = [value for name, value in metadata if name == _HEADER]
    if len(given) != 1:
        return b""
    return given[0] if isinstance(given[0], bytes) else given[0].encode()


def _same(told: bytes, expected: bytes | None) -> bool:
    return expected is not None and hmac.compare_digest(told, expected)


def _refusal(code: grpc.StatusCode, text: str) -> Any:
    def refuse(_: Any, context: grpc.ServicerContext) -> None:
        context.abort(code, text)

    return grpc.unary_unary_rpc_method_handler(refuse)
