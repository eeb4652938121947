"""Operators of one's own for the users of other libraries."""
