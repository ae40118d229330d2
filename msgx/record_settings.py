"""How long records of messages and their identities are kept, for both services that let them
leave (R02, R37)."""

from typing import Self

from pydantic import model_validator

from msgx.settings import Dead, Identity, Proc, ServiceSettings


class RecordSettings(ServiceSettings):
    """What both services read that let records of messages leave: one the record, one the
    identity."""

    proc: Proc = Proc()
    identity: Identity = Identity()
    dead: Dead = Dead()

    @model_validator(mode="after")
    def _an_identity_outlives_its_record(self) -> Self:
        if self.identity.retention < self.proc.retention:
            raise ValueError("MSGX_IDENTITY__RETENTION is shorter than MSGX_PROC__RETENTION")
        return self
