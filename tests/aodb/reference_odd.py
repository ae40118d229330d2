"""Reference messages that must change nothing: what breaks a rule, and what has no record."""

import random
from collections.abc import Callable, Iterator

from tests.aodb.draft import Draft
from tests.aodb.reference_records import KEY_TAGS, record, state
from tests.aodb.sis import Node, el

Make = Callable[..., Draft]


def refused_drafts(rng: random.Random, draft: Make) -> Iterator[Draft]:
    """Makes messages of several categories that end DEAD."""
    for category in ("COUL", "AIRL", "SLST", "CHLT"):
        good = [record(rng, category, key) for key in ("X1", "X2")]
        key_tag = KEY_TAGS[category]
        packages: tuple[tuple[str, str, list[Node], str | None], ...] = (
            ("RECS too large", "DNLD", good, "3"),
            ("RECS too small", "DNLD", good, "1"),
            ("RECS missing", "DNLD", good, ""),
            ("RECS letters", "ADD", good, "two"),
            ("empty package", "DNLD", [], "0"),
            ("a key twice", "DNLD", [*good, good[0]], None),
            ("a key twice", "UPD", [good[0], good[0]], None),
            ("no key", "DNLD", [*good, el(category, "", el("CNMC", "x"))], None),
            ("empty key", "ADD", [el(category, "", el(key_tag))], None),
            ("two keys", "UPD", [el(category, "", el(key_tag, "1"), el(key_tag, "2"))], None),
            ("long key", "DEL", [el(category, "", el(key_tag, "k" * 65))], None),
        )
        for label, action, records, recs in packages:
            yield draft(category, action, records, recs=recs, label=f"protocol: {label}")
        yield draft(category, "DNLD", [], recs="4", label="malformed: no record")
        yield draft(category, "UPD", [el("ZZZZ")], recs="", label="malformed: no record")
    twice = [el("STGP", "A"), el("STGP", "B")]
    stand = el("SLST", "", el("SCOD", "1"), *twice)
    yield draft("SLST", "ADD", [stand], label="protocol: a field twice")
    for label, wrong in _states():
        yield draft("RSTA", "DNLD", [state("GATE", "03", stat="D"), wrong], label=label)


def _states() -> Iterator[tuple[str, Node]]:
    """Makes states that cannot be; each package holds a good one before it."""
    early, late = "15JUN260800", "15JUN261000"
    yield "protocol: RTYP", state("DOOR", "1", stat="D")
    yield "protocol: STAT", state("GATE", "1", stat="X")
    yield "protocol: no STAT", state("GATE", "1", stat="")
    yield "protocol: no RSID", state("GATE", "", stat="D")
    yield "protocol: time", state("GATE", "1", stat="D", begin="15JUN262408")
    yield "protocol: window", state("GATE", "1", stat="D", begin=late, end=early)
    yield "protocol: window", state("GATE", "1", stat="D", begin=late, end=late)
    yield "protocol: end of E", state("GATE", "1", stat="E", end=late)
