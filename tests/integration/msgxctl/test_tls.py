"""msgxctl over TLS: whom it believes, and what it shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from msgx.runtime.address import Address
from msgx.runtime.control import About, ControlService
from msgx.runtime.desk import Desk
from msgx.runtime.halt import Halt
from msgx.runtime.session import Session
from msgx.settings import Admin, Control, Database
from msgx.store import backlog
from msgx.store.service_term import Service
from msgxctl.failure import Status
from tests.support.calls import TOKEN
from tests.support.certificates import Pair, authority, signed
from tests.support.ctl import ctl, sentence


class Keys:
    """An authority, a server's and a client's certificate by it, and another authority."""

    def __init__(self, folder: Path) -> None:
        self.ca = authority(folder, "ca")
        self.server = signed(folder, "server", self.ca)
        self.client = signed(folder, "client", self.ca)
        self.other = authority(folder, "other")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """The certificates of this module."""
    return Keys(tmp_path_factory.mktemp("keys"))


@contextmanager
def answering(shown: Pair, admin: Admin, client_ca: Pair | None = None) -> Iterator[str]:
    """Answer as the api does, without loops and without PostgreSQL."""
    control: dict[str, Any] = {"tls_cert": shown.cert, "tls_key": shown.key}
    if client_ca is not None:
        control["tls_client_ca"] = client_ca.cert
    session = Session(Database(dsn=SecretStr("host=127.0.0.1 port=9")), "test")
    desk = Desk(None, session)
    about = About(Service.API, None, [], Halt(), backlog.of_nothing)
    given = Control(bind="127.0.0.1:0", **control)
    address = Address(given, admin, [ControlService(about, desk).service()])
    address.start()
    try:
        yield f"127.0.0.1:{address.port}"
    finally:
        address.stop()


@pytest.mark.covers("R55")
def test_a_service_is_believed_by_its_authority_only(keys: Keys) -> None:
    with answering(keys.server, Admin(token=SecretStr(TOKEN))) as at:
        status = ("--api-control", at)

        believed = ctl(*status, "--ca", keys.ca.cert, "status", "--json")
        stranger = ctl(*status, "--ca", keys.other.cert, "status")
        plain = ctl(*status, "status")
        tokenless = ctl(*status, "--ca", keys.ca.cert, "status", token="")

    assert believed.status == 0
    (told,) = believed.told
    assert (told["service"], told["serving"]) == ("api", True)
    assert "PostgreSQL" in told["store_fault"]
    assert (stranger.status, plain.status) == (Status.AWAY, Status.AWAY)
    assert tokenless.status == Status.DENIED
    assert sentence(stranger).endswith("its certificate is not one of the given CA")
    assert "it may want TLS" in sentence(plain)


@pytest.mark.covers("R55")
def test_a_certificate_admits_without_a_token(keys: Keys) -> None:
    with answering(keys.server, Admin(), keys.ca) as at:
        status = ("--api-control", at, "--ca", keys.ca.cert)
        own = ("--certificate", keys.client.cert, "--key", keys.client.key)

        admitted = ctl(*status, *own, "status", token="")
        nobody = ctl(*status, "status", token="")

    assert admitted.status == 0
    assert nobody.status == Status.AWAY


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--ca", "/nonexistent.crt"), "the CA file /nonexistent.crt cannot be read"),
        (("--certificate", "a.crt"), "go together"),
    ],
)
def test_files_that_do_not_fit_are_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    done = ctl("--api-control", "127.0.0.1:1", *arguments, "status")

    assert done.status == Status.USAGE
    assert words in sentence(done)
