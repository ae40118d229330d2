"""Every parameter, its default and its meaning (R37). A service declares which groups it reads.

`msgx.pipeline.claim-batch` is group `pipeline`, field `claim_batch`, variable
`MSGX_PIPELINE__CLAIM_BATCH`.
"""

import os
from datetime import timedelta
from typing import Annotated, Literal, Self, TypeVar
from zoneinfo import ZoneInfo

from pydantic import Field, model_validator

from msgx.config.group import Group, Retried, seconds
from msgx.config.kinds import (
    AddressOrNone,
    Bytes,
    Code,
    Codes,
    Copies,
    Duration,
    Events,
    FileOrNone,
    Flights,
    Glance,
    Groups,
    HostPort,
    HostPorts,
    HttpOrNone,
    Identifier,
    Ids,
    Ladder,
    Listening,
    Messages,
    Partitions,
    Positive,
    Rows,
    Share,
    Tag,
    Timeout,
    TokenOrNone,
    Topic,
    TopicPrefix,
    Tries,
    Zone,
)
from msgx.config.parameters import Unit
from msgx.config.reading import Unusable, read_from
from msgx.config.urls import DatabaseDsn, MailboxUrl, RedisUrl
from msgx.domain.backoff import doubling
from msgx.domain.flop import DEFAULT_GROUPS
from msgx.domain.refdata import Reading


class Database(Group):
    """Our PostgreSQL."""

    dsn: DatabaseDsn  # libpq connection string; it may hold a password
    connect_timeout: Timeout = timedelta(seconds=3)  # for a connection to stand
    statement_timeout: Timeout = timedelta(seconds=10)  # for one statement
    lock_timeout: Timeout = timedelta(seconds=5)  # for a lock within a statement


class Mailbox(Group):
    """The shared MySQL mailbox; its schema is never ours to change (C-2)."""

    url: MailboxUrl  # mysql://user:password@host:port/schema
    zone: Zone = ZoneInfo("Asia/Shanghai")  # of its DATETIME columns
    timeout: Timeout = timedelta(seconds=5)  # for an answer, and for a whole write
    # how long its rows stay there (R_keep); nothing is deleted by us yet
    retention: Positive = timedelta(days=7)
    read_only: bool = False  # shadow mode: no mark, insert or cleanup (R50)
    # host names or UUIDs of the servers that may answer (R50); empty: any
    expected_server: Codes = frozenset()
    expected_schema: str = ""  # the schema that the URL must lead to (R50); empty: any

    @property
    def expects(self) -> bool:
        """Tell whether anything is expected of the server."""
        return bool(self.expected_server or self.expected_schema)


class Airport(Group):
    """The one airport of this gateway."""

    zone: Zone = ZoneInfo("Asia/Shanghai")  # of the times in messages, and of those we show
    day_cut: Duration = timedelta()  # the operation day begins this long after local midnight


class Intake(Group):
    """Scanning (R10): fast from the highest id, near over the last ids, full from the
    beginning."""

    # rest when a fast round found nothing more
    poll_interval: Positive = timedelta(seconds=0.2)
    near_window: Ids = 5000  # ids that a near round repeats
    near_interval: Positive = timedelta(seconds=5)  # rest between two near rounds
    full_scan_duty: Share = 0.05  # most share of the time for full rounds


class Pipeline(Retried):
    """Registration, processing and backfill."""

    claim_batch: Rows = 200  # rows a page of a scan
    prefetch: Messages = 16  # heads fetched and decoded ahead
    idle_interval: Glance = timedelta(seconds=0.2)  # rest at an empty queue, 1 s at most
    max_attempts: Tries = 5  # tries until DEAD, faults of servers not counted
    ladder: Ladder = seconds(5, 30, 120, 600)  # wait after each failed try but the last
    infra_backoff: Positive = timedelta(seconds=0.2)  # a server is away: doubling
    infra_backoff_limit: Positive = timedelta(seconds=2)  # the longest such wait
    # tries while a server is away; 0: no limit (R04); none dies unread
    infra_max_attempts: Annotated[int, Field(ge=0), Unit("tries")] = 0
    overdue_backfill: Positive = timedelta(hours=6)  # R: a mark that fails longer is given up
    backfill_batch: Rows = 200  # owed marks a transaction
    backfill_max_attempts: Tries = 10  # failures of one mark that raise an alarm; nothing else
    # wait after the first failure of a mark, doubling to the limit
    backfill_backoff: Positive = timedelta(seconds=1)
    backfill_backoff_limit: Positive = timedelta(minutes=5)  # the longest such wait
    event_retention: Positive = timedelta(days=7)  # of events delivered or discarded

    def infra_wait(self, faults: int) -> timedelta:
        """Return the wait after so many faults in a row of a server that is away (R04)."""
        return doubling(self.infra_backoff, self.infra_backoff_limit, faults)


class Proc(Group):
    """The records of messages."""

    # a day at least: how long after the end and its mark; a death stays as long as its text
    retention: Annotated[Duration, Field(ge=timedelta(days=1))] = timedelta(days=30)


