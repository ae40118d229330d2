"""What the dispatcher reads (R37)."""

from datetime import timedelta
from typing import Final, Self

from pydantic import model_validator

from msgx.codec.encode import Form
from msgx.settings import (
    Airport,
    Dispatch,
    Kafka,
    Mailbox,
    Pipeline,
    ProcessSettings,
    Request,
    Schd,
    ServiceSettings,
)

_MARGIN: Final = timedelta(seconds=1)


class TopicSettings(ProcessSettings):
    """The part that names the topics: all that the `topics` command needs."""

    dispatch: Dispatch = Dispatch()
    kafka: Kafka


class DispatcherSettings(ServiceSettings):
    """The running service."""

    schd: Schd = Schd()
    dispatch: Dispatch = Dispatch()
    pipeline: Pipeline = Pipeline()
    request: Request = Request()
    airport: Airport = Airport()
    mailbox: Mailbox
    kafka: Kafka

    @property
    def form(self) -> Form:
        """What outbound messages look like."""
        request = self.request
        return Form(
            zone=self.airport.zone,
            sender=request.sender,
            begin_tag=request.begin_tag,
            end_tag=request.end_tag,
            time_format=request.time_format,
            category_tag=request.category_tag,
        )

    @property
    def transaction_timeout(self) -> timedelta:
        """How long the broker keeps a transaction of ours open: less than it takes to lose the
        leadership, so that nothing of a stopped instance hangs in front of the next one's."""
        return self.leadership.timeout - _MARGIN

    @model_validator(mode="after")
    def _a_deposed_instance_writes_nothing_late(self) -> Self:
        if self.kafka.produce_timeout > self.transaction_timeout:
            raise ValueError(
                "MSGX_KAFKA__PRODUCE_TIMEOUT must be at least one second below "
                "MSGX_LEADERSHIP__TIMEOUT"
            )
        return self


SETTINGS: Final = DispatcherSettings
