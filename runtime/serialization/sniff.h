#pragma once

#include "runtime/serialization/io/byte_source.h"

namespace tenon::serialization {

enum class FileFormat : uint8_t { Zip, Legacy };

/// What kind of checkpoint the bytes are. Errors say what they are instead: nothing, a web page, a
/// Git-LFS pointer, a tar file, ...
TENON_API FileFormat sniff(const ByteSource& source);

}  // namespace tenon::serialization
