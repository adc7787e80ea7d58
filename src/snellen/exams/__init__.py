"""One file for each exam, or a package; none of them knows another."""
