"""Private helpers under PyTorch's names."""

from tenon.distributions.multivariate_normal import (  # noqa: F401
    mahalanobis as _batch_mahalanobis,
    precision_to_scale_tril as _precision_to_scale_tril,
    times_vector as _batch_mv,
)
