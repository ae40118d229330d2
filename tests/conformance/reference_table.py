"""The categories of reference data: their keys, and what a record of each holds, in XML and
stored. A copy beside the registry, on purpose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

ACTIONS: Final = ("DNLD", "RESP", "ADD", "UPD", "DEL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One category: `xml` becomes `stored`, each of `empty` null; `ignored` leaves nothing."""

    key: str
    xml: str
    stored: Mapping[str, Any]
    empty: str
    ignored: str = ""
    unmapped: str = ""  # of the tags in `xml`, those that are counted


CATEGORIES: Final[Mapping[str, Kind]] = {
    "COUL": Kind(
        key="COUC", xml="<REGC>B</REGC><REGC>VR</REGC>", stored={"REGC": "B"},
        empty="REGC", ignored="COUN",
    ),
    "ARPT": Kind(
        key="ITCD", xml="<CNMC>西安 &amp; 咸阳</CNMC>", stored={"CNMC": "西安 & 咸阳"},
        empty="CNMC", ignored="ANAM ACTY ICCD BDIS ATYP HAUL", unmapped="CNMC",
    ),
    "AIRL": Kind(
        key="ITOP", xml='<TRML MVIN="D" FLIN="">T3</TRML><TRML MVIN="A"/>',
        stored={
            "TRML": [{"MVIN": "D", "FLIN": None, "TEXT": "T3"}, {"MVIN": "A", "TEXT": None}]
        },
        empty="TRML",
    ),
    "AIRC": Kind(
        key="ITAT", xml='<ABBR CODE="2">B77</ABBR><ABBR CODE="1">B7</ABBR>',
        stored={"ABBR": [{"CODE": "2", "TEXT": "B77"}, {"CODE": "1", "TEXT": "B7"}]},
        empty="ABBR", ignored="DESC CHAP MFWT MTWT MHTM MABR",
    ),
    "REGN": Kind(
        key="RNUM", xml="<ITAT>077</ITAT>", stored={"ITAT": "077"}, empty="ITAT",
        ignored="OWID MFWT MTWT", unmapped="ITAT",
    ),
    "ORGN": Kind(
        key="OGID", xml="<OCAT>SHP</OCAT><OCAT>PHA</OCAT><OGRP>G1</OGRP>",
        stored={"OCAT": ["SHP", "PHA"], "OGRP": ["G1"]}, empty="OCAT OGRP", ignored="ONAM",
    ),
    "FLTL": Kind(
        key="FTYP", xml="<SUBC><CODE>1</CODE><NAMC>正班</NAMC></SUBC><SUBC><NAME/></SUBC>",
        stored={"SUBC": [{"CODE": "1", "NAMC": "正班"}, {"NAME": None}]}, empty="SUBC",
        ignored="FDES FCML CTYP",
    ),
    "TLST": Kind(
        key="TCOD", xml="<CNMC>T5</CNMC>", stored={"CNMC": "T5"}, empty="CNMC",
        ignored="TNAM TCAT TPAX", unmapped="CNMC",
    ),
    "GLST": Kind(
        key="GCOD", xml="<OGRP>B</OGRP><OGRP>A</OGRP><OGRP>B</OGRP>",
        stored={"OGRP": ["B", "A", "B"]}, empty="OGRP",
    ),
    "SLST": Kind(
        key="SCOD", xml="<STGP>EAST GROUP 12</STGP>", stored={"STGP": "EAST GRO"}, empty="STGP",
        ignored="STNM MABS FEPU",
    ),
    "CLST": Kind(
        key="CCOD", xml="<CNMC>A1</CNMC><CTML>T5</CTML>", stored={"CNMC": "A1", "CTML": "T5"},
        empty="CNMC CTML", ignored="CTNM CCAT",
    ),
    "BLST": Kind(
        key="BCOD", xml="<BTML>03</BTML><BTML/>", stored={"BTML": ["03", None]}, empty="BTML",
        ignored="BTNM BCAT", unmapped="BTML",
    ),
    "CHLT": Kind(
        key="CCOD", xml="<CTML>T5</CTML><CCAT>D</CCAT><CNMC>A1</CNMC>",
        stored={"CNMC": "A1", "CTML": "T5", "CCAT": "D"}, empty="CNMC CTML CCAT",
    ),
    "RSTA": Kind(
        key="RTYP RSID",
        xml="<STAT>D</STAT><BGTM>05JAN260800</BGTM><EDTM>05JAN262400</EDTM>",
        stored={
            "STAT": "D",
            "BEGIN": "2026-01-05T08:00:00+08:00",
            "END": "2026-01-06T00:00:00+08:00",
        },
        empty="BGTM EDTM",
    ),
}  # fmt: skip


def record(category: str, key: str, content: str = "") -> str:
    """Return one record as text; of RSTA about a gate."""
    kind = CATEGORIES[category]
    keys = f"<RTYP>GATE</RTYP><RSID>{key}</RSID>"
    if category != "RSTA":
        keys = f"<{kind.key}>{key}</{kind.key}>"
    elif "<STAT" not in content:
        content = f"<STAT>E</STAT>{content}"
    return f"<{category}>{keys}{content}</{category}>"


def stored_key(category: str, key: str) -> str:
    """Return RKEY."""
    return f"GATE:{key}" if category == "RSTA" else key


def stored(category: str, key: str, **fields: Any) -> dict[str, Any]:
    """Return the payload of a record with these fields beside its key."""
    if category == "RSTA":
        return {"RTYP": "GATE", "RSID": key, "STAT": "E", **fields}
    return {CATEGORIES[category].key: key, **fields}
