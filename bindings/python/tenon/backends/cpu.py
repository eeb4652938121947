"""The processor that operators compute on."""

import functools
import platform

__all__ = ["get_cpu_capability"]


@functools.cache
def get_cpu_capability():
    """The widest vectors of the processor: "AVX512", "AVX2", "NEON" or "DEFAULT", which is none of them.

    Kernels are compiled for all that the build has, and choose when the program starts.
    """
    if platform.machine() in ("aarch64", "arm64"):
        return "NEON"
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((set(line.split()) for line in file if line.startswith("flags")), set())
    except OSError:
        return "DEFAULT"
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
        return "AVX512"
    return "AVX2" if {"avx2", "fma"} <= flags else "DEFAULT"
