#pragma once

#include <catch2/catch.hpp>

#include "codegen/load/loader.h"

namespace tenon::codegen {

/// What the expressions of a library that adds to Tenon may call: native_functions.yaml's pointwise
/// operators and definitions.
inline const expr::Functions& library_functions() {
  static DiagnosticSink sink;
  static const Model model =
      load({TENON_TEST_DIR "/../native_functions.yaml"}, {}, "", Dialect::kTenon, sink);
  REQUIRE(!model.functions().empty());
  return model.functions();
}

}  // namespace tenon::codegen
