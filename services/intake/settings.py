"""The parameters that intake reads."""

from typing import Final, Self

from pydantic import model_validator

from msgx.record_settings import RecordSettings
from msgx.settings import Intake, Mailbox, Pipeline


class IntakeSettings(RecordSettings):
    """What every service reads, and the mailbox, scanning, backfill and old records."""

    mailbox: Mailbox
    intake: Intake = Intake()
    pipeline: Pipeline = Pipeline()

    @model_validator(mode="after")
    def _a_mark_is_given_up_before_its_row_may_go(self) -> Self:
        if self.pipeline.overdue_backfill > self.mailbox.retention:
            raise ValueError(
                "MSGX_PIPELINE__OVERDUE_BACKFILL is longer than MSGX_MAILBOX__RETENTION"
            )
        return self


SETTINGS: Final = IntakeSettings
