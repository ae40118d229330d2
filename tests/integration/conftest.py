"""What all tests on real servers share."""

import math

import pytest

from msgx.mailbox import connect


@pytest.fixture(autouse=True)
def _no_rest_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection to the mailbox is pinged, however long a test that is held up lets it rest:
    a ping is a statement more, and finds a lost connection before a step does."""
    monkeypatch.setattr(connect, "_PING_AFTER_SECONDS", math.inf)
