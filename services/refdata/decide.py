"""What refdata decides, without I/O."""
