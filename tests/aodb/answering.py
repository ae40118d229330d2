"""The adapter's other half: takes requests out of COUTMSGS and lands the answers."""

from contextlib import closing
from datetime import datetime
from typing import Final

from tests.aodb.adapter import INSERT, connect
from tests.aodb.answers import Answer, Answerer

SELECT_REQUESTS: Final = (
    "SELECT COUTMSGS_ID, COUTMSGS_CLOB_MSG, NOW() FROM COUTMSGS"
    " WHERE COUTMSGS_DATE_SENT IS NULL ORDER BY COUTMSGS_ID LIMIT 20 FOR UPDATE"
)
TAKE_REQUEST: Final = "UPDATE COUTMSGS SET COUTMSGS_DATE_SENT = NOW() WHERE COUTMSGS_ID = %s"


def answer_requests(answerer: Answerer, mailbox_url: str) -> dict[int, Answer]:
    """Answers every request that waits in the mailbox; returns the answers by CMINMSGS_ID.

    Raises:
        ValueError: a row is no request; nothing was taken.
    """
    landed: dict[int, Answer] = {}
    with closing(connect(mailbox_url)) as connection, connection.cursor() as cursor:
        cursor.execute(SELECT_REQUESTS)
        for row_id, text, now in cursor.fetchall():
            assert isinstance(now, datetime)
            answer = answerer.answer(text, now)
            cursor.execute(TAKE_REQUEST, (row_id,))
            cursor.execute(INSERT, (answer.text, now, "VALID", "AODB"))
            landed[int(cursor.lastrowid)] = answer
        connection.commit()
    return landed
