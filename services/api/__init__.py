"""The door for people and HTTP clients; owns no table."""
