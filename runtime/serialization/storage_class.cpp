#include "runtime/serialization/storage_class.h"

namespace tenon::serialization {

std::string storage_class(ScalarType dtype) { return std::string(to_string(dtype)) + "Storage"; }

std::optional<ScalarType> storage_dtype(std::string_view global) {
#define TENON_MATCH(T, Name) \
  if (global == "torch " #Name "Storage") return ScalarType::Name;
  TENON_FORALL_TYPES(TENON_MATCH)
#undef TENON_MATCH
  return std::nullopt;
}

}  // namespace tenon::serialization
