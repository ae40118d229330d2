"""Who may make administrative calls: whoever knows a token, or shows a certificate (R35, R55).

A refusal is answered at once; that it is kept is left to `Denials`.
"""

import hmac
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote

import grpc
from pydantic import SecretStr

from msgx.domain.failure import clean
from msgx.runtime.denials import Denial
from msgx.settings import Admin

_HEADER: Final = "authorization"
_SCHEME: Final = "Bearer "
_LONGEST_PEER: Final = 100


class Admission(grpc.ServerInterceptor):  # type: ignore[type-arg]  # not generic when run
    """Refuses calls of `methods` that do not carry a token that admits them; calls of other
    methods pass. `methods` says of each path whether it only reads. Where every caller has
    shown a `certificate`, nobody is refused."""

    def __init__(
        self,
        admin: Admin,
        methods: Mapping[str, bool],
        denied: Callable[[Denial], None],
        *,
        certificate: bool = False,
    ) -> None:
        self._methods = methods
        self._token = _expected(admin.token)
        self._read_token = _expected(admin.read_token)
        self._denied = denied
        self._certificate = certificate

    def intercept_service(
        self, continuation: Callable[[Any], Any], handler_call_details: Any
    ) -> Any:
        """Return the handler of the call, or one that refuses it."""
        method = handler_call_details.method
        reads = self._methods.get(method)
        if reads is None or self._certificate:
            return continuation(handler_call_details)
        given = [
            value for name, value in handler_call_details.invocation_metadata if name == _HEADER
        ]
        told = given[0] if len(given) == 1 else ""
        if _same(told, self._token):
            return continuation(handler_call_details)
        if _same(told, self._read_token):
            if reads:
                return continuation(handler_call_details)
            code, reason = grpc.StatusCode.PERMISSION_DENIED, "the token is the read-only one"
        else:
            code = grpc.StatusCode.UNAUTHENTICATED
            reason = "the token is not ours" if given else "there is no token"
        return self._refusal(method, code, reason)

    def _refusal(self, method: str, code: grpc.StatusCode, reason: str) -> Any:
        def refuse(_: Any, context: grpc.ServicerContext) -> None:
            self._denied(Denial(method, _host(context.peer()), reason))
            context.abort(code, reason)

        return grpc.unary_unary_rpc_method_handler(refuse)


def _expected(token: SecretStr | None) -> bytes | None:
    return None if token is None else f"{_SCHEME}{token.get_secret_value()}".encode()


def _same(told: str | bytes, expected: bytes | None) -> bool:
    told = told if isinstance(told, bytes) else told.encode()
    return expected is not None and hmac.compare_digest(told, expected)


def _host(peer: str) -> str:
    """Return the address of a caller, without the port that is another one each time."""
    address = clean(unquote(peer[:_LONGEST_PEER]))
    return address.rpartition(":")[0] or address
