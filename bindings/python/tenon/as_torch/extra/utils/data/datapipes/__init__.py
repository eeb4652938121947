"""Data pipes, which are missing: names to mention."""
