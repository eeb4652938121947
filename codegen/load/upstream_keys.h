#pragma once

#include <string>

#include "codegen/model/operator.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen::detail {

/// Reads a key that PyTorch's generator alone acts on. False: `key` is none of them.
bool read_upstream_key(const std::string& key, const YamlNode& value, Reader& reader,
                       UpstreamKeys& keys);

}  // namespace tenon::codegen::detail
