"""Writes single records of reference data, with all that a category may hold."""

import random
from collections.abc import Callable

from tests.aodb.sis import Node, el

KEY_TAGS = {
    "COUL": "COUC", "ARPT": "ITCD", "AIRL": "ITOP", "AIRC": "ITAT", "REGN": "RNUM",
    "ORGN": "OGID", "FLTL": "FTYP", "TLST": "TCOD", "GLST": "GCOD", "SLST": "SCOD",
    "CLST": "CCOD", "BLST": "BCOD", "CHLT": "CCOD",
}  # fmt: skip

_LEFT_OUT = {
    "COUL": "COUN", "ARPT": "ANAM ACTY ICCD BDIS ATYP HAUL",
    "AIRC": "DESC CHAP MFWT MTWT MHTM MABR", "REGN": "OWID MFWT MTWT", "ORGN": "ONAM",
    "FLTL": "FDES FCML CTYP", "TLST": "TNAM TCAT TPAX", "SLST": "STNM MABS FEPU",
    "CLST": "CTNM CCAT", "BLST": "BTNM BCAT",
}  # fmt: skip


def record(rng: random.Random, category: str, key: str) -> Node:
    """Writes one record: key, fields, fields that nobody keeps, now and then a new one."""
    nodes = [el(KEY_TAGS[category], key), *_FIELDS.get(category, _names)(rng, key)]
    nodes += [
        el(tag, rng.choice(("", "left out", "01")))
        for tag in _LEFT_OUT.get(category, "").split()
        if rng.random() < 0.5
    ]
    if rng.random() < 0.1:
        nodes.append(el("NEWF", rng.choice(("", "新", "00"))))
    if rng.random() < 0.05:
        nodes += [el("NEWL", "1"), el("NEWL", "2"), el("DEEP", "", el("IN", "1"))]
    rng.shuffle(nodes)
    return el(category, "", *nodes)


def state(
    rtyp: str, rsid: str, *, stat: str, begin: str | None = None, end: str | None = None
) -> Node:
    """Writes one RSTA record; None: the tag is absent."""
    window = [
        el(tag, text) for tag, text in (("BGTM", begin), ("EDTM", end)) if text is not None
    ]
    return el("RSTA", "", el("RTYP", rtyp), el("RSID", rsid), el("STAT", stat), *window)


def _names(rng: random.Random, key: str) -> list[Node]:
    return [el("CNMC", rng.choice(("", f"名称 {key}", "A & B")))]


def _country(rng: random.Random, key: str) -> list[Node]:
    return [*_names(rng, key), *(el("REGC", code) for code in rng.sample(("B", "VR", ""), 2))]


def _airport(rng: random.Random, key: str) -> list[Node]:
    return [*_names(rng, key), el("COUC", rng.choice(("CN", "", "KR")))]


def _airline(rng: random.Random, key: str) -> list[Node]:
    rows = [
        el("TRML", rng.choice(("T3", "T5", "")), MVIN=mvin, FLIN=rng.choice("DI"))
        for mvin in "AD"[: rng.randrange(3)]
    ]
    parts = [el("CODE", "01"), el("NAME", rng.choice(("", "SUB"))), el("NAMC", "分公司")]
    subs = [el("SUBC", "", *parts[: rng.randrange(1, 4)]) for _ in range(rng.randrange(3))]
    return [*_names(rng, key), *rows, *subs, *([el("TRML")] if not rows else [])]


def _type(rng: random.Random, key: str) -> list[Node]:
    rows = [el("ABBR", f"B{key}", CODE=str(n)) for n in range(rng.randrange(3))]
    return [*_names(rng, key), *rows]


def _organisation(rng: random.Random, key: str) -> list[Node]:
    agents = [el("OCAT", code) for code in rng.sample(("PHA", "MHA", "RHA", "SHP"), 2)]
    groups = [el("OGRP", rng.choice(("G1", "G2", ""))) for _ in range(rng.randrange(4))]
    return [*_names(rng, key), *(agents if rng.random() < 0.9 else [el("OCAT")]), *groups]


def _stand(rng: random.Random, key: str) -> list[Node]:
    return [el("STGP", rng.choice(("EAST", "WEST GROUP 12", "", "一二三四五六七八九十")))]


def _counter(rng: random.Random, key: str) -> list[Node]:
    return [*_names(rng, key), el("CTML", rng.choice(("T3", "T5", "")))]


def _chute(rng: random.Random, key: str) -> list[Node]:
    return [*_counter(rng, key), el("CCAT", rng.choice("DI"))]


_FIELDS: dict[str, Callable[[random.Random, str], list[Node]]] = {
    "COUL": _country,
    "ARPT": _airport,
    "AIRL": _airline,
    "AIRC": _type,
    "ORGN": _organisation,
    "SLST": _stand,
    "CLST": _counter,
    "CHLT": _chute,
}
