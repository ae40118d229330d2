"""What replays would come to, as it is shown."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgxctl.show import Column, Row


def _newer(row: Row) -> object:
    return "; ".join(
        f"{one['msg_id']} set {' '.join(one['tags'])} of {one['flid']}" for one in row["newer"]
    )


FORECASTS: Final[tuple[Column, ...]] = (
    ("message", "msg_id"),
    ("its replay", "verdict"),
    ("flights", "flights"),
    ("removals", "removals"),
    ("why", "text"),
    ("newer messages", _newer),
)


def counted(forecasts: Sequence[Row]) -> str:
    """Return how often each verdict occurs."""
    counts = Counter(str(one["verdict"]) for one in forecasts)
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
