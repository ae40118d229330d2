"""THE registry of metrics: every name that a service may use, with unit, labels and meaning.

`msgx.<group>.…` follows the parameters where there is one. Gauges come from the tables of the
service that exports them; counters are only what no table says. docs/metrics.md is made from
this module, and deploy/alerts.yaml names what stands here.
"""

from types import MappingProxyType
from typing import Final

from msgx.domain.delivery import Target
from msgx.domain.failure import ErrorClass
from msgx.domain.marking import Abandonment
from msgx.domain.processing import TERMINAL
from msgx.domain.refdata import Category
from msgx.domain.requests import OPEN, RequestState
from msgx.telemetry.metric import Counter, Gauge, Metric

_EVERY: Final = ("intake", "processor", "refdata", "dispatcher", "api")
_INTAKE: Final = ("intake",)
_PROCESSOR: Final = ("processor",)
_EXECUTORS: Final = ("processor", "refdata")  # of heads
_DISPATCHER: Final = ("dispatcher",)

_TOPIC: Final = {"topic": tuple(one.part for one in Target)}
_CLASS: Final = {"error_class": tuple(one.value for one in ErrorClass)}
_REQUEST: Final = {"state": tuple(one.value for one in (RequestState.PENDING, *OPEN))}
_TYPES: Final = ("", "SCHD", "FLOP", *(one.value for one in Category))  # "": not readable
_TABLES: Final = (  # that grow with the messages; all others together are OTHER
    "proc_state",
    "proc_attempt",
    "identity_ledger",
    "dead_letter",
    "flight_schd",
    "flight_journal",
    "msg_event",
    "req_track",
    "ref_master",
    "schd_snap_log",
    "admin_audit",
)
_LOOPS: Final = (
    "control",
    "leadership",
    "gauges",
    "poller",
    "backfill",
    "pump",
    "msg",
    "schd",
    "requests",
    "retention",
    "http",
)

# Every service.
READY: Final = Gauge(
    "msgx.service.ready",
    "1",
    services=_EVERY,
    meaning="1: it serves, and leads where one instance leads; 0: standby, or in trouble",
)
LOOP_FAULTS: Final = Counter(
    "msgx.service.loop_faults",
    "{fault}",
    services=_EVERY,
    meaning="steps of a loop that failed: a server was away, or a defect of ours",
    labels=MappingProxyType({"loop": _LOOPS, "cause": ("away", "defect")}),
)
PAUSED: Final = Gauge(
    "msgx.service.paused",
    "1",
    services=_EVERY,
    meaning="1: an operator lets the loop rest",
    labels=MappingProxyType({"loop": _LOOPS}),
)
CALLS_REFUSED: Final = Counter(
    "msgx.service.calls_refused",
    "{call}",
    services=_EVERY,
    meaning="calls to the control address that carried no token, or one that does not do",
)
GAUGES_AGE: Final = Gauge(
    "msgx.service.gauges_age_seconds",
    "s",
    services=("intake", "processor", "dispatcher"),
    meaning="how old the figures from the tables are; grows while PostgreSQL does not answer",
)

