"""The profiler under its old name."""

from tenon.as_torch.extra.profiler import kineto_available as kineto_available
from tenon.profiler import profile as profile, record_function as record_function
