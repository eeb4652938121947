#pragma once

// The types that occur in operators' signatures.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "aten/core/array_ref.h"
#include "aten/core/dispatch_key.h"
#include "aten/core/generator.h"
#include "aten/core/scalar.h"
#include "aten/core/tensor_base.h"
#include "aten/core/tensor_options.h"

namespace tenon {

class Tensor;
using TensorList = ArrayRef<Tensor>;

/// How a loss combines its elements; the numbers are PyTorch's.
namespace Reduction {
enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };
}

}  // namespace tenon
