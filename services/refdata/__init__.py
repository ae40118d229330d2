"""Refdata: reference data and the availability of resources. Owner of REF_MASTER."""
