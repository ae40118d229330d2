"""Long answers, page by page."""

from collections.abc import Callable
from typing import Final

from msgxctl.show import Row

PAGE: Final = 1000
"""The longest page that services give."""


def pages(ask: Callable[[int, Row | None], list[Row]], most: int) -> list[Row]:
    """Return at most so many rows; `ask` brings the next ones, given how many and the last row
    so far."""
    found: list[Row] = []
    while len(found) < most:
        wanted = min(PAGE, most - len(found))
        page = ask(wanted, found[-1] if found else None)
        found += page
        if len(page) < wanted:
            break
    return found
