"""What may leave the device."""
