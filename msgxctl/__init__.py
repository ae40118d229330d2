"""The operator's command line: a client of the services' control addresses and of the api. It
reads no table and owns nothing."""
