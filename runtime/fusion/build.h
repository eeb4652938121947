#pragma once

#include <string>
#include <vector>

#include "aten/core/scalar_type.h"

/// Builds entries of operators while a program runs, with the generator and a C++ compiler.
namespace tenon::fusion {

/// What libraries are built with: of the file tenon_build_paths.txt beside Tenon's libraries.
struct BuildTools {
  std::string tenonc, templates, native_functions, tags, library;
  std::string python;    ///< has Jinja2
  std::string compiler;  ///< $CXX, else the one that built Tenon, else c++
  std::vector<std::string> include;

  /// RuntimeError, with the path, if something is missing.
  TENON_API static BuildTools find();
};

/// 32 digits that depend on all that the library of a composition is made of: the texts, the
/// generator with its templates, Tenon's library, the compiler and the processor.
TENON_API std::string library_key(const BuildTools& tools, const std::string& yaml,
                                  const std::vector<ScalarType>& dtypes);

/// The library of a composition whose kernels are for these floating dtypes, for this processor. It
/// is kept in $TENON_CACHE_DIR, or ~/.cache/tenon, under its key.
/// RuntimeError for an entry with mistakes, kernels that do not compile, and missing tools.
TENON_API std::string build_library(const std::string& yaml, const std::vector<ScalarType>& dtypes,
                                    const std::string& python = "");

}  // namespace tenon::fusion
