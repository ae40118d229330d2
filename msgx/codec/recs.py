"""RECS: how many records a package says it has (B99, R23)."""

from collections.abc import Sequence

from msgx.codec.elements import Refusal, shown
from msgx.codec.values import BadValue, count


class Miscount(Refusal):
    """RECS is not there, or is not the number of records."""

    def __init__(self, text: str, declared: int | None = None) -> None:
        super().__init__(text)
        self.declared = declared


def agreed(counts: Sequence[str], have: int, tag: str) -> int:
    """Return the one count of `counts`, which is the number of records.

    Raises:
        Miscount: missing, twice, or another number.
        Refusal: no number.
    """
    package = f"the package has {have} {tag}"
    if len(counts) != 1 or not counts[0]:
        raise Miscount(f"RECS is {'missing' if len(counts) < 2 else 'there twice'}; {package}")
    try:
        declared = count(counts[0])
    except BadValue as bad:
        raise Refusal(f"RECS {shown(counts[0])} {bad}; {package}") from None
    if declared != have:
        raise Miscount(f"RECS says {declared}, {package}", declared)
    return declared
