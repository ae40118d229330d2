"""Our PostgreSQL: one module for each table. Functions take the connection first and never
commit."""
