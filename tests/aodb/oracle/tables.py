"""The interface's field tables as the oracle reads them: a second copy, on purpose."""

from dataclasses import KW_ONLY, dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TEXTS = _words(
    "ALCD ALSC FLNO FLTY ACFT RENO TAOP TAFL TRML CSOP CSFT STND PHAG FHAG MHAG REMC VIPP VIPR"
    " LBNO LBWT PAXC EXSC EXSR BDPB"
)
TIMES = _words("SODT ESTT ACTT BOTM LACL FINT APPT EGSR EGST PADT NAAT NEAT PEDT FTSS CNCL")
FLIDS = frozenset({"TAID", "MAID"})
CHOICES = {"MVIN": frozenset("AD"), "FLIN": frozenset("DIM")}
COUNTS = frozenset({"MAXP"})
SCALARS = TEXTS | TIMES | FLIDS | COUNTS | frozenset(CHOICES)

MARKS = {
    "FDIV": ("DDES", "DDIR"),
    "FRET": ("REID",),
    "FLAB": ("ARES",),
}
MARK_CHOICES = {"DDIR": frozenset({"TO", "FROM"}), "REID": frozenset("GA")}


@dataclass(frozen=True, slots=True)
class Rows:
    """A collection: its attributes, its children, which of them are times, and its limit."""

    attrs: tuple[str, ...]
    children: tuple[str, ...]
    _: KW_ONLY
    times: frozenset[str]
    limit: int
    text: bool = False


def _rows(attrs: str, children: str, times: str, limit: int, text: bool = False) -> Rows:
    return Rows(
        tuple(attrs.split()),
        tuple(children.split()),
        times=frozenset(times.split()),
        limit=limit,
        text=text,
    )


COLLECTIONS = {
    "GTDT": _rows("GTNO", "GATE PGOT PGCT GOTM GCTM GTYP", "PGOT PGCT GOTM GCTM", 99),
    "CKDT": _rows("CKNO", "CHKC CCLS PCOT PCCT COTM CCTM CTYP", "PCOT PCCT COTM CCTM", 99),
    "CLDT": _rows("CLNO", "BELT BCLS PCOT PCCT FBAG LBAG BTYP", "PCOT PCCT FBAG LBAG", 99),
    "CHDT": _rows("CHNO", "CHUT CCLS PCBT PCET CBTM CETM CTYP", "PCBT PCET CBTM CETM", 99),
    "PSDT": _rows("PSNO", "PSST STST STET", "STST STET", 9),
    "CHOT": _rows("CSNO", "CHTM CHID CHST", "CHTM", 99),
    "DELY": _rows("CODE STRT DURA", "", "STRT", 99, text=True),
    "ABTM": _rows("ASNO", "ABDG ABOP AOTM", "AOTM", 99),
    "ROUT": _rows("RTNO", "APCD SCAT SCDT", "SCAT SCDT", 6),
    "ERUT": _rows("RTNO", "APCD SCAT SCDT", "SCAT SCDT", 7),
}
ROUTE_POINTS_KEPT = 4

FLOP_TAGS = {
    **{
        styp: (styp,)
        for styp in _words(
            "ACFT ACTT BOTM CHOT FLTY CKDT CLDT CHDT CNCL ESTT FDIV FINT FLIN FRET GTDT LACL"
            " MAXP PSDT RENO ROUT TRML"
            " ABTM DELY PADT FTSS STND BDPB REMC"
        )
    },
    "HNAG": ("FHAG", "PHAG", "MHAG"),
    "TAOP": ("TAOP", "TAFL", "TAID"),
    "VIPP": ("VIPP", "VIPR"),
}
"""What a FLOP of this STYP may change; FDEL is the one further kind (R21)."""
