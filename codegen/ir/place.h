#pragma once

#include <cstdint>
#include <string>

#include "codegen/schema/fields.h"
#include "codegen/yaml/source_file.h"

namespace tenon::codegen::ir {

/// Where something is written.
struct Place {
  Place() = default;
  explicit Place(const Location& location)
      : source(location.file_name()), file(location.file ? location.file->path() : ""),
        line(location.line) {}

  std::string source;  ///< the file's name
  std::string file;    ///< its path as it was given
  uint32_t line = 0;
  TENON_FIELDS(source, file, line)
};

}  // namespace tenon::codegen::ir
