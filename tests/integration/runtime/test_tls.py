"""TLS of the control address: who is believed, and which files refuse the start."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from pydantic import SecretStr

from msgx.rpc.v1 import control_pb2
from msgx.runtime import tls
from msgx.runtime.address import Address
from msgx.runtime.control import About, ControlService
from msgx.runtime.desk import Desk
from msgx.runtime.halt import Halt
from msgx.runtime.session import Session
from msgx.settings import Admin, Control
from msgx.store import backlog
from msgx.store.service_term import Service
from tests.support.calls import TIMEOUT, TOKEN
from tests.support.certificates import Pair, authority, locked, signed
from tests.support.control import Caller, settings


class Keys:
    """An authority, our certificate by it, a client's by it, and a stranger's."""

    def __init__(self, folder: Path) -> None:
        self.ca = authority(folder, "ca")
        self.server = signed(folder, "server", self.ca)
        self.client = signed(folder, "client", self.ca)
        self.stranger = signed(folder, "stranger", authority(folder, "other"))
        self.locked = locked(self.server, folder)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """The certificates of this module."""
    return Keys(tmp_path_factory.mktemp("keys"))


@contextmanager
def door(admin: Admin, **control: Any) -> Iterator[int]:
    """Answer on a port of loopback, without loops and without PostgreSQL."""
    given = settings("host=127.0.0.1 port=9", "127.0.0.1:0", **control)
    desk = Desk(None, Session(given.database, "test"))
    about = About(Service.API, None, [], Halt(), backlog.of_nothing)
    address = Address(given.control, admin, [ControlService(about, desk).service()])
    address.start()
    try:
        yield address.port
    finally:
        address.stop()


@contextmanager
def calling(
    port: int, ca: Pair, client: Pair | None = None, token: str = TOKEN
) -> Iterator[Caller]:
    """Yield a caller that believes `ca`, and shows a certificate if it has one."""
    credentials = grpc.ssl_channel_credentials(
        ca.cert.read_bytes(),
        None if client is None else client.key.read_bytes(),
        None if client is None else client.cert.read_bytes(),
    )
    with grpc.secure_channel(f"127.0.0.1:{port}", credentials) as channel:
        yield Caller(channel, token)


def reached(channel: grpc.Channel) -> bool:
    """Tell whether a connection stands within a moment."""
    try:
        grpc.channel_ready_future(channel).result(timeout=1)
    except grpc.FutureTimeoutError:
        return False
    return True


def test_with_a_certificate_calls_are_encrypted_and_still_need_the_token(keys: Keys) -> None:
    tokens = Admin(token=SecretStr(TOKEN))
    with door(tokens, tls_cert=keys.server.cert, tls_key=keys.server.key) as port:
        with calling(port, keys.ca) as caller:
            assert caller.status().service == "api"
            assert caller.health() == "NOT_SERVING"
        with calling(port, keys.ca, token="another-token-of-mine") as stranger:
            assert stranger.refusal("Wake", wake())[0] == "UNAUTHENTICATED"
        with calling(port, keys.stranger) as unbelieving:
            assert not reached(unbelieving.channel)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as plain:
            assert not reached(plain)


def test_a_clients_certificate_admits_to_every_call_and_nobody_else_comes_in(
    keys: Keys,
) -> None:
    files = {
        "tls_cert": keys.server.cert,
        "tls_key": keys.server.key,
        "tls_client_ca": keys.ca.cert,
    }
    with door(Admin(), **files) as port:
        with calling(port, keys.ca, keys.client, token="") as caller:
            assert caller.status().service == "api"
            caller.wake()
        for unknown in (None, keys.stranger):
            with calling(port, keys.ca, unknown) as stranger:
                with pytest.raises(grpc.RpcError) as refused:
                    stranger._stub.Status(wake(), timeout=TIMEOUT)
                assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def wake() -> Any:
    """Return a request without content."""
    return control_pb2.WakeRequest()


@pytest.mark.covers("R37")
@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            lambda keys: {"tls_cert": keys.server.cert},
            "MSGX_CONTROL__TLS_CERT and MSGX_CONTROL__TLS_KEY are set together",
        ),
        (
            lambda keys: {"tls_client_ca": keys.ca.cert},
            "MSGX_CONTROL__TLS_CLIENT_CA needs MSGX_CONTROL__TLS_CERT",
        ),
        (
            lambda keys: {"tls_cert": Path("/nowhere/x.crt"), "tls_key": keys.server.key},
            "MSGX_CONTROL__TLS_CERT cannot be read: No such file or directory",
        ),
        (
            lambda keys: {"tls_cert": keys.server.cert, "tls_key": keys.client.key},
            "must be a PEM certificate and its key",
        ),
        (
            lambda keys: {"tls_cert": keys.server.key, "tls_key": keys.server.key},
            "must be a PEM certificate and its key",
        ),
        (
            lambda keys: {"tls_cert": keys.server.cert, "tls_key": keys.locked},
            "without a password",
        ),
        (
            lambda keys: {
                "tls_cert": keys.server.cert,
                "tls_key": keys.server.key,
                "tls_client_ca": keys.server.key,
            },
            "MSGX_CONTROL__TLS_CLIENT_CA must be the PEM certificate of an authority",
        ),
    ],
)
def test_a_file_that_does_not_fit_refuses_the_start_in_one_sentence(
    keys: Keys, files: Callable[[Keys], dict[str, Path]], said: str
) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        tls.credentials(Control(**files(keys)))

    assert "\n" not in str(refused.value)
    assert "PRIVATE KEY" not in str(refused.value)


@pytest.mark.parametrize(
    ("bind", "readable"),
    [("127.0.0.1:0", False), ("0.0.0.0:0", True)],
)
def test_an_address_that_others_reach_is_told_apart(bind: str, readable: bool) -> None:
    tokens = Admin(token=SecretStr(TOKEN))
    services = [ControlService.__new__(ControlService).service()]

    assert Address(Control(bind=bind), tokens, services).readable is readable
    assert not Address(Control(bind=bind), Admin(), services).readable


def test_an_address_in_use_refuses_the_start_in_one_sentence() -> None:
    with (
        door(Admin()) as port,
        pytest.raises(ValueError, match=f"MSGX_CONTROL__BIND 127.0.0.1:{port} cannot be taken"),
    ):
        Address(Control(bind=f"127.0.0.1:{port}"), Admin())