class Identity(Group):
    """What tells a repeated message."""

    # how long a repetition is known as one; never shorter than `msgx.proc.retention` (R02)
    retention: Positive = timedelta(days=400)


class Dead(Group):
    """Messages that died."""

    keep_raw: bool = True  # keep their text, so that they stay repairable (R38)
    # how long after the death; then the text is gone, whatever the mailbox holds
    retention: Positive = timedelta(days=180)


class Audit(Group):
    """The record of what operators did."""

    retention: Positive = timedelta(days=400)  # how long an act is kept


class Flop(Group):
    """Which groups of FLOP subtypes are processed (R21)."""

    groups: Groups = DEFAULT_GROUPS  # the subtypes of other groups are SKIPPED(unsupported)


class Reference(Group):
    """What the interface leaves open about reference data (R54)."""

    begin_tag: Tag = "BGTM"  # of RSTA: the time at which its state begins
    end_tag: Tag = "EDTM"  # of RSTA: the time at which a resource is available again
    # codes of ORGN's OCAT to keep (passenger, maintenance, ramp handlers); none: all of them
    ocat: Codes = frozenset()

    @model_validator(mode="after")
    def _every_tag_is_another(self) -> Self:
        if len({self.begin_tag, self.end_tag, "RTYP", "RSID", "STAT"}) != 5:
            raise ValueError("begin-tag and end-tag need names of their own")
        return self

    @property
    def reading(self) -> Reading:
        """Return what the decoder takes."""
        return Reading(begin_tag=self.begin_tag, end_tag=self.end_tag, ocat=self.ocat)


class Schd(Group):
    """Day plans, and the latest-state topic."""

    batch: Flights = 200  # flights a transaction
    # of the flights of its days; a package that would delete more is refused; 1: off (R18)
    max_removal_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    flush_period: Positive = timedelta(seconds=1)  # rest between two waves of topic schd
    flush_limit: Events = 500  # events a wave of topic schd; a full one is followed at once
    # how long after its days, and after it came, the figures of a day plan are kept
    snap_log_retention: Positive = timedelta(days=90)


class Dispatch(Retried):
    """Delivery (R29)."""

    # most events a wave of topic msg; a wave goes at once, never filled up
    batch: Events = 2000
    idle_interval: Glance = timedelta(seconds=0.2)  # rest of topic msg at its end, 1 s at most
    pace: Positive = timedelta(seconds=0.1)  # rest of topic msg after a wave that was not full
    max_attempts: Tries = 8  # refusals of an event until DEAD, an absent broker not counted
    ladder: Ladder = seconds(1, 2, 4, 8, 16, 32, 60)  # wait after each refusal but the last
    # what a dead event does to later ones of its flight and topic
    after_dead: Literal["hold", "continue"] = "hold"
    # larger values are DEAD(TOO_LARGE) at once; a wave in memory takes at most 16 times as much
    max_message_bytes: Annotated[Bytes, Field(le=100_000_000)] = 1_000_000


class Request(Group):
    """Requests to the AODB: what they look like, and how long they are worth something (R08,
    R34)."""

    sender: Code = "OSH5"  # SNDR of what we send
    timeout: Positive = timedelta(minutes=10)  # an answer after this is refused
    retention: Positive = timedelta(days=90)  # how long closed requests are kept
    # how much the AODB's clock may be behind ours: an answer dated earlier is none
    clock_tolerance: Annotated[Duration, Field(ge=timedelta())] = timedelta(minutes=2)
    interval: Positive = timedelta(seconds=1)  # rest of the loop when nothing waits
    max_pending: Rows = 100  # requests that may wait; more are refused
    max_span: Positive = timedelta(days=366)  # the longest day plan that may be asked for
    begin_tag: Tag = "BGTM"  # of a day plan's begin in RQFD
    end_tag: Tag = "EDTM"  # of its end
    # of both: DD, MMM or MM, YY or YYYY, hh, mm, ss, and signs between them
    time_format: Annotated[str, Field(pattern=r"^[A-Za-z0-9 :./-]{1,32}$")] = "DDMMMYYhhmm"
    category_tag: Tag = "RTYP"  # of the asked category or resource type in RQRD
    table: Identifier = "COUTMSGS"  # of outbound messages in the mailbox
    id_column: Identifier = "COUTMSGS_ID"  # its auto-increment
    text_column: Identifier = "COUTMSGS_CLOB_MSG"  # the message
    inserted_column: Identifier = "COUTMSGS_DATE_INSERTED"  # our time, in the mailbox's zone
    routing_column: Identifier = "ROUTINGID"  # whom it is for
    routing: Annotated[str, Field(min_length=1, max_length=23)] = "AODB"  # its value

    @model_validator(mode="after")
    def _both_ends_can_be_told(self) -> Self:
        if self.begin_tag == self.end_tag:
            raise ValueError("begin-tag and end-tag need names of their own")
        if missing := [
            part for part in ("DD", "MM", "YY", "hh", "mm") if part not in self.time_format
        ]:
            raise ValueError(f"time-format lacks {', '.join(missing)}")
        return self


