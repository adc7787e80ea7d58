"""What changed in the tables, and when? A file a change."""
