"""What a caller hears of a call that fails: whether another try can help."""

from pathlib import Path
from typing import Any

import psycopg
import pytest

from msgx.rpc.v1 import control_pb2 as pb
from msgx.runtime.loops import Loop
from tests.support.calls import WHO
from tests.support.control import Steps, leading, serving

pytestmark = pytest.mark.pg


@pytest.mark.covers("R46", "R55")
def test_what_postgresql_refuses_for_good_is_a_defect_and_no_outage(
    pg: "psycopg.Connection[Any]",
    pg_dsn: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        leading(pg_dsn) as leadership,
        serving(pg_dsn, tmp_path, Loop("msg", Steps()), leadership=leadership) as running,
    ):
        pg.execute("REVOKE INSERT ON service_control FROM msgx_dispatcher")
        code, said = running.caller.refusal("Pause", pb.PauseRequest(admin=WHO, part="msg"))

    assert code == "INTERNAL"
    assert said == "a defect: PostgreSQL refused answering an operator (42501)"
    assert "call failed" in caplog.messages
    assert pg.execute("SELECT FROM admin_audit").fetchall() == []