# The dispatcher: what leaves.
PENDING: Final = Gauge(
    "msgx.dispatch.pending",
    "{event}",
    services=_DISPATCHER,
    meaning="events that wait to be delivered, held ones included; counted up to 100,000",
    labels=MappingProxyType(_TOPIC),
)
OLDEST_UNSENT: Final = Gauge(
    "msgx.dispatch.oldest_unsent_seconds",
    "s",
    services=_DISPATCHER,
    meaning="since when the first released event that is not delivered could have left",
    labels=MappingProxyType(_TOPIC),
)
HELD: Final = Gauge(
    "msgx.dispatch.held_flights",
    "{flight}",
    services=_DISPATCHER,
    meaning="flights of which nothing leaves, by what the event in front is",
    labels=MappingProxyType({**_TOPIC, "cause": ("DEAD", "WAITING", "UNRELEASED")}),
)
HELD_AGE: Final = Gauge(
    "msgx.dispatch.held_oldest_seconds",
    "s",
    services=_DISPATCHER,
    meaning="how long the longest held flight has been held",
    labels=MappingProxyType({**_TOPIC, "cause": ("DEAD", "WAITING", "UNRELEASED")}),
)
DEAD_EVENTS: Final = Gauge(
    "msgx.dispatch.dead_events",
    "{event}",
    services=_DISPATCHER,
    meaning="events that will not be tried again by themselves; counted up to 10,000",
    labels=MappingProxyType({**_TOPIC, **_CLASS}),
)
DELIVERED: Final = Counter(
    "msgx.dispatch.delivered",
    "{event}",
    services=_DISPATCHER,
    meaning="events that the broker has acknowledged",
    labels=MappingProxyType(_TOPIC),
)
WAVES: Final = Counter(
    "msgx.dispatch.waves",
    "{transaction}",
    services=_DISPATCHER,
    meaning="Kafka transactions that were committed",
    labels=MappingProxyType(_TOPIC),
)
STALE: Final = Counter(
    "msgx.dispatch.stale",
    "{event}",
    services=_DISPATCHER,
    meaning="acknowledged events that were replaced or locked meanwhile: nothing was marked",
    labels=MappingProxyType(_TOPIC),
)
REFUSED: Final = Counter(
    "msgx.dispatch.refused",
    "{refusal}",
    services=_DISPATCHER,
    meaning="events that the broker refused, or that cannot be sent as they are",
    labels=MappingProxyType({**_TOPIC, **_CLASS}),
)
BROKER_AWAY: Final = Counter(
    "msgx.dispatch.broker_away",
    "{attempt}",
    services=_DISPATCHER,
    meaning="tries to reach the broker, or to have a wave committed, that it did not serve",
    labels=MappingProxyType(_TOPIC),
)

REQUESTS: Final = Gauge(
    "msgx.request.open",
    "{request}",
    services=_DISPATCHER,
    meaning="requests to the AODB that are not closed; PENDING ones are counted up to 10,000",
    labels=MappingProxyType(_REQUEST),
)
REQUESTS_AGE: Final = Gauge(
    "msgx.request.oldest_seconds",
    "s",
    services=_DISPATCHER,
    meaning="how long the longest of them has been in its state",
    labels=MappingProxyType(_REQUEST),
)

# Intake: the mailbox inwards, and the mark back.
MARKS_OWED: Final = Gauge(
    "msgx.pipeline.backfill.owed",
    "{mark}",
    services=_INTAKE,
    meaning="marks that are not in the mailbox yet; counted up to 100,000",
)
MARKS_OWED_AGE: Final = Gauge(
    "msgx.pipeline.backfill.oldest_owed_seconds",
    "s",
    services=_INTAKE,
    meaning="how long the oldest of them has been owed",
)
MARKS_FAILING: Final = Gauge(
    "msgx.pipeline.backfill.failing",
    "{mark}",
    services=_INTAKE,
    meaning="of them, those that failed `msgx.pipeline.backfill-max-attempts` times or more",
)
MARKS_ABANDONED: Final = Gauge(
    "msgx.pipeline.backfill.abandoned",
    "{mark}",
    services=_INTAKE,
    meaning="marks that were given up and not reopened; counted up to 10,000",
    labels=MappingProxyType({"reason": tuple(one.value for one in Abandonment)}),
)
REGISTERED: Final = Counter(
    "msgx.intake.registered",
    "{message}",
    services=_INTAKE,
    meaning="messages that were registered",
)
LATE_ARRIVALS: Final = Counter(
    "msgx.intake.late_arrivals",
    "{message}",
    services=_INTAKE,
    meaning="messages that were registered after one with a higher id (R11)",
)
SCANNED: Final = Counter(
    "msgx.intake.scanned",
    "{row}",
    services=_INTAKE,
    meaning="unmarked rows of the mailbox that a round looked at",
    labels=MappingProxyType({"round": ("fast", "near", "full")}),
)
ROUNDS: Final = Counter(
    "msgx.intake.rounds",
    "{round}",
    services=_INTAKE,
    meaning="rounds through the mailbox that came to their end",
    labels=MappingProxyType({"round": ("near", "full")}),
)
FULL_INTERVAL: Final = Gauge(
    "msgx.intake.full_interval_seconds",
    "s",
    services=_INTAKE,
    meaning="between the ends of the last two full rounds: it grows with the mailbox (R10)",
)
RETURNED_MARKS: Final = Gauge(
    "msgx.intake.returned_marks",
    "{row}",
    services=_INTAKE,
    meaning="confirmed marks that the last full round found gone from the mailbox (R52)",
)
ZERO_MARKS: Final = Gauge(
    "msgx.intake.zero_marks",
    "{row}",
    services=_INTAKE,
    meaning="marks of the last full round that are zero dates, taken as not processed (B54)",
)

