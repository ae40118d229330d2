"""The gauges of the queue, as the tables have them."""

from collections.abc import Iterator

from msgx.runtime.gauges import Reading
from msgx.store import processing_figures, table_size
from msgx.store.connect import Connection
from msgx.telemetry import metrics


def figures(conn: Connection) -> Iterator[Reading]:
    """Yield every gauge of the processor that a table holds."""
    found = processing_figures.read(conn)
    head = found.head
    yield metrics.BACKLOG, {(): found.backlog}
    yield metrics.OLDEST_UNPROCESSED, {(): 0.0 if head is None else head.oldest_seconds}
    yield metrics.HEAD_WAIT, {} if head is None else {(head.route,): head.wait_seconds}
    yield (
        metrics.HEAD_TRIES,
        {} if head is None else {("own",): head.attempts, ("away",): head.infra_attempts},
    )
    yield metrics.DEAD_MESSAGES, {(one,): count for one, count in found.dead.items()}
    yield metrics.UNMAPPED, {(): found.unmapped}
    yield (
        metrics.TABLE_BYTES,
        {(table,): size for table, size in table_size.sizes(conn).items()},
    )
