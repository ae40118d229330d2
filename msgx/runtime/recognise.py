"""Looking at a server before anything is started: a foreign one refuses, one that is away is
waited for later (R50)."""

from collections.abc import Callable

from msgx.domain.failure import Away, Unfit


def recognise(look: Callable[[], None]) -> None:
    """Look at a server; without an answer there is no verdict yet, and the first use looks
    again.

    Raises:
        SystemExit: the server is not the one that was meant.
    """
    try:
        look()
    except Away:
        return
    except Unfit as unfit:
        raise SystemExit(str(unfit)) from None
