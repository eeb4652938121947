#pragma once

#include <string>
#include <vector>

#include "runtime/serialization/safetensors/safetensors.h"

namespace tenon::serialization {

/// The key of the metadata, which no tensor may have.
inline constexpr const char* kSafetensorsMetadata = "__metadata__";

/// The format's dtypes.
struct SafetensorsDtype {
  const char* name;
  int bits;
  ScalarType type;  ///< Undefined: one that Tenon does not have
};
/// Null for a name that is none of the format.
const SafetensorsDtype* safetensors_dtype(const std::string& name);
/// NotImplementedError for a dtype that the format does not have.
const SafetensorsDtype& safetensors_dtype(ScalarType type, const std::string& tensor);

/// A header's JSON as the entries it lists, with offsets from the beginning of the data, of which
/// there are `data_bytes`. Errors begin with `what`.
std::vector<SafetensorsFile::Entry> parse_safetensors_header(const std::string& json,
                                                             uint64_t data_bytes,
                                                             const std::string& what,
                                                             SafetensorsMetadata& metadata);
/// The JSON of a header, not padded.
std::string print_safetensors_header(const std::vector<SafetensorsFile::Entry>& entries,
                                     const SafetensorsMetadata& metadata);

}  // namespace tenon::serialization
