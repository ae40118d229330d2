"""Requests to outbound XML (R34, Q25): META as inbound, then one element named like the
TYPE."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from types import MappingProxyType
from typing import Final

from lxml import etree

from msgx.domain.requests import RequestType, Wish

# Own table: the month's name depends on no locale (B84).
_MONTHS: Final = (
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
)  # fmt: skip
_PARTS: Final = re.compile("YYYY|YY|MMM|MM|DD|hh|mm|ss")
_HEAD: Final = "YYYYMMDDhhmmss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What the interface leaves open about outbound messages."""

    zone: tzinfo  # the airport's
    sender: str
    begin_tag: str
    end_tag: str
    time_format: str
    category_tag: str


def encode(wish: Wish, form: Form, *, seqn: str, at: datetime) -> str:
    """Return the XML of a request that is sent `at` an instant under the number `seqn`.

    Raises:
        ValueError: a value holds what XML cannot.
    """
    root = etree.Element("MSG")
    root.append(_meta(wish.type, wish.styp, form, seqn, at))
    _fill(etree.SubElement(root, wish.type), _body(wish, form))
    text = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def head(type: RequestType, styp: str, form: Form, *, seqn: str, at: datetime) -> str:
    """Return the META of a request as it stands in its text, and in no other one."""
    return etree.tostring(_meta(type, styp, form, seqn, at), encoding="unicode")


def local(at: datetime, zone: tzinfo, pattern: str) -> str:
    """Return `at` in `zone`, written as `pattern` says."""
    here = at.astimezone(zone)
    parts: Mapping[str, str] = MappingProxyType(
        {
            "YYYY": f"{here.year:04}",
            "YY": f"{here.year % 100:02}",
            "MMM": _MONTHS[here.month - 1],
            "MM": f"{here.month:02}",
            "DD": f"{here.day:02}",
            "hh": f"{here.hour:02}",
            "mm": f"{here.minute:02}",
            "ss": f"{here.second:02}",
        }
    )
    return _PARTS.sub(lambda found: parts[found[0]], pattern)


def _meta(type: RequestType, styp: str, form: Form, seqn: str, at: datetime) -> etree._Element:
    meta = etree.Element("META")
    dttm = local(at, form.zone, _HEAD)
    _fill(meta, {"SNDR": form.sender, "SEQN": seqn, "DTTM": dttm, "TYPE": type, "STYP": styp})
    return meta


def _body(wish: Wish, form: Form) -> Mapping[str, str]:
    match wish.type:
        case RequestType.RQFD:
            return {
                tag: "" if at is None else local(at, form.zone, form.time_format)
                for tag, at in ((form.begin_tag, wish.begin), (form.end_tag, wish.end))
            }
        case RequestType.RQRD:
            return {form.category_tag: wish.rtyp or wish.styp}


def _fill(parent: etree._Element, texts: Mapping[str, str]) -> None:
    for tag, text in texts.items():
        etree.SubElement(parent, tag).text = str(text)
