"""What the tests of intake share: the adapter's side of the mailbox, and what is registered."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.support.intake import upstream


@pytest.fixture
def adapter(mailbox_url: str) -> Iterator[Any]:
    with upstream(mailbox_url) as connection:
        yield connection


@pytest.fixture
def registered(pg: "psycopg.Connection[Any]") -> Callable[[], list[int]]:
    """What has a record now."""
    query = "SELECT msg_id FROM proc_state ORDER BY msg_id"
    return lambda: [row[0] for row in pg.execute(query).fetchall()]