# The processor: the head of the queue.
BACKLOG: Final = Gauge(
    "msgx.pipeline.backlog.messages",
    "{message}",
    services=_PROCESSOR,
    meaning="messages that are registered and not finished; counted up to 100,000",
)
OLDEST_UNPROCESSED: Final = Gauge(
    "msgx.pipeline.backlog.oldest_unprocessed_seconds",
    "s",
    services=_PROCESSOR,
    meaning="how long ago the head of the queue was registered; 0: the queue is empty",
)
HEAD_WAIT: Final = Gauge(
    "msgx.pipeline.head_wait_seconds",
    "s",
    services=_PROCESSOR,
    meaning="how long the head has been the head, or been handed over; `route` says to whom",
    labels=MappingProxyType({"route": ("", "REFDATA")}),
)
HEAD_TRIES: Final = Gauge(
    "msgx.pipeline.head_tries",
    "{try}",
    services=_PROCESSOR,
    meaning="failed tries of the head: counted against its limit, or because a server was away",
    labels=MappingProxyType({"cause": ("own", "away")}),
)
DEAD_MESSAGES: Final = Gauge(
    "msgx.pipeline.dead_messages",
    "{message}",
    services=_PROCESSOR,
    meaning="messages that are DEAD now, by error class; counted up to 10,000",
    labels=MappingProxyType(_CLASS),
)
UNMAPPED: Final = Gauge(
    "msgx.pipeline.unmapped_fields",
    "{tag}",
    services=_PROCESSOR,
    meaning="kinds of tags that were seen and that nothing reads (R51); counted up to 10,000",
)
TABLE_BYTES: Final = Gauge(
    "msgx.store.table_bytes",
    "By",
    services=_PROCESSOR,
    meaning="room that a table takes with its indexes; those of all services (B62)",
    labels=MappingProxyType({"table": _TABLES}),
)
FINISHED: Final = Counter(
    "msgx.pipeline.finished",
    "{message}",
    services=_EXECUTORS,
    meaning="messages that came to a terminal state, by the TYPE of their META",
    labels=MappingProxyType({"state": tuple(sorted(TERMINAL)), "type": _TYPES}),
)
FAILURES: Final = Counter(
    "msgx.pipeline.failures",
    "{try}",
    services=_EXECUTORS,
    meaning="tries of a message that failed, the last one of a DEAD message included",
    labels=MappingProxyType(_CLASS),
)
LOST: Final = Counter(
    "msgx.projection.lost",
    "{loss}",
    services=_PROCESSOR,
    meaning="times that Redis was found without a complete projection, which is then rebuilt",
)

ALL: Final = tuple(one for one in tuple(globals().values()) if isinstance(one, Metric))
"""Every metric, in the order of this page."""
