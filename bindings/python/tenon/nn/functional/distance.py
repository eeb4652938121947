"""Distances."""

import tenon
from tenon import cosine_similarity, pairwise_distance

__all__ = [
    "cosine_similarity",
    "pairwise_distance",
    "pdist",
]


def pdist(input, p=2.0):
    """The distances in the p-norm of the pairs of rows i < j of [N, M], as [N (N - 1) / 2]."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got: {p}")
    rows, columns = tenon.triu_indices(input.shape[0], input.shape[0], 1, device=input.device)
    return tenon.linalg.vector_norm(input[rows] - input[columns], p, 1)
