"""gRPC: what `make proto` makes of proto/. Generated and committed; never edited."""
