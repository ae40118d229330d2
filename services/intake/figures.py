"""The gauges of the marks, as the table has them."""

from collections.abc import Iterator

from msgx.runtime.gauges import Reading
from msgx.store import marking_figures
from msgx.store.connect import Connection
from msgx.telemetry import metrics


def figures(conn: Connection, *, stubborn: int) -> Iterator[Reading]:
    """Yield every gauge of intake that a table holds; `stubborn`: failures of one mark that
    raise an alarm."""
    found = marking_figures.read(conn, stubborn=stubborn)
    yield metrics.MARKS_OWED, {(): found.owed}
    yield metrics.MARKS_OWED_AGE, {(): found.oldest_seconds}
    yield metrics.MARKS_FAILING, {(): found.failing}
    yield metrics.MARKS_ABANDONED, {(one,): count for one, count in found.abandoned.items()}
