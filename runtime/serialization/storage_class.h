#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aten/core/scalar_type.h"

namespace tenon::serialization {

/// PyTorch's name of the storage class that holds elements of `dtype`: "FloatStorage".
std::string storage_class(ScalarType dtype);
/// The element type of "torch FloatStorage"; nothing for an unknown class.
std::optional<ScalarType> storage_dtype(std::string_view global);

}  // namespace tenon::serialization
