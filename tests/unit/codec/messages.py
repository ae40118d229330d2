"""Short ways to write a message and to ask the decoder what it says."""

from zoneinfo import ZoneInfo

from msgx.codec.decode import Decoder
from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.flop import FlopGroup
from msgx.domain.message import Adft, Flop, Message, Record, Reference, Refused, Schedule
from msgx.domain.refdata import Reading, Told

YEAR = 2026
SHANGHAI = ZoneInfo("Asia/Shanghai")
MAX_BYTES = 16 * 1024 * 1024
READING = Reading(begin_tag="BGTM", end_tag="EDTM", ocat=frozenset({"PHA", "MHA", "RHA"}))
DECODER = Decoder(
    zone=SHANGHAI, groups=frozenset(FlopGroup), max_bytes=MAX_BYTES, reference=READING
)

META = "<SNDR>AODB</SNDR><SEQN>000001</SEQN><DTTM>20260105083000</DTTM>"


def message(type_: str, styp: str, body: str, head: str = META) -> str:
    """Return a message with this body."""
    return f"<MSG><META>{head}<TYPE>{type_}</TYPE><STYP>{styp}</STYP></META>{body}</MSG>"


def flop(styp: str, content: str, flid: str = "<FLID>700001</FLID>") -> str:
    """Return a FLOP with one flight."""
    return message(
        "FLOP", styp, f"<FLOP>{flid}<FFID>CA-1-D-05JAN261200-D</FFID>{content}</FLOP>"
    )


def fltr(content: str = "", flid: int = 700001) -> str:
    """Return one flight of a package."""
    return f"<FLTR><FLID>{flid}</FLID>{content}</FLTR>"


def package(*flights: str, styp: str = "DNLD", recs: str | None = None) -> str:
    """Return a SCHD package; RECS is right unless given."""
    count = f"<RECS>{len(flights)}</RECS>" if recs is None else recs
    return message("SCHD", styp, f"<SCHD>{count}{''.join(flights)}</SCHD>")


def decode(text: str, decoder: Decoder = DECODER) -> Message:
    """Return what the decoder says in the year of these tests."""
    return decoder.decode(text, year=YEAR)


def records(text: str) -> tuple[Record, ...]:
    """Return the records of a message that must be acceptable."""
    payload = decode(text).payload
    assert isinstance(payload, Schedule | Adft | Flop), payload
    return payload.records


def record(text: str) -> Record:
    """Return the one record of a message that must be acceptable."""
    (only,) = records(text)
    return only


def reference_package(type_: str, styp: str, *records: str, recs: str | None = None) -> str:
    """Return a message with these records of reference data; RECS is right unless given."""
    count = f"<RECS>{len(records)}</RECS>" if recs is None else recs
    elements = (f"<{type_}>{content}</{type_}>" for content in records)
    return message(type_, styp, count + "".join(elements))


def reference(text: str, decoder: Decoder = DECODER) -> Reference:
    """Return the reference data of a message that must be acceptable."""
    payload = decode(text, decoder).payload
    assert isinstance(payload, Reference), payload
    return payload


def told_of(text: str, decoder: Decoder = DECODER) -> dict[str, Told]:
    """Return what the one record of a reference message tells."""
    (only,) = reference(text, decoder).records
    assert only.payload is not None
    return dict(only.payload)


def refusal(text: str, error_class: ErrorClass = ErrorClass.PROTOCOL) -> str:
    """Return why the payload is refused; the identity must be readable all the same."""
    refused = decode(text)
    assert isinstance(refused.payload, Refused), refused.payload
    assert refused.payload.error_class is error_class
    assert refused.meta.identity.startswith("AODB|")
    return refused.payload.text


def fault(text: str, decoder: Decoder = DECODER) -> Fault:
    """Return the fault of a text that has no identity."""
    try:
        accepted = decoder.decode(text, year=YEAR)
    except Fault as raised:
        return raised
    raise AssertionError(f"accepted: {accepted}")


def malformed(text: str, decoder: Decoder = DECODER) -> str:
    """Return why a text is MALFORMED before it has an identity."""
    raised = fault(text, decoder)
    assert raised.error_class is ErrorClass.MALFORMED
    return raised.text
