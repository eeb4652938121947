#pragma once

#include <vector>

#include "tenon/tensor.h"

namespace tenon::distributed {

/// Which tensors are reduced together: numbers of tensors, bucket by bucket. Tensors of one dtype
/// on one device fill a bucket in the given order until it has `limits` bytes or more; the first
/// bucket of each has the first limit, the next the second, and all further ones the last. Without
/// `order` the buckets are sorted by their first tensor, with it they are in the order of filling.
TENON_API std::vector<std::vector<size_t>>
compute_bucket_assignment_by_size(const std::vector<Tensor>& tensors,
                                  const std::vector<size_t>& limits,
                                  const std::vector<size_t>& order = {});

}  // namespace tenon::distributed
