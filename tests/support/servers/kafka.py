"""Topics for tests: a prefix of its own, and nothing left under it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka.admin import AdminClient


@contextmanager
def prefix(bootstrap: str) -> Iterator[str]:
    """Yield a unique topic prefix and delete the topics under it at the end."""
    own = f"test-{secrets.token_hex(6)}."
    try:
        yield own
    finally:
        admin = AdminClient({"bootstrap.servers": bootstrap})
        left = [name for name in admin.list_topics(timeout=10).topics if name.startswith(own)]
        for deleted in admin.delete_topics(left).values() if left else ():
            deleted.result(timeout=15)
