"""The profiler under its old name."""

from tenon.profiler import profile as profile, record_function as record_function
