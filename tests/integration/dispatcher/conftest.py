"""What the delivery tests share."""

import pytest

from services.dispatcher.settings import Settings
from tests.support.dispatcher import make_topics, settings


@pytest.fixture
def given(pg_dsn: str, kafka_bootstrap: str, kafka_prefix: str) -> Settings:
    """The service's settings on a fresh database, with both topics made."""
    made = settings(pg_dsn, kafka_bootstrap, kafka_prefix)
    make_topics(made)
    return made
