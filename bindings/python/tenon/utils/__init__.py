"""Activation checkpointing, data sets and loaders."""

from tenon.utils import checkpoint  # noqa: F401
