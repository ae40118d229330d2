"""Owner of the flights: head, decision, commit, projection, finish."""
