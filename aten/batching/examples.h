#pragma once

#include "tenon/tensor.h"

/// Checks of values, in operators that are made of operators: of a batched tensor those of all
/// examples, where item() would have no single value.
namespace tenon::batching {

/// Whether some element is true, or not 0.
TENON_API bool any_of_examples(const Tensor& t);
TENON_API bool all_of_examples(const Tensor& t);
/// The least and the greatest element of a real tensor that has some.
TENON_API Scalar least_of_examples(const Tensor& t);
TENON_API Scalar most_of_examples(const Tensor& t);

}  // namespace tenon::batching
