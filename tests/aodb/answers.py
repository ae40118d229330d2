"""The AODB's answers: what it makes of a request, and what the request then leads to."""

import random
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from xml.etree import ElementTree

from tests.aodb.airport import extra_leg
from tests.aodb.model import Expected, Flight, Reference
from tests.aodb.oracle import Oracle
from tests.aodb.reference import RESOURCES, SENDER, SOME_KEYS, draft
from tests.aodb.reference_records import record, state
from tests.aodb.schedule import fltr, package
from tests.aodb.sis import MONTHS, Layout, Meta, Node, render

FLIGHTS_A_DAY = 12
MOST_DAYS = 31
_FIRST_FLID = 6_600_000_000
_FIRST_SEQN = 900_001


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, and how the gateway must end it."""

    text: str
    kind: str
    expected: Expected


class Answerer:
    """Reads requests and answers each as a whole: RQFD with a plan of its own for every asked
    day, RQRD with all records of the category. The same seed gives the same answers."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._oracle = Oracle()
        self._answered = 0

    @property
    def flights(self) -> dict[str, Flight]:
        """The flights that the answers told."""
        return self._oracle.flights()

    @property
    def reference(self) -> dict[tuple[str, str], Reference]:
        """The records that the answers told."""
        return self._oracle.reference()

    def answer(self, request: str, now: datetime) -> Answer:
        """Returns the answer to one message of COUTMSGS.

        Raises:
            ValueError: it is no request.
        """
        try:
            root = ElementTree.fromstring(request)  # noqa: S314 - our own gateway wrote it
        except ElementTree.ParseError:
            raise ValueError("the request is not well-formed") from None
        match root.findtext("META/TYPE"), root.findtext("META/STYP"):
            case "RQFD", "NONE":
                return self._plan(root, now)
            case "RQRD", str(category):
                return self._reference(category, root.findtext("RQRD/RTYP"), now)
            case type_, styp:
                raise ValueError(f"{type_}-{styp} is no request")

    def _plan(self, root: ElementTree.Element, now: datetime) -> Answer:
        begin, end = (_time(root.findtext(f"RQFD/{tag}")) for tag in ("BGTM", "EDTM"))
        count = (end.date() - begin.date()).days + 1
        days = [begin.date() + timedelta(days=n) for n in range(count)]
        if end < begin or count > MOST_DAYS:
            raise ValueError("the span is no month")
        records = [
            node for day in days for at, node in self._flights_of(day) if begin <= at <= end
        ]
        whole = [day for day in days if begin <= _first(day) and _last(day) <= end]
        self._oracle.ask_plan(
            *(day.isoformat() for day in whole),
            partly=(day.isoformat() for day in days if day not in whole),
        )
        return self._sent("SCHD", package(records), "AODB", now)

    def _flights_of(self, day: date) -> list[tuple[datetime, Node]]:
        rng = random.Random(f"answer {self._seed} {day.isoformat()}")
        first = _FIRST_FLID + day.toordinal() % 10_000 * 100
        times = [
            datetime.combine(day, time(rng.randrange(24), rng.randrange(60)))
            for _ in range(FLIGHTS_A_DAY)
        ]
        legs = [extra_leg(rng, str(first + n), at) for n, at in enumerate(times)]
        return [(leg.sodt, fltr(rng, leg)) for leg in legs]

    def _reference(self, category: str, rtyp: str | None, now: datetime) -> Answer:
        rng = random.Random(f"answer {self._seed} {category}")
        named = rtyp if rtyp not in (None, category) else None
        if category == "RSTA":
            wanted = [one for one in RESOURCES if named in (None, one[0])]
            records = [state(*one, stat=rng.choice("DE")) for one in wanted]
        else:
            records = [record(rng, category, key) for key in SOME_KEYS[category]]
        self._oracle.ask_reference(category, named)
        return self._sent(category, draft(category, "RESP", records).body, SENDER, now)

    def _sent(self, type_: str, body: tuple[Node, ...], sender: str, now: datetime) -> Answer:
        seqn = str(_FIRST_SEQN + self._answered)
        meta = Meta(sender, type_, "RESP", seqn, f"{now:%Y%m%d%H%M%S}")
        text = render(meta, body, Layout())
        self._answered += 1
        return Answer(text, type_, self._oracle.judge(self._answered, text))


def _first(day: date) -> datetime:
    return datetime.combine(day, time())


def _last(day: date) -> datetime:
    return datetime.combine(day, time(23, 59))


def _time(text: str | None) -> datetime:
    """Reads DDMMMYYhhmm, as `msgx.request.time-format` has it by default."""
    try:
        day, month, rest = int((text or "")[:2]), (text or "")[2:5], (text or "")[5:]
        year, hour, minute = (int(rest[n : n + 2]) for n in (0, 2, 4))
        on = date(2000 + year, MONTHS.index(month) + 1, day)
        return datetime.combine(on, time(hour, minute))
    except ValueError:
        raise ValueError("a time of the request is not DDMMMYYhhmm") from None
