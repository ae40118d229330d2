"""A line for each test on databases that a module shares, emptied before each test."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.places import fresh
from tests.support.processor import Line, lining
from tests.support.replaying import Operator, operating
from tests.support.worker import Places, clear


@pytest.fixture(scope="module")
def places(
    postgres_url: str, pg_template: str, mysql_url: str, redis_server_url: str
) -> Iterator[Places]:
    """A migrated database, a mailbox and a Redis database."""
    with fresh(postgres_url, pg_template, mysql_url, redis_server_url) as made:
        yield made


@pytest.fixture
def line(places: Places) -> Iterator[Line]:
    """A processor on empty tables, stepped by the test."""
    clear(places)
    with lining(places) as one:
        yield one


@pytest.fixture
def pg(line: Line) -> "psycopg.Connection[object]":
    """The owner's connection of the line."""
    return line.pg


@pytest.fixture
def operator(line: Line) -> Iterator[Operator]:
    """An operator of the line's processor."""
    with operating(line) as one:
        yield one
