"""Every parameter, its default and its meaning (R37). A service declares which groups it reads.

`msgx.pipeline.claim-batch` is group `pipeline`, field `claim_batch`, variable
`MSGX_PIPELINE__CLAIM_BATCH`.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, Self, TypeGuard, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from msgx.domain.flop import DEFAULT_GROUPS, FlopGroup

PREFIX: Final = "MSGX_"
FOREIGN: Final = ("MSGX_TEST_", "MSGX_LOCAL_", "MSGX_MIGRATE__")
"""Variables of tests, launcher and migrations: not a service's, so not unknown either."""

Positive = Annotated[timedelta, Field(gt=timedelta())]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]


def _words(given: Any) -> Any:
    return given.replace(",", " ").split() if isinstance(given, str) else given


def _zone(given: Any) -> Any:
    try:
        return ZoneInfo(given) if isinstance(given, str) else given
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError("is not a known time zone") from error


Zone = Annotated[ZoneInfo, BeforeValidator(_zone)]
Ladder = Annotated[tuple[Positive, ...], NoDecode, BeforeValidator(_words)]
Groups = Annotated[frozenset[FlopGroup], NoDecode, BeforeValidator(_words)]


def _seconds(*values: float) -> tuple[timedelta, ...]:
    return tuple(timedelta(seconds=value) for value in values)


class Group(BaseModel):
    """A group of parameters: frozen, and zone objects are welcome."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, extra="forbid")


class Database(Group):
    """Our PostgreSQL."""

    dsn: SecretStr  # libpq connection string; it may hold a password
    connect_timeout: Positive = timedelta(seconds=3)
    statement_timeout: Positive = timedelta(seconds=10)
    lock_timeout: Positive = timedelta(seconds=5)


class Mailbox(Group):
    """The shared MySQL mailbox; its schema is never ours to change (C-2)."""

    url: SecretStr  # mysql://user:password@host:port/schema
    zone: Zone = ZoneInfo("Asia/Shanghai")  # of its DATETIME columns
    timeout: Positive = timedelta(seconds=5)
    retention: Positive = timedelta(days=7)
    read_only: bool = False  # shadow mode: no mark, insert or cleanup (R50)


class Airport(Group):
    """The one airport of this gateway."""

    zone: Zone = ZoneInfo("Asia/Shanghai")
    day_cut: timedelta = timedelta()  # the operation day begins this long after local midnight


class Intake(Group):
    """Scanning (R10): fast from the highest id, near over the last ids, full from the
    beginning."""

    poll_interval: Positive = timedelta(seconds=0.2)
    near_window: Count = 5000  # ids
    near_interval: Positive = timedelta(seconds=5)
    full_scan_duty: Share = 0.05  # of the time


class Pipeline(Group):
    """Registration, processing and backfill."""

    claim_batch: Count = 200
    prefetch: Count = 16  # heads fetched and decoded ahead
    idle_interval: Positive = timedelta(seconds=0.2)  # rest of the processor at an empty queue
    max_attempts: Count = 5
    ladder: Ladder = _seconds(5, 30, 120, 600)
    infra_backoff: Positive = timedelta(seconds=0.2)  # doubling to the limit: a server is away
    infra_backoff_limit: Positive = timedelta(seconds=2)
    infra_max_attempts: Annotated[int, Field(ge=0)] = 0  # 0: no limit (R04)
    overdue_backfill: Positive = timedelta(hours=6)  # R
    backfill_batch: Count = 200
    backfill_max_attempts: Count = 10  # alarm only
    backfill_backoff: Positive = timedelta(seconds=1)
    backfill_backoff_limit: Positive = timedelta(minutes=5)

    @model_validator(mode="after")
    def _every_rung_is_reachable(self) -> Self:
        if len(self.ladder) != self.max_attempts - 1:
            raise ValueError(
                f"ladder needs {self.max_attempts - 1} rungs, has {len(self.ladder)}"
            )
        return self


class Flop(Group):
    """Which groups of FLOP subtypes are processed (R21)."""

    groups: Groups = DEFAULT_GROUPS


class Schd(Group):
    """Day plans, and the latest-state topic."""

    batch: Count = 200  # flights a transaction
    max_removal_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0  # 1: off (R18)
    flush_period: Positive = timedelta(seconds=1)
    flush_limit: Count = 500


class Dispatch(Group):
    """Delivery (R29)."""

    batch: Count = 500  # events a wave
    idle_interval: Positive = timedelta(seconds=0.2)
    max_attempts: Count = 8
    ladder: Ladder = _seconds(1, 2, 4, 8, 16, 32, 60)
    after_dead: Literal["hold", "continue"] = "hold"
    max_message_bytes: Count = 1_000_000

    @model_validator(mode="after")
    def _every_rung_is_reachable(self) -> Self:
        if len(self.ladder) != self.max_attempts - 1:
            raise ValueError(
                f"ladder needs {self.max_attempts - 1} rungs, has {len(self.ladder)}"
            )
        return self


class Kafka(Group):
    """The broker and its two topics (C-9)."""

    bootstrap: str
    topic_msg: str = "msg"
    topic_schd: str = "schd"
    prefix: str = ""
    partitions: Count = 6
    replication: Count = 1
    produce_timeout: Positive = timedelta(seconds=5)


class Redis(Group):
    """The projection (R15, R30)."""

    url: SecretStr  # redis://user:password@host:port/number
    key: str = "flightInfo"
    prefix: str = ""
    timeout: Positive = timedelta(seconds=2)


class Projection(Group):
    """How often the processor looks whether Redis still holds a complete projection."""

    epoch_check: Positive = timedelta(seconds=1)


class Leadership(Group):
    """A stopped process loses its session after this long (R13)."""

    timeout: Annotated[timedelta, Field(ge=timedelta(seconds=3))] = timedelta(seconds=8)


class Control(Group):
    """gRPC: health, reflection, control."""

    bind: str = "127.0.0.1:0"
    grace: Positive = timedelta(seconds=10)  # for the loops to end after SIGTERM


class Http(Group):
    """The HTTP door."""

    bind: str = "127.0.0.1:8080"
    max_body: Count = 1024 * 1024  # bytes, counted while streaming
    timeout: Positive = timedelta(seconds=10)


class ProcessSettings(BaseSettings):
    """What every process reads."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        hide_input_in_errors=True,
        frozen=True,
        extra="ignore",
    )

    environment: Annotated[str, Field(min_length=1)]
    max_message_bytes: Count = 16 * 1024 * 1024  # of inbound XML
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    control: Control = Control()


