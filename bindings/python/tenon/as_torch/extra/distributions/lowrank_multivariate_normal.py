"""Private helpers under PyTorch's names."""

from tenon.distributions.lowrank_multivariate_normal import (  # noqa: F401
    capacitance_tril as _batch_capacitance_tril,
    lowrank_log_det as _batch_lowrank_logdet,
    lowrank_mahalanobis as _batch_lowrank_mahalanobis,
)
