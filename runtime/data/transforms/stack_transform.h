#pragma once

#include <vector>

#include "runtime/data/example.h"
#include "runtime/data/transforms/transform.h"

namespace tenon::data::transforms {

/// Stacks the tensors of a batch along a new first dimension.
template <class T = Example<>>
struct Stack;

/// Data and targets, both of which must be tensors of one shape.
template <>
struct TENON_API Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

/// Data alone.
template <>
struct TENON_API Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace tenon::data::transforms
