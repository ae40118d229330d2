"""Where the session's servers come from; each is started when it is first asked for."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from deploy import local

# The server behind each fixture that hands out a server's address.
FIXTURES: Final[Mapping[str, str]] = {
    "postgres_url": "postgres",
    "mysql_url": "mysql",
    "redis_server_url": "redis",
    "kafka_bootstrap": "kafka",
}


def variable(server: str) -> str:
    """Return the variable that names a running server."""
    return f"MSGX_TEST_{server.upper()}_URL"


class Servers:
    """The servers of one test session. Never a silent skip: what cannot be had is an error."""

    def __init__(self, needed: Iterable[str], resources: ExitStack) -> None:
        self._needed = set(needed)
        self._resources = resources
        self._urls: dict[str, str] = {}

    def url(self, server: str) -> str:
        """Return the address of `server`; the first call starts all that the session needs."""
        if server not in self._urls:
            wanted = (self._needed | {server}) - set(self._urls)
            given = {name: text for name in wanted if (text := os.environ.get(variable(name)))}
            self._urls.update(given)
            missing = [name for name in local.ALL if name in wanted - set(given)]
            if missing and _docker_answers():
                self._urls.update({name: self._contained(name) for name in missing})
            elif missing:
                stack = local.running(servers=missing)
                self._urls.update(self._resources.enter_context(stack).urls)
        return self._urls[server]

    def _contained(self, server: str) -> str:
        container, address = CONTAINERS[server]()
        self._resources.enter_context(container)
        return address(container)


def _docker_answers() -> bool:
    """Say whether a Docker engine answers; looked at only where one could be."""
    if not (os.environ.get("DOCKER_HOST") or Path("/var/run/docker.sock").exists()):
        return False
    import docker

    try:
        client = docker.from_env(timeout=3)
        try:
            return bool(client.ping())
        finally:
            client.close()
    except (docker.errors.DockerException, OSError):
        return False


def _postgres() -> tuple[Any, Callable[[Any], str]]:
    from testcontainers.postgres import PostgresContainer

    return PostgresContainer("postgres:15.13", driver=None), lambda c: str(
        c.get_connection_url()
    )


def _mysql() -> tuple[Any, Callable[[Any], str]]:
    from testcontainers.mysql import MySqlContainer

    container = MySqlContainer(
        "mysql:8.0.42", username="root", root_password="msgx", dbname="msgx"
    )
    return (
        container,
        lambda c: (
            f"mysql://root:msgx@{c.get_container_host_ip()}:{c.get_exposed_port(3306)}/msgx"
        ),
    )


def _redis() -> tuple[Any, Callable[[Any], str]]:
    from testcontainers.redis import RedisContainer

    container = RedisContainer("redis:7.2.9")
    return (
        container,
        lambda c: f"redis://{c.get_container_host_ip()}:{c.get_exposed_port(6379)}/0",
    )


def _kafka() -> tuple[Any, Callable[[Any], str]]:
    from testcontainers.kafka import KafkaContainer

    container = KafkaContainer("confluentinc/cp-kafka:7.9.1").with_kraft()
    container.with_env("KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR", "1")
    container.with_env("KAFKA_TRANSACTION_STATE_LOG_MIN_ISR", "1")
    container.with_env("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false")
    return container, lambda c: str(c.get_bootstrap_server())


CONTAINERS: Final[Mapping[str, Callable[[], tuple[Any, Callable[[Any], str]]]]] = {
    "postgres": _postgres,
    "mysql": _mysql,
    "redis": _redis,
    "kafka": _kafka,
}
