"""The gauges of delivery and requests, as the tables have them."""

from collections.abc import Iterator

from msgx.domain.delivery import Target
from msgx.runtime.gauges import Reading
from msgx.store import delivery_figures, req_figures
from msgx.store.connect import Connection
from msgx.telemetry import metrics


def figures(conn: Connection) -> Iterator[Reading]:
    """Yield every gauge of the dispatcher."""
    yield from _delivery(conn)
    open_ = req_figures.read(conn)
    yield metrics.REQUESTS, {(state,): count for state, (count, _) in open_.items()}
    yield metrics.REQUESTS_AGE, {(state,): age for state, (_, age) in open_.items()}


def _delivery(conn: Connection) -> Iterator[Reading]:
    found = {topic.part: delivery_figures.read(conn, topic) for topic in Target}
    yield metrics.PENDING, {(topic,): one.pending for topic, one in found.items()}
    yield (
        metrics.OLDEST_UNSENT,
        {(topic,): one.oldest_unsent_seconds for topic, one in found.items()},
    )
    yield (
        metrics.HELD,
        {
            (topic, cause): count
            for topic, one in found.items()
            for cause, (count, _) in one.held.items()
        },
    )
    yield (
        metrics.HELD_AGE,
        {
            (topic, cause): age
            for topic, one in found.items()
            for cause, (_, age) in one.held.items()
        },
    )
    yield (
        metrics.DEAD_EVENTS,
        {
            (topic, name): count
            for topic, one in found.items()
            for name, count in one.dead.items()
        },
    )
