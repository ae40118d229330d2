"""Refdata beside the line's processor."""

from collections.abc import Iterator

import pytest

from tests.support.processor import Line
from tests.support.refdata import Desk, keeping


@pytest.fixture
def desk(line: Line) -> Iterator[Desk]:
    """Refdata beside the line, stepped by the test."""
    with keeping(line) as one:
        yield one
