"""The two topics: made by `python -m services.dispatcher topics`, checked at every start."""

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stubs do not re-export
    AdminClient,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from msgx.settings import Dispatch, Kafka

UNKNOWN: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    }
)
_POLICY: Final = {Target.MSG: "delete", Target.SCHD: "compact"}
_LOOK: Final = "DESCRIBE and DESCRIBE_CONFIGS"  # rights
HEADROOM: Final = 64 * 1024  # key, headers and framing beside the value


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it must be."""

    name: str
    partitions: int
    policy: str
    max_bytes: int


def topic_name(kafka: Kafka, target: Target) -> str:
    """Return the name of the topic of `target`."""
    return kafka.prefix + (kafka.topic_msg if target is Target.MSG else kafka.topic_schd)


def wanted(kafka: Kafka, dispatch: Dispatch, target: Target) -> Topic:
    """Return the topic of `target` as the parameters ask for it."""
    return Topic(
        topic_name(kafka, target),
        kafka.partitions,
        _POLICY[target],
        dispatch.max_message_bytes + HEADROOM,
    )


class Topics:
    """The broker's topics, looked at and made; every call is bounded, and has a client of its
    own that it closes: one that is only dropped may go on knocking at the broker (B12)."""

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self._timeout = kafka.produce_timeout.total_seconds()
        self._config: dict[str, Any] = {
            "bootstrap.servers": kafka.bootstrap,
            "socket.timeout.ms": round(self._timeout * 1000),
            "log_level": 0,
        }

    def create(self, topic: Topic) -> bool:
        """Create `topic`; return False if there is one of its name.

        Raises:
            Away: the broker does not answer, or refuses.
        """
        new = NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=self._kafka.replication,
            config={
                "cleanup.policy": topic.policy,
                "max.message.bytes": str(topic.max_bytes),
                "min.insync.replicas": str(max(1, self._kafka.replication - 1)),
            },
        )
        try:
            with AdminClient(self._config) as admin:
                made = admin.create_topics([new], request_timeout=self._timeout)
                self._result(made[topic.name])
        except KafkaException as raised:
            if raised.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return False
            raise Away(f"Kafka does not create topic {topic.name}: {_why(raised)}") from raised
        return True

    def faults(self, topic: Topic) -> list[str]:
        """Return what is wrong with the topic, in sentences; empty: nothing.

        Raises:
            Away: the broker does not answer.
        """
        try:
            with AdminClient(self._config) as admin:
                found = admin.list_topics(topic.name, timeout=self._timeout)
                metadata = found.topics[topic.name]
                if metadata.error is not None:
                    if metadata.error.code() in UNKNOWN:
                        return [f"topic {topic.name} does not exist"]
                    raise KafkaException(metadata.error)
                config = self._configured(admin, topic.name)
        except KafkaException as raised:
            if raised.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                # Whoever only writes need not have the right: nothing waits for this look.
                return [f"topic {topic.name} may not be looked at: {_LOOK} are needed"]
            raise Away(f"Kafka does not describe {topic.name}: {_why(raised)}") from raised
        return _differences(topic, len(metadata.partitions), config)

    def _configured(self, admin: AdminClient, name: str) -> dict[str, ConfigEntry]:
        resource = ConfigResource(ResourceType.TOPIC, name)
        asked = admin.describe_configs([resource], request_timeout=self._timeout)
        entries: dict[str, ConfigEntry] = self._result(asked[resource])
        return entries

    def _result(self, future: "Future[Any]") -> Any:
        try:
            return future.result(timeout=self._timeout + 1)
        except TimeoutError as late:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from late


def _differences(topic: Topic, partitions: int, config: dict[str, ConfigEntry]) -> list[str]:
    said = []
    if partitions != topic.partitions:
        said.append(
            f"topic {topic.name} has {partitions} partitions, not {topic.partitions}: "
            "the keys of another number lie elsewhere"
        )
    policy = config["cleanup.policy"].value
    if policy != topic.policy:
        said.append(f"topic {topic.name} has cleanup.policy={policy}, not {topic.policy}")
    max_bytes = int(config["max.message.bytes"].value or 0)
    if max_bytes < topic.max_bytes:
        said.append(
            f"topic {topic.name} takes messages of {max_bytes} bytes, "
            f"{topic.max_bytes} are needed"
        )
    return said


def _why(raised: KafkaException) -> str:
    return str(raised.args[0].name())
