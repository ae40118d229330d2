"""What stands on the line, and an operator of it."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.processor import Line
from tests.support.replaying import Operator, operating


@pytest.fixture
def pg(line: Line) -> "psycopg.Connection[object]":
    """The owner's connection of the line."""
    return line.pg


@pytest.fixture
def operator(line: Line) -> Iterator[Operator]:
    """An operator of the line's processor."""
    with operating(line) as one:
        yield one
