"""The shared MySQL mailbox: two tables, never its schema (C-2). The only user of pymysql."""
