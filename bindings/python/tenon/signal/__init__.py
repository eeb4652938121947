"""Signal processing: `windows`."""

from tenon.signal import windows

__all__ = ["windows"]
