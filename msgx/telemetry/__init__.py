"""What a running service says about itself in numbers: the registry of metrics, the board that
holds their values, and the ways out (Prometheus text, OTLP)."""
