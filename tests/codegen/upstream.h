#pragma once

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

namespace tenon::codegen {

/// Path of one of PyTorch's own YAML files, such as "tags.yaml", or of what its generator makes of
/// them. Test cases that need them are tagged [.][upstream]: oracle/test_torchgen.py runs them and
/// names the folder.
inline std::string upstream_file(const std::string& name) {
  const char* folder = std::getenv("TENON_UPSTREAM");
  INFO("TENON_UPSTREAM names no folder: run `ctest -R \"oracle: torchgen\"`");
  REQUIRE(folder != nullptr);
  return std::string(folder) + "/" + name;
}

}  // namespace tenon::codegen
