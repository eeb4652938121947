"""Finding the operation whose backward fails or gives NaN."""

from tenon import _C


class detect_anomaly:
    """Within, each recorded operation keeps where it was called, which is printed if its backward fails or gives NaN."""

    def __init__(self, check_nan=True):
        self._mode = (True, check_nan)

    def __enter__(self):
        self._before = (_C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled())
        _C._set_anomaly_enabled(*self._mode)

    def __exit__(self, *exception):
        _C._set_anomaly_enabled(*self._before)


class set_detect_anomaly(detect_anomaly):
    """The same from the call on; in a `with` statement until its end."""

    def __init__(self, mode, check_nan=True):
        for name, value in (("mode", mode), ("check_nan", check_nan)):
            if not isinstance(value, bool):
                raise TypeError(f"set_detect_anomaly(): argument '{name}' must be bool, not {value.__class__.__name__}")
        self._mode = (mode, check_nan)
        self._before = (_C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled())
        _C._set_anomaly_enabled(*self._mode)

    def __enter__(self):
        _C._set_anomaly_enabled(*self._mode)
