"""The categories of reference data as the oracle reads them: a second copy, on purpose."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A repeated element with parts."""

    attrs: tuple[str, ...]
    children: tuple[str, ...]
    text: bool


KEYS = {
    "COUL": ("COUC",),
    "ARPT": ("ITCD",),
    "AIRL": ("ITOP",),
    "AIRC": ("ITAT",),
    "REGN": ("RNUM",),
    "ORGN": ("OGID",),
    "FLTL": ("FTYP",),
    "TLST": ("TCOD",),
    "GLST": ("GCOD",),
    "SLST": ("SCOD",),
    "CLST": ("CCOD",),
    "BLST": ("BCOD",),
    "CHLT": ("CCOD",),
    "RSTA": ("RTYP", "RSID"),
}

SINGLE = {category: frozenset[str]() for category in KEYS} | {
    "SLST": frozenset({"STGP"}),
    "CLST": frozenset({"CNMC", "CTML"}),
    "CHLT": frozenset({"CNMC", "CTML", "CCAT"}),
    "RSTA": frozenset({"STAT", "BGTM", "EDTM"}),
}
FIRST_ONLY = frozenset({("COUL", "REGC")})
WIDTH = {("SLST", "STGP"): 8}

IGNORED = {
    "COUL": ("COUN",),
    "ARPT": ("ANAM", "ACTY", "ICCD", "BDIS", "ATYP", "HAUL"),
    "AIRC": ("DESC", "CHAP", "MFWT", "MTWT", "MHTM", "MABR"),
    "REGN": ("OWID", "MFWT", "MTWT"),
    "ORGN": ("ONAM",),
    "FLTL": ("FDES", "FCML", "CTYP"),
    "TLST": ("TNAM", "TCAT", "TPAX"),
    "SLST": ("STNM", "MABS", "FEPU"),
    "CLST": ("CTNM", "CCAT"),
    "BLST": ("BTNM", "BCAT"),
}

LISTS = frozenset({"REGC", "OCAT", "OGRP"})
ROWS = {
    "TRML": Row(("MVIN", "FLIN"), (), text=True),
    "SUBC": Row((), ("CODE", "NAME", "NAMC"), text=False),
    "ABBR": Row(("CODE",), (), text=True),
}
