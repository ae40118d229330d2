"""The five deployables. They meet in PostgreSQL tables, never in imports."""
