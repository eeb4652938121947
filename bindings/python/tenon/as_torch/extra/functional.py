"""torch.functional: functions that Tenon has in `tenon` itself."""
