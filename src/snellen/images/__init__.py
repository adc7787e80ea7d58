"""Pictures in, pictures out; no exam is mentioned here."""
