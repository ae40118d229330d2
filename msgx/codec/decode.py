"""Text to Message, in the order of verdicts of R58."""

import re
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import PurePath
from traceback import extract_tb
from typing import Final

from lxml import etree

from msgx.codec.digest import body_digest
from msgx.codec.payload import PayloadReader
from msgx.codec.position import BLANKS
from msgx.codec.reference import ReferenceReader, kind_of
from msgx.codec.unmapped import Tally
from msgx.codec.values import head_time
from msgx.codec.wellformed import parse
from msgx.domain.failure import ErrorClass, Fault, clean
from msgx.domain.flop import FlopGroup
from msgx.domain.message import Message, Meta, Payload
from msgx.domain.refdata import Reading

_CODE: Final = re.compile(r"[^\s|\x00-\x1f\x7f]{1,64}")
"""A part of the identity: bounded, and without the '|' that joins the parts to a key."""

_SEQN: Final = re.compile(r"[0-9]{1,19}")
_IDENTITY: Final = ("SNDR", "TYPE", "STYP", "SEQN")
_KNOWN: Final = frozenset({*_IDENTITY, "DTTM"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """Reads mailbox texts. One instance serves any number of threads."""

    zone: tzinfo  # the airport's
    groups: frozenset[FlopGroup]
    max_bytes: int
    reference: Reading | None = None  # how to read reference data; None: it is handed off (R16)

    def decode(self, text: str, *, year: int) -> Message:
        """Return what `text` says; two-digit years are near `year`, the present one (R25).

        A fault below META is a payload `Refused`, no exception: the identity can be bound.

        Raises:
            Fault: MALFORMED: not well-formed, forbidden, or without identity; CODEC_ERROR: a
                defect of ours.
        """
        try:
            return self._decode(text, year)
        except Fault:
            raise
        except Exception as error:  # noqa: BLE001 - raised again, as what it is (R46)
            raise Fault(ErrorClass.CODEC_ERROR, _defect(error)) from None

    def _decode(self, text: str, year: int) -> Message:
        root = parse(text, self.max_bytes)
        if root.tag != "MSG":
            raise _malformed("the root element is not MSG")
        tally = Tally()
        meta = self._meta(root, tally)
        digest = body_digest(root)
        payload = self._payload(root, meta, year, tally)
        return Message(meta=meta, body_digest=digest, payload=payload, unmapped=tally.result())

    def _payload(self, root: etree._Element, meta: Meta, year: int, tally: Tally) -> Payload:
        kind = kind_of(meta)
        if kind is None:
            flights = PayloadReader(zone=self.zone, year=year, groups=self.groups, tally=tally)
            return flights.read(root, meta)
        if self.reference is None:
            return kind
        records = ReferenceReader(
            kind=kind, zone=self.zone, year=year, reading=self.reference, tally=tally
        )
        return records.read(root)

    def _meta(self, root: etree._Element, tally: Tally) -> Meta:
        heads = list(root.iterchildren("META"))
        if len(heads) != 1:
            raise _malformed("META is missing" if not heads else "META stands twice")
        texts: dict[str, list[str]] = {}
        line = heads[0].sourceline
        for child in heads[0]:
            if child.tag not in _KNOWN:
                tally.add(f"META/{child.tag}", child.text)
            elif len(child):
                raise _malformed(f"META, line {line}: {child.tag} holds elements")
            else:
                texts.setdefault(child.tag, []).append((child.text or "").strip(BLANKS))
        sndr, type_, styp, seqn = (
            _identity(tag, texts.get(tag, []), line) for tag in _IDENTITY
        )
        dttm = texts.get("DTTM", [])
        return Meta(
            sndr=sndr,
            type=type_,
            styp=styp,
            seqn=seqn,
            dttm=head_time(dttm[0], self.zone) if len(dttm) == 1 else None,
        )


def _identity(tag: str, found: list[str], line: object) -> str:
    if len(found) == 1 and found[0]:
        form = _SEQN if tag == "SEQN" else _CODE
        if form.fullmatch(found[0]):
            return found[0]
        fault = "is not 1 to 19 digits" if tag == "SEQN" else "is no code"
    elif found:
        fault = "is empty" if len(found) == 1 else "stands twice"
    else:
        fault = "is missing"
    raise _malformed(f"META, line {line}: {tag} {fault}")


def _malformed(text: str) -> Fault:
    return Fault(ErrorClass.MALFORMED, clean(text))


def _defect(error: Exception) -> str:
    """Return what was raised and where; its own words may hold the message's text."""
    frames = extract_tb(error.__traceback__)
    place = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"the decoder raised {type(error).__name__}{place}"
