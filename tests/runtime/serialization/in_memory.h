#pragma once

#include <sstream>
#include <string>

#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"

namespace tenon::test {

/// A value's checkpoint.
inline std::string saved(const serialization::Value& value,
                         const serialization::SaveOptions& options = {}) {
  std::ostringstream out;
  serialization::save(value, out, options);
  return out.str();
}

inline serialization::Value loaded(const std::string& bytes,
                                   const serialization::LoadOptions& options = {}) {
  return serialization::load(bytes.data(), bytes.size(), options);
}

}  // namespace tenon::test
