#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aten/core/scalar_type.h"

namespace tenon::serialization {

/// Python's name of a dtype, "float32"; "undefined" for Undefined.
TENON_API std::string dtype_name(ScalarType dtype);
/// The dtype that "float32" names; nothing for a name unknown here.
std::optional<ScalarType> dtype_of_name(std::string_view name);
/// Whether PyTorch has a dtype of that name, here or not: "qint8", "complex32", ...
bool is_dtype_name(std::string_view name);

/// PyTorch's name of the storage class that holds elements of `dtype`: "FloatStorage". Storage-only
/// dtypes have none: their storages are untyped.
std::string storage_class(ScalarType dtype);
/// The element type of "torch FloatStorage", Undefined for "torch.storage UntypedStorage"; nothing
/// for an unknown class.
std::optional<ScalarType> storage_dtype(std::string_view global);
/// Bytes of an element of such a class, one that is not known here included.
uint64_t storage_element_bytes(std::string_view global);

}  // namespace tenon::serialization
