"""What the tests of msgxctl share."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.intake import upstream


@pytest.fixture
def adapter(mailbox_url: str) -> Iterator[Any]:
    """The adapter's side of the mailbox."""
    with upstream(mailbox_url) as connection:
        yield connection
