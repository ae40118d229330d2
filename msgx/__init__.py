"""Shared by all services: vocabulary, codec, stores and the running of a service. Knows no
service."""
