#pragma once

#include <utility>

#include "tenon/tensor.h"

namespace tenon::data {

/// One example of a data set, or a batch of them: data and the target that belongs to it.
template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data data, Target target) : data(std::move(data)), target(std::move(target)) {}

  Data data;
  Target target;
};

namespace example {
/// The Target of examples without one.
using NoTarget = void;
}  // namespace example

/// An example without a target. It converts to its data, and data converts to it.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data data) : data(std::move(data)) {}

  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;
};

using TensorExample = Example<Tensor, example::NoTarget>;

}  // namespace tenon::data
