#pragma once

#include "aten/meta/checks.h"

namespace tenon::meta {

/// weight [V, D], indices [N] and starts [bags + 1] of Long or Int.
inline void check_embedding_bags(const TensorBase& weight, const TensorBase& indices,
                                 const TensorBase& starts) {
  const auto is_list = [](const TensorBase& t) {
    return t.dim() == 1 && (t.scalar_type() == kLong || t.scalar_type() == kInt);
  };
  TENON_CHECK(weight.dim() == 2 && is_list(indices) && is_list(starts) && starts.numel() > 0,
              "[embedding_bag] needs a weight of 2 dimensions and Long or Int indices and offsets "
              "of 1, got ",
              weight.sizes(), ", ", indices.scalar_type(), indices.sizes(), " and ",
              starts.scalar_type(), starts.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(weight.scalar_type()),
                              "[embedding_bag] not implemented for '", weight.scalar_type(), "'");
  check_same_device("embedding_bag", "weight", weight, "indices", indices);
  check_same_device("embedding_bag", "weight", weight, "offsets", starts);
}

}  // namespace tenon::meta
