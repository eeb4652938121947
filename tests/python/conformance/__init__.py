"""Conformance with PyTorch by its own list of operators; `python -m conformance --help`, or ./tenon conformance."""