class Kafka(Group):
    """The broker and its two topics (C-9)."""

    bootstrap: HostPorts  # host:port, several separated by commas
    topic_msg: Topic = "msg"  # each change
    topic_schd: Topic = "schd"  # the latest state, compacted
    prefix: TopicPrefix = ""  # before the names of topics and transactional ids
    partitions: Partitions = 6  # of a topic that `topics` makes
    replication: Copies = 1  # of a topic that `topics` makes
    # for a wave; below the leadership time-out
    produce_timeout: Timeout = timedelta(seconds=5)

    @model_validator(mode="after")
    def _each_topic_is_another(self) -> Self:
        if self.topic_msg == self.topic_schd:
            raise ValueError("topic-msg and topic-schd need names of their own")
        return self


class Redis(Group):
    """The projection (R15, R30)."""

    url: RedisUrl  # redis://user:password@host:port/number
    key: str = "flightInfo"  # the hash of the shown flights
    prefix: str = ""  # before every key
    timeout: Timeout = timedelta(seconds=2)  # for an answer


class Projection(Group):
    """How often the processor looks whether Redis still holds a complete projection."""

    epoch_check: Positive = timedelta(seconds=1)  # how often the processor asks


class Leadership(Group):
    """A stopped process loses its session after this long (R13)."""

    # life of a session without a sign, 15 min at most, as long as Kafka lets transactions be
    timeout: Annotated[Timeout, Field(ge=timedelta(seconds=3), le=timedelta(minutes=15))] = (
        timedelta(seconds=8)
    )


class Control(Group):
    """gRPC: health, reflection, control."""

    # host:port, or unix:/path; port 0: any, see the log
    bind: Listening = "127.0.0.1:0"
    grace: Positive = timedelta(seconds=10)  # for the loops to end after SIGTERM
    tls_cert: FileOrNone = None  # PEM certificate, with its chain; not set: no TLS
    tls_key: FileOrNone = None  # PEM key of that certificate, without a password
    # PEM authority: every caller, probes too, shows a certificate of it, and may call anything
    tls_client_ca: FileOrNone = None


class Admin(Group):
    """Administrative calls over gRPC."""

    # bearer token that admits every call; without a token or client certificates there are none
    token: TokenOrNone = None
    # bearer token that admits only calls that change nothing
    read_token: TokenOrNone = None

    @model_validator(mode="after")
    def _reading_is_not_changing(self) -> Self:
        if self.token is not None and self.token == self.read_token:
            raise ValueError("read-token must be another one than token")
        return self


class Http(Group):
    """The HTTP door."""

    bind: HostPort = "127.0.0.1:8080"  # host:port
    max_body: Bytes = 1024 * 1024  # bytes, counted while streaming
    # for a client to send its request or take its answer
    timeout: Timeout = timedelta(seconds=10)


class Telemetry(Group):
    """Metrics, and where they go."""

    # host:port that answers GET /metrics; port 0: any, see the log; not set: nowhere
    metrics_bind: AddressOrNone = None
    # http(s)://host:port of a collector that takes OTLP over gRPC; not set: none
    otlp_endpoint: HttpOrNone = None
    period: Positive = timedelta(seconds=15)  # between two readings of tables, two exports


class ProcessSettings(Group):
    """What every process reads."""

    # name of the installation: in ce_source and transactional ids
    environment: Annotated[str, Field(min_length=1)]
    max_message_bytes: Bytes = 16 * 1024 * 1024  # bytes of inbound XML
    # least level that is logged
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    control: Control = Control()
    admin: Admin = Admin()
    telemetry: Telemetry = Telemetry()


class StoreSettings(ProcessSettings):
    """What every service reads."""

    database: Database


class ServiceSettings(StoreSettings):
    """What every service of which one instance leads reads."""

    leadership: Leadership = Leadership()


class AllSettings(ServiceSettings):
    """Every group of every service: the list of known variables, since one environment may
    serve several."""

    mailbox: Mailbox
    airport: Airport = Airport()
    intake: Intake = Intake()
    pipeline: Pipeline = Pipeline()
    proc: Proc = Proc()
    identity: Identity = Identity()
    dead: Dead = Dead()
    audit: Audit = Audit()
    flop: Flop = Flop()
    reference: Reference = Reference()
    schd: Schd = Schd()
    dispatch: Dispatch = Dispatch()
    request: Request = Request()
    kafka: Kafka
    redis: Redis
    projection: Projection = Projection()
    http: Http = Http()


S = TypeVar("S", bound=ProcessSettings)


def load(kind: type[S]) -> S:
    """Read `kind` from the environment, and from the file that MSGX_CONFIG names.

    Raises:
        SystemExit: names everything that is unknown, missing or wrong; never a value.
    """
    try:
        return read_from(kind, AllSettings, os.environ)[0]
    except Unusable as refusal:
        raise SystemExit(str(refusal)) from None
