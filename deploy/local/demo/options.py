"""What `make demo` can be told, by variables."""

import os
from dataclasses import dataclass

from deploy.local.faults import CannotStart

PLAY_SECONDS = 20.0  # a whole day, unless SPEED says otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The choices of one run."""

    once: bool
    keep: bool
    flights: int
    seed: int
    speed: float | None  # simulated seconds a second; 0: as fast as the mailbox takes them


def read() -> Options:
    """Read the variables. Raises CannotStart when one is not usable."""
    return Options(
        once=os.environ.get("ONCE", "") == "1",
        keep=os.environ.get("KEEP", "") == "1",
        flights=int(_number("FLIGHTS") or 300),
        seed=int(_number("SEED") or 1),
        speed=_number("SPEED"),
    )


def _number(name: str) -> float | None:
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        raise CannotStart(f"{name} is {text!r}, which is not a number.") from None
    if not 0 <= number < 10**9:
        raise CannotStart(f"{name} is {text}, which is out of range.")
    return number
