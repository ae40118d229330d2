"""Places of a module's own on the shared servers."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.servers import mysql, postgres, redis
from tests.support.worker import Places


@contextmanager
def fresh(
    postgres_url: str, pg_template: str, mysql_url: str, redis_url: str
) -> Iterator[Places]:
    """Make a migrated database, a mailbox and a Redis database; drop them at the end."""
    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        mysql.mailbox(mysql_url) as mailbox_url,
        redis.database(redis_url) as own_redis_url,
    ):
        yield Places(dsn=dsn, mailbox=mailbox_url, redis=own_redis_url)
