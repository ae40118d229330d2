"""The connection breaks at the COMMIT of a package: whether it was done is read from the state
(R12, R13, B42)."""

import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from msgx.domain.failure import Away
from msgx.store.service_term import Service
from tests.support.cutting import cutting
from tests.support.processor import Line
from tests.support.refdata import Desk, gates

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@pytest.mark.covers("R12", "R13", "R16", "INV-26", "INV-20b", "B42")
@pytest.mark.parametrize("is_done", [False, True], ids=["not done", "done"])
def test_a_package_whose_commit_has_no_answer_has_one_effect(
    line: Line, desk: Desk, is_done: bool
) -> None:
    desk.run(gates("DNLD", "1", "2"))
    with cutting(make_conninfo(line.places.dsn, user="msgx_refdata")) as cutter:
        desk.restart(database={"dsn": SecretStr(cutter.dsn)})
        desk.keeper.step()  # leads
        head = desk.route(gates("DNLD", "2", "3"))
        cutter.arm(1, is_done=is_done)

        with pytest.raises(Away):
            desk.keeper.step()
        line.wait_for_no_leader(Service.REFDATA)
        after_the_cut = line.end(head)[0], set(desk.records("GLST"))
        desk.run()

        assert cutter.cuts == 1
    assert after_the_cut == (("SUCCEEDED", {"2", "3"}) if is_done else ("PENDING", {"1", "2"}))
    assert line.end(head) == ("SUCCEEDED", None, None)
    assert desk.records("GLST").keys() == {"2", "3"}
    assert {source[0] for source in desk.sources("GLST").values()} == {head}
    assert (line.row(head)["attempts"], line.row(head)["infra_attempts"]) == (0, 0)
