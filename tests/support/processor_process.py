"""The processor as a process: with settings of a real one, and stopped where a test wants."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from tests.support.process import Process, running
from tests.support.processor import Line
from tests.support.waiting import until
from tests.support.worker import Places, ours

_WAITS_FOR_A_LOCK = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'msgx-processor-leader'
       AND wait_event_type = 'Lock'
"""


def environment(places: Places) -> dict[str, str]:
    """Return the variables of a processor that waits for everything, however long a test that
    is held up takes, and is idle only for a moment."""
    return {
        "MSGX_DATABASE__DSN": ours(places.dsn),
        "MSGX_MAILBOX__URL": places.mailbox,
        "MSGX_REDIS__URL": places.redis,
        "MSGX_LEADERSHIP__TIMEOUT": "PT10M",
        "MSGX_DATABASE__LOCK_TIMEOUT": "PT10M",
        "MSGX_DATABASE__STATEMENT_TIMEOUT": "PT10M",
        "MSGX_PIPELINE__IDLE_INTERVAL": "PT0.02S",
    }


@contextmanager
def processing(line: Line, **variables: str) -> Iterator[Process]:
    """Run a processor; nothing of it is left at the end."""
    with running("processor", **{**environment(line.places), **variables}) as process:
        yield process


SOON_LOST: Final = {"MSGX_LEADERSHIP__TIMEOUT": "PT3S"}
"""What a process is given that shall lose its session soon after it was stopped."""


@contextmanager
def held(line: Line, statement: str) -> Iterator[None]:
    """Hold the rows of a SELECT locked."""
    with psycopg.connect(line.places.dsn) as holder:
        holder.execute(f"{statement} FOR UPDATE".encode())
        yield
        holder.rollback()


def wait_for_lock(line: Line) -> None:
    """Wait until the leading session waits for a lock."""
    until(lambda: line.one(_WAITS_FOR_A_LOCK), "the processor waits for our lock")


def wait_for_end(line: Line, msg_id: int, state: str = "SUCCEEDED") -> None:
    """Wait until the message has ended so."""
    until(lambda: line.end(msg_id)[0] == state, f"message {msg_id} is {state}")
