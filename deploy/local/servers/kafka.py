"""Apache Kafka: one KRaft node, from its libraries."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from deploy.local import java
from deploy.local.children import Command, Family
from deploy.local.ports import HOST
from deploy.local.servers.server import Place, listens

HERE = Path(__file__).parent
OWN = "own.properties"
"""A file in the server's folder whose lines come after ours: a broker with other settings."""
CLUSTER = "bXNneC1sb2NhbC1rYWZrYQ"
"""`msgx-local-kafka` in base64. One in 64 random ids begins with a dash: an option to Kafka."""

MEMORY = ("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


@dataclass(frozen=True, slots=True)
class Kafka:
    """One node, broker and controller, that also serves transactions."""

    name: str = "kafka"
    title: str = "Kafka"
    port_count: int = 2

    def version(self) -> str:
        """Return the version of the libraries."""
        java.find()
        return java.KAFKA.version

    def initialise(self, place: Place, family: Family) -> None:
        """Fetch the libraries if need be, then format the log folder."""
        java.fetch(java.KAFKA, family, place.log)
        properties = _configure(place, place.unfinished)
        arguments = [
            *_java(place), "kafka.tools.StorageTool", "format", "--standalone",
            "-t", CLUSTER, "-c", str(properties),
        ]  # fmt: skip
        command = Command(arguments, place.folder)
        family.run("kafka-storage", command, place.log, timeout=120)

    def command(self, place: Place) -> Command:
        """The properties are written anew: the ports may have changed."""
        properties = _configure(place, place.data)
        return Command([*_java(place), "kafka.Kafka", str(properties)], place.folder)

    def ready(self, place: Place) -> bool:
        """Say whether its metadata names a broker."""
        if not listens(place.port):
            return False
        told: dict[str, Any] = {"bootstrap.servers": self.url(place), "log_level": 0}
        with contextlib.suppress(KafkaException), AdminClient(told) as client:
            return bool(client.list_topics(timeout=2).brokers)
        return False

    def url(self, place: Place) -> str:
        """Return the bootstrap address."""
        return f"{HOST}:{place.port}"


def _configure(place: Place, data: Path) -> Path:
    (place.folder / "log4j2.xml").write_text((HERE / "kafka-log4j2.xml").read_text())
    properties = place.folder / "kafka.properties"
    text = Template((HERE / "kafka.properties").read_text()).substitute(
        host=HOST, port=place.port, controller=place.ports[1], data=data
    )
    own = place.folder / OWN
    properties.write_text(text + (own.read_text() if own.exists() else ""))
    return properties


def _java(place: Place) -> list[str]:
    libraries = java.verified(java.KAFKA)
    return [
        java.find(), *MEMORY, f"-Dlog4j2.configurationFile={place.folder / 'log4j2.xml'}",
        "-cp", f"{libraries}/*",
    ]  # fmt: skip
