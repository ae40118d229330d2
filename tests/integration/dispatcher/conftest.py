"""What the delivery tests share."""

import pytest

from services.dispatcher.settings import DispatcherSettings
from tests.support.dispatcher import make_topics, settings


@pytest.fixture
def topicless(pg_dsn: str, kafka_bootstrap: str, kafka_prefix: str) -> DispatcherSettings:
    """The service's settings on a fresh database; no topic exists."""
    return settings(pg_dsn, kafka_bootstrap, kafka_prefix)


@pytest.fixture
def given(topicless: DispatcherSettings) -> DispatcherSettings:
    """The same, with both topics made."""
    make_topics(topicless)
    return topicless
