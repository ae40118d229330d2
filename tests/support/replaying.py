"""An operator of the processor: the calls of replay, as the service answers them."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, Final

import grpc
from pydantic import SecretStr

from msgx.codec.decode import Decoder
from msgx.rpc.v1 import replay_pb2 as pb
from msgx.rpc.v1 import replay_pb2_grpc
from msgx.runtime.address import Address
from msgx.settings import Admin as AdminSettings
from msgx.settings import Control
from services.processor.office import replays
from tests.support.calls import TOKEN, WHO, Calls
from tests.support.messages import stand
from tests.support.processor import Line, settings

DEAD: Final = pb.MESSAGE_STATE_DEAD
_DIE: Final = """
    INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, finished_at, error_class,
                            first_error_class, error_fingerprint, last_error, attempts,
                            backfill_at)
    SELECT id, 'DEAD', msgx_now(), msgx_now(), msgx_now(), %(error_class)s, %(error_class)s,
           'abc', 'a defect', 5, msgx_now()
      FROM unnest(%(ids)s::bigint[]) AS id
"""


class Operator(Calls):
    """Calls by name; what a stream tells is listed."""

    def __init__(self, port: int) -> None:
        self.address = f"127.0.0.1:{port}"
        channel = grpc.insecure_channel(self.address)
        super().__init__(channel, replay_pb2_grpc.ReplayServiceStub)

    def listed(self, *, limit: int = 0, after: int = 0, **fields: Any) -> Any:
        """List messages."""
        given = pb.MessageFilter(**fields)
        return self.call(
            "ListMessages",
            pb.ListMessagesRequest(filter=given, limit=limit, after_msg_id=after),
        )

    def show(self, msg_id: int) -> Any:
        """Show a message with its texts."""
        return self.call("ShowMessage", pb.ShowMessageRequest(msg_id=msg_id, with_text=True))

    def preview(self, *, force: bool = False, **fields: Any) -> Any:
        """Freeze what a filter picks."""
        given = pb.MessageFilter(**fields)
        return self.call("Preview", pb.PreviewRequest(filter=given, force=force))

    def forecast(self, *ids: int, **options: Any) -> list[tuple[str, str]]:
        """Return verdict and text of each of `ids`."""
        return [(verdict_of(one), one.text) for one in self.forecasts(*ids, **options)]

    def forecasts(self, *ids: int, **options: Any) -> list[Any]:
        """Dry-run `ids`."""
        request = pb.DryRunRequest(
            messages=pb.MessageIds(ids=ids), options=pb.ReplayOptions(**options)
        )
        return [one for answer in self.call("DryRun", request) for one in answer.forecasts]

    def replay(self, *ids: int, **options: Any) -> Any:
        """Replay `ids`; return what the last answer tells."""
        request = pb.ReplayRequest(
            admin=WHO, messages=pb.MessageIds(ids=ids), options=pb.ReplayOptions(**options)
        )
        return list(self.call("Replay", request))[-1]

    def correct(self, msg_id: int, text: str) -> Any:
        """Correct a message; return the forecast."""
        request = pb.CorrectRequest(admin=WHO, msg_id=msg_id, text=text)
        return self.call("Correct", request).forecast

    def skip(self, first: int, last: int = 0) -> int:
        """Skip messages; return how many."""
        request = pb.SkipRequest(admin=WHO, from_msg_id=first, to_msg_id=last)
        return int(list(self.call("Skip", request))[-1].skipped)


def verdict_of(one: Any) -> str:
    """Return the verdict's name."""
    return pb.Verdict.Name(one.verdict).removeprefix("VERDICT_")


def audit(line: Line) -> list[tuple[str, int]]:
    """Return the acts that were recorded, and how much each has changed."""
    rows = line.rows("SELECT action, affected FROM admin_audit ORDER BY audit_id")
    return [(row["action"], row["affected"]) for row in rows]


@contextmanager
def operating(line: Line, **options: Any) -> Iterator[Operator]:
    """Yield an operator of the line's processor, which leads."""
    given = settings(line.places, **options)
    line.worker.leadership.hold()
    decoder = Decoder(
        zone=given.airport.zone, groups=given.flop.groups, max_bytes=given.max_message_bytes
    )
    with ExitStack() as stack:
        board = line.worker.board
        service = replays(given, line.worker.leadership, decoder, board, stack).service()
        admin = AdminSettings(token=SecretStr(TOKEN))
        server = Address(Control(), admin, [service])
        stack.callback(server.stop)
        server.start()
        yield stack.enter_context(closing(Operator(server.port)))


def die(line: Line, ids: range, error_class: str = "PROCESSING") -> None:
    """Let messages be dead, with their texts in the mailbox."""
    with line.upstream.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (%s, %s)",
            [(msg_id, stand("7")) for msg_id in ids],
        )
    line.pg.execute(_DIE, {"ids": list(ids), "error_class": error_class})


def states(line: Line) -> dict[str, int]:
    """Return how many messages are in each state."""
    rows = line.rows("SELECT state, count(*) AS n FROM proc_state GROUP BY state")
    return {row["state"]: row["n"] for row in rows}


def some(*ids: int) -> pb.MessageIds:
    """Return single messages, as calls name them."""
    return pb.MessageIds(ids=ids)


def by_range(preview: Any, **options: Any) -> pb.ReplayRequest:
    """Return the call that replays what a preview found."""
    return pb.ReplayRequest(admin=WHO, range=preview.range, **options)


def is_free(operator: Operator) -> bool:
    """Tell whether no job is at work: as many as may be at once find a place."""
    empty = pb.ReplayRequest(admin=WHO, messages=pb.MessageIds(ids=[999]))
    calls = [operator.call("Replay", empty) for _ in range(3)]
    try:
        return all(list(call) for call in calls)
    except grpc.RpcError:
        return False
