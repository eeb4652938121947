"""Private helpers under PyTorch's names."""

import tenon
from tenon.distributions.utils import sum_rightmost as _sum_rightmost  # noqa: F401


def _standard_normal(shape, dtype, device):
    """Draws of the standard normal distribution."""
    return tenon.normal(tenon.zeros(shape, dtype=dtype, device=device), tenon.ones(shape, dtype=dtype, device=device))
