"""The read-only token admits to what changes nothing, in every service."""

from typing import Any, Final

import pytest

from msgx.runtime.address import GrpcService
from msgx.runtime.control import ControlService
from services.dispatcher.admin import Delivery
from services.dispatcher.request_admin import Requests
from services.intake.admin import Marks
from services.processor.admin import Replays
from services.refdata.admin import Records
from tools.gen_grpc import SERVED_BY, calls

SERVICES: Final = (ControlService, Delivery, Marks, Records, Replays, Requests)


def _service(kind: Any) -> GrpcService:
    """Return what a class offers; that needs no instance with a connection."""
    offered: GrpcService = kind.__new__(kind).service()
    return offered


@pytest.mark.covers("R35", "R55")
@pytest.mark.parametrize("kind", SERVICES)
def test_a_call_that_names_an_operator_is_no_read_and_every_other_one_is(kind: type) -> None:
    offered = _service(kind)

    wanted = {
        one.name for one in calls() if one.service == offered.descriptor.name and one.reads
    }

    assert offered.reads == wanted


def test_every_service_of_the_contract_is_looked_at() -> None:
    named = {_service(kind).descriptor.name for kind in SERVICES}

    assert named == set(SERVED_BY) == {one.service for one in calls()}