class ServiceSettings(ProcessSettings):
    """What every service that owns something in PostgreSQL reads."""

    database: Database
    leadership: Leadership = Leadership()


class AllSettings(ServiceSettings):
    """Every group of every service: the list of known variables, since one environment may
    serve several."""

    mailbox: Mailbox
    airport: Airport = Airport()
    intake: Intake = Intake()
    pipeline: Pipeline = Pipeline()
    flop: Flop = Flop()
    schd: Schd = Schd()
    dispatch: Dispatch = Dispatch()
    kafka: Kafka
    redis: Redis
    projection: Projection = Projection()
    http: Http = Http()


def variables(kind: type[BaseModel], prefix: str = PREFIX) -> Iterator[str]:
    """Yield the environment variable of every parameter below `kind`."""
    for name, field in kind.model_fields.items():
        if _is_group(field.annotation):
            yield from variables(field.annotation, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}"


S = TypeVar("S", bound=ProcessSettings)


def load(kind: type[S]) -> S:
    """Read `kind` from the environment.

    Raises:
        SystemExit: names every variable that is unknown, missing or wrong; never a value.
    """
    known = set(variables(AllSettings))
    given = [
        name for name in os.environ if name.startswith(PREFIX) and not name.startswith(FOREIGN)
    ]
    faults = [f"{name}: unknown" for name in given if name not in known]
    try:
        settings = kind()
    except ValidationError as error:
        for fault in error.errors():
            if not fault["loc"]:  # about several variables: the text names them
                faults.append(fault["msg"].removeprefix("Value error, "))
                continue
            faults += [f"{name}: {fault['msg']}" for name in _at_fault(kind, fault["loc"])]
    if faults:
        raise SystemExit("\n".join(["the configuration is not usable:", *sorted(faults)]))
    return settings


def _at_fault(kind: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the variables that `path` means: a missing group stands for its required ones."""
    names = [part for part in path if isinstance(part, str)]
    group: type[BaseModel] = kind
    for name in names:
        field = group.model_fields.get(name)
        if field is None or not _is_group(field.annotation):
            return [PREFIX + "__".join(names).upper()]
        group = field.annotation
    prefix = PREFIX + "__".join(names).upper()
    required = [name for name, field in group.model_fields.items() if field.is_required()]
    return [f"{prefix}__{name.upper()}" for name in required] or [prefix]


def _is_group(annotation: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
