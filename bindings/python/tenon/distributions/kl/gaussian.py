"""KL divergences of multivariate normal distributions: (log det Q / det P + tr Q^-1 P + distance - n) / 2."""

import tenon
from tenon.distributions.kl import register_kl
from tenon.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    lowrank_log_det,
    lowrank_mahalanobis,
)
from tenon.distributions.multivariate_normal import MultivariateNormal, half_log_det, mahalanobis


def _check_events(p, q, kind):
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {kind}Multivariate Normals with different event shapes cannot be computed"
        )


def _kl(p, q, log_det_ratio, trace, distance):
    return 0.5 * (log_det_ratio + trace + distance - p.event_shape[0])


def _lowrank_log_det(d):
    return lowrank_log_det(d._unbroadcasted_cov_diag, d._capacitance_tril)


def _lowrank_distance(q, x):
    return lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, x, q._capacitance_tril)


def _squares(factor, matrix):
    """The sum of squares of factor^-1 matrix, of a triangular factor."""
    return tenon.linalg.solve_triangular(factor, matrix, upper=False).square().sum((-2, -1))


def _lowrank_trace(q, factor):
    """tr(Q^-1 F F^T), by Woodbury's identity: tr(F^T D^-1 F) less the squares of C^-1 W^T D^-1 F."""
    diag = q._unbroadcasted_cov_diag.unsqueeze(-1)
    scaled = factor / diag
    return (factor * scaled).sum((-2, -1)) - _squares(q._capacitance_tril, q._unbroadcasted_cov_factor.mT @ scaled)


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_dense_dense(p, q):
    _check_events(p, q, "")
    p_factor, q_factor = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    log_det_ratio = 2 * (half_log_det(q_factor) - half_log_det(p_factor))
    return _kl(p, q, log_det_ratio, _squares(q_factor, p_factor), mahalanobis(q_factor, q.loc - p.loc))


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_lowrank_lowrank(p, q):
    _check_events(p, q, "Low Rank ")
    # The covariance of p as F F^T in two parts, W and the root of D.
    trace = _lowrank_trace(q, p._unbroadcasted_cov_factor) + _lowrank_trace(
        q, p._unbroadcasted_cov_diag.sqrt().diag_embed()
    )
    return _kl(p, q, _lowrank_log_det(q) - _lowrank_log_det(p), trace, _lowrank_distance(q, q.loc - p.loc))


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _kl_dense_lowrank(p, q):
    _check_events(p, q, "(Low Rank) ")
    factor = p._unbroadcasted_scale_tril
    log_det_ratio = _lowrank_log_det(q) - 2 * half_log_det(factor)
    return _kl(p, q, log_det_ratio, _lowrank_trace(q, factor), _lowrank_distance(q, q.loc - p.loc))


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _kl_lowrank_dense(p, q):
    _check_events(p, q, "(Low Rank) ")
    factor = q._unbroadcasted_scale_tril
    trace = _squares(factor, p._unbroadcasted_cov_factor) + _squares(
        factor, p._unbroadcasted_cov_diag.sqrt().diag_embed()
    )
    log_det_ratio = 2 * half_log_det(factor) - _lowrank_log_det(p)
    return _kl(p, q, log_det_ratio, trace, mahalanobis(factor, q.loc - p.loc))
