"""The dispatcher: everything that leaves. Owner of MSG_EVENT's delivery columns and of the
Kafka topics."""
