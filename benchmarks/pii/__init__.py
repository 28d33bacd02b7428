"""What the detectors of personal data find, what they flag wrongly, and how long they take."""
