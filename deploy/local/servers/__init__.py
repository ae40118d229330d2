"""The servers of the local stack by name. Elasticsearch joins here with the history archive."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from deploy.local.servers.kafka import Kafka
from deploy.local.servers.mariadb import MariaDB
from deploy.local.servers.postgres import PostgreSQL
from deploy.local.servers.redis import Redis
from deploy.local.servers.server import Server

SERVERS: Final[Mapping[str, Server]] = MappingProxyType(
    {server.name: server for server in (PostgreSQL(), MariaDB(), Redis(), Kafka())}
)
