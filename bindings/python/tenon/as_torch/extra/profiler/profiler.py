"""torch.profiler's names in their file."""

from tenon.profiler import profile as profile, record_function as record_function
