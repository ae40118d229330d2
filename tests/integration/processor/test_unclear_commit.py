"""The connection breaks at a COMMIT: whether it was done is read from the state, never guessed
(R12, R13, B42)."""

import pytest
from pydantic import SecretStr

from msgx.domain.failure import Away
from tests.support.cutting import cutting
from tests.support.messages import adft, fltr, stand
from tests.support.processor import Line
from tests.support.worker import ours

pytestmark = [
    pytest.mark.pg,
    pytest.mark.mysql,
    pytest.mark.redis,
    pytest.mark.covers("R12", "R13", "INV-20b", "INV-17b", "B42", "B113"),
]

DOMAIN, TERMINAL = 1, 2


@pytest.mark.parametrize("is_done", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("number", [DOMAIN, TERMINAL], ids=["domain", "terminal"])
def test_a_commit_whose_answer_is_lost_has_one_effect(
    line: Line, number: int, is_done: bool
) -> None:
    line.run(adft(fltr("1")))
    with cutting(ours(line.places.dsn)) as cutter:
        line.restart(database={"dsn": SecretStr(cutter.dsn)})
        line.run()  # leads, and has looked at the projection
        head = line.land(stand("7", "1"))
        cutter.arm(number, is_done=is_done)

        with pytest.raises(Away):
            line.worker.step()
        line.wait_for_no_leader()
        after_the_cut = line.flight().state_version, line.end(head)[0]
        line.run()

        assert cutter.cuts == 1
    committed = number == TERMINAL or is_done
    ended = number == TERMINAL and is_done
    assert after_the_cut == (2 if committed else 1, "SUCCEEDED" if ended else "PENDING")
    assert line.end(head) == ("SUCCEEDED", None, None)
    assert (line.row(head)["attempts"], line.row(head)["infra_attempts"]) == (0, 0)
    assert line.flight().state_version == 2
    entries = line.rows("SELECT flid FROM flight_journal WHERE msg_id = %s", head)
    assert entries == [{"flid": "1"}]
    assert [one["state_version"] for one in line.events()] == [1, 2]
    assert all(one["released_at"] is not None for one in line.events())
    line.agree()
