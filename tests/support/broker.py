"""A Kafka broker of a test's own: with other settings, who may do what, stopped and started."""

import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stubs do not re-export
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from deploy import local
from deploy.local.folder import LOCK
from deploy.local.servers.kafka import OWN
from msgx import clock
from tests.support.waiting import PATIENCE_SECONDS, until

HOST = "127.0.0.1"


@contextmanager
def broker(home: Path, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a broker in `home`, which is kept, with `settings` of its own; yield its address."""
    if settings is not None:
        folder = home / "kafka"
        folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        (home / LOCK).touch()  # a stack's folder, from before its first start
        lines = (f"{name}={value}\n" for name, value in settings.items())
        (folder / OWN).write_text("".join(lines))
    with local.running(home, servers=["kafka"], keep=True) as servers:
        yield servers.kafka


@contextmanager
def hung(home: Path) -> Iterator[None]:
    """Let the broker in `home` stand still: its connections stay, and nothing is answered."""
    (process,) = (int(one.name) for one in Path("/proc").glob("[0-9]*") if _serves(one, home))
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


@contextmanager
def denied(
    bootstrap: str,
    kind: ResourceType,
    name: str,
    operation: AclOperation = AclOperation.WRITE,
) -> Iterator[None]:
    """Let nobody do `operation` on a topic, or under a transactional id."""
    rule = (kind, name, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*")
    rules = [  # where there is a rule at all, nobody may do what none allows
        AclBinding(*rule, AclOperation.ALL, AclPermissionType.ALLOW),
        AclBinding(*rule, operation, AclPermissionType.DENY),
    ]
    chosen = AclBindingFilter(*rule, AclOperation.ANY, AclPermissionType.ANY)

    def stand(admin: AdminClient) -> int:
        return len(admin.describe_acls(chosen).result(timeout=PATIENCE_SECONDS))

    with AdminClient({"bootstrap.servers": bootstrap}) as admin:
        for future in admin.create_acls(rules).values():
            future.result(timeout=PATIENCE_SECONDS)
        until(lambda: stand(admin) == len(rules), "the broker minds the rules")
        try:
            yield
        finally:
            for future in admin.delete_acls([chosen]).values():
                future.result(timeout=PATIENCE_SECONDS)
            until(lambda: stand(admin) == 0, "the broker has forgotten the rules")


@contextmanager
def knocked(port: int = 0) -> Iterator[tuple[str, list[float]]]:
    """Yield an address where every connection is ended at once, and when each came."""
    listener = socket.create_server((HOST, port))
    seen: list[float] = []

    def answer() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                seen.append(clock.ticks())
                client.close()

    threading.Thread(target=answer, daemon=True).start()
    try:
        yield f"{HOST}:{listener.getsockname()[1]}", seen
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _serves(process: Path, home: Path) -> bool:
    """Tell whether it is the broker itself, not its guard."""
    try:
        program, *_, last = (process / "cmdline").read_text().rstrip("\0").split("\0")
    except (OSError, ValueError):  # it has ended, or is the kernel's
        return False
    return program.endswith("java") and last.startswith(str(home))
