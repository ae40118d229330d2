"""SIS messages as text: valid by default, each with an identity of its own."""

from itertools import count
from typing import Final

_NUMBERS: Final = count(100_000)


def message(type_: str, styp: str, body: str, *, seqn: str | None = None) -> str:
    """Return a message with this body."""
    number = seqn or f"{next(_NUMBERS):06d}"
    return (
        f"<MSG><META><SNDR>AODB</SNDR><SEQN>{number}</SEQN><DTTM>20260105083000</DTTM>"
        f"<TYPE>{type_}</TYPE><STYP>{styp}</STYP></META>{body}</MSG>"
    )


def flop(styp: str, content: str, *flids: str, seqn: str | None = None) -> str:
    """Return a FLOP with the same content for one or several flights."""
    bodies = (f"<FLOP><FLID>{flid}</FLID>{content}</FLOP>" for flid in flids or ("1",))
    return message("FLOP", styp, "".join(bodies), seqn=seqn)


def stand(value: str, *flids: str, seqn: str | None = None) -> str:
    """Return a FLOP that sets the stand."""
    return flop("STND", f"<STND>{value}</STND>", *flids, seqn=seqn)


def fdel(*flids: str) -> str:
    """Return a FLOP that deletes flights."""
    return flop("FDEL", "<FDEL/>", *flids)


def fltr(flid: str, content: str = "", *, sodt: str | None = "05JAN261200") -> str:
    """Return one flight of a package."""
    when = "" if sodt is None else f"<SODT>{sodt}</SODT>"
    return f"<FLTR><FLID>{flid}</FLID>{when}{content}</FLTR>"


def adft(*flights: str) -> str:
    """Return an update of single flights."""
    return _package("ADFT", flights)


def dnld(*flights: str, recs: int | None = None, seqn: str | None = None) -> str:
    """Return a day plan."""
    return _package("DNLD", flights, recs, seqn)


def resp(*flights: str) -> str:
    """Return the answer to a request for a day plan."""
    return _package("RESP", flights)


def _package(
    styp: str, flights: tuple[str, ...], recs: int | None = None, seqn: str | None = None
) -> str:
    number = len(flights) if recs is None else recs
    body = f"<SCHD><RECS>{number}</RECS>{''.join(flights)}</SCHD>"
    return message("SCHD", styp, body, seqn=seqn)
