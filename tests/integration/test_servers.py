"""The fixtures that name servers keep tests apart."""

from contextlib import closing

import psycopg
import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from psycopg.conninfo import conninfo_to_dict
from redis import Redis

from tests.support.servers import kafka, mysql, postgres, redis
from tests.support.waiting import PATIENCE_SECONDS, until


@pytest.mark.pg
def test_a_database_is_a_copy_of_the_migrated_template_and_goes_away(
    postgres_url: str, pg_template: str
) -> None:
    with postgres.database(postgres_url, copy_of=pg_template) as dsn:
        name = conninfo_to_dict(dsn)["dbname"]
        with psycopg.connect(dsn) as connection:
            tables = connection.execute("SELECT to_regclass('proc_state')").fetchone()

    with psycopg.connect(postgres_url) as admin:
        left = admin.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone()
    assert tables == ("proc_state",)
    assert left is None


@pytest.mark.mysql
def test_two_mailboxes_have_their_own_rows(mysql_url: str) -> None:
    with mysql.mailbox(mysql_url) as one, mysql.mailbox(mysql_url) as other:
        with closing(mysql.connect(one)) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES ('<MSG/>')")
        with closing(mysql.connect(other)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM CMINMSGS")
            rows = cursor.fetchone()

    assert rows == (0,)


@pytest.mark.redis
def test_two_redis_databases_have_their_own_keys(redis_server_url: str) -> None:
    with redis.database(redis_server_url) as one, redis.database(redis_server_url) as other:
        with closing(Redis.from_url(one)) as client:
            client.set("key", "value")
        with closing(Redis.from_url(other)) as client:
            found = client.get("key")

    assert one != other
    assert found is None


@pytest.mark.kafka
def test_topics_under_a_prefix_go_away(kafka_bootstrap: str) -> None:
    with AdminClient({"bootstrap.servers": kafka_bootstrap}) as admin:

        def left(prefix: str) -> list[str]:
            topics = admin.list_topics(timeout=PATIENCE_SECONDS).topics
            return [name for name in topics if name.startswith(prefix)]

        with kafka.prefix(kafka_bootstrap) as own:
            for made in admin.create_topics([NewTopic(f"{own}msg", 1, 1)]).values():
                made.result(timeout=PATIENCE_SECONDS)
            until(lambda: left(own) == [f"{own}msg"], "the topic is there")

        until(lambda: left(own) == [], "no topic is left")
