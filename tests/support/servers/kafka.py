"""Topics for tests: a prefix of its own, and nothing left under it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.waiting import PATIENCE_SECONDS


@contextmanager
def prefix(bootstrap: str) -> Iterator[str]:
    """Yield a unique topic prefix and delete the topics under it at the end."""
    own = f"test-{secrets.token_hex(6)}."
    try:
        yield own
    finally:
        with AdminClient({"bootstrap.servers": bootstrap}) as admin:
            known = admin.list_topics(timeout=PATIENCE_SECONDS).topics
            left = [name for name in known if name.startswith(own)]
            for deleted in admin.delete_topics(left).values() if left else ():
                try:
                    deleted.result(timeout=PATIENCE_SECONDS)
                except KafkaException as fault:  # the list may still name what the test deleted
                    if fault.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                        raise
