// Every rule has a file that breaks it, tests/codegen/bad/<rule>.yaml, and beside it the exact
// messages, <rule>.expected. Optional <rule>.derivatives.yaml and <rule>.tags.yaml go with it.
// TENON_ACCEPT=1 writes the .expected files anew: read the difference before committing it.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/model/loader.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = TENON_TEST_DIR;
const fs::path kBad = kTests / "codegen" / "bad";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The messages without the folder's name, which differs from machine to machine.
std::string diagnose(const std::string& rule, size_t& num_errors) {
  const fs::path derivatives = kBad / (rule + ".derivatives.yaml");
  const fs::path tags = kBad / (rule + ".tags.yaml");
  std::vector<std::string> derivative_files;
  if (fs::exists(derivatives)) derivative_files.push_back(derivatives.string());

  DiagnosticSink sink;
  const Model model = load({(kBad / (rule + ".yaml")).string()}, derivative_files,
                           (fs::exists(tags) ? tags : kTests.parent_path() / "tags.yaml").string(),
                           Dialect::kTenon, sink);
  run_checks(model, sink);
  std::ostringstream out;
  sink.print(out);
  num_errors = sink.num_errors();

  std::string text = out.str();
  const std::string prefix = kBad.string() + "/";
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  return text;
}

std::vector<std::string> rules() {
  std::vector<std::string> names;
  for (const fs::directory_entry& file : fs::directory_iterator(kBad)) {
    const fs::path stem = file.path().stem();
    if (file.path().extension() == ".yaml" && stem.extension().empty()) {
      names.push_back(stem.string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("every bad file gives the expected messages", "[check]") {
  const bool accept = std::getenv("TENON_ACCEPT") != nullptr;
  const std::vector<std::string> names = rules();
  REQUIRE(names.size() > 50);
  for (const std::string& rule : names) {
    CAPTURE(rule);
    size_t num_errors = 0;
    const std::string messages = diagnose(rule, num_errors);
    const fs::path expected = kBad / (rule + ".expected");
    if (accept) std::ofstream(expected, std::ios::binary) << messages;
    CHECK(num_errors > 0);
    CHECK(messages == read(expected));
  }
}

}  // namespace
}  // namespace tenon::codegen
