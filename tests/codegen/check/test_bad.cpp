// Every rule has a file that breaks it, tests/codegen/bad/<rule>.yaml, and beside it the exact
// messages, <rule>.expected. Optional <rule>.derivatives.yaml and <rule>.tags.yaml go with it. A
// file that begins with `# dialect: upstream` is read in that dialect. README.md there lists all.
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
#include "codegen/load/loader.h"

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

// A bad file and what goes with it.
Model load_bad(const std::string& name, DiagnosticSink& sink) {
  const fs::path native = kBad / (name + ".yaml");
  const fs::path derivatives = kBad / (name + ".derivatives.yaml");
  const fs::path tags = kBad / (name + ".tags.yaml");
  const bool upstream = read(native).starts_with("# dialect: upstream\n");
  const fs::path known_tags = kTests.parent_path() / "tags.yaml";
  std::vector<std::string> derivative_files;
  if (fs::exists(derivatives)) derivative_files.push_back(derivatives.string());
  return load({native.string()}, derivative_files, (fs::exists(tags) ? tags : known_tags).string(),
              upstream ? Dialect::kUpstream : Dialect::kTenon, sink);
}

// The messages without the folder's name, which differs from machine to machine.
std::string diagnose(const std::string& name, size_t& num_problems) {
  DiagnosticSink sink;
  const Model model = load_bad(name, sink);
  run_checks(model, sink);
  std::ostringstream out;
  sink.print(out);
  num_problems = sink.num_errors() + sink.num_warnings();

  std::string text = out.str();
  const std::string prefix = kBad.string() + "/";
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  return text;
}

std::vector<std::string> bad_files() {
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
  const std::vector<std::string> names = bad_files();
  REQUIRE(names.size() > 50);
  for (const std::string& name : names) {
    CAPTURE(name);
    size_t num_problems = 0;
    const std::string messages = diagnose(name, num_problems);
    const fs::path expected = kBad / (name + ".expected");
    if (accept) std::ofstream(expected, std::ios::binary) << messages;
    CHECK(num_problems > 0);
    CHECK(messages == read(expected));
  }
}

// A rule alone finds something in the file that has its name.
TEST_CASE("every rule has a bad file", "[check]") {
  const std::vector<std::string> files = bad_files();
  for (const std::string& rule : rule_names()) {
    CAPTURE(rule);
    if (std::find(files.begin(), files.end(), rule) == files.end()) {
      FAIL_CHECK("no file");
      continue;
    }
    DiagnosticSink loading, sink;
    const Model model = load_bad(rule, loading);
    REQUIRE(run_rule(rule, model, sink));
    CHECK_FALSE(sink.empty());
  }
  DiagnosticSink sink;
  CHECK_FALSE(run_rule("no_such_rule", Model(), sink));
}

TEST_CASE("README lists every bad file and rule", "[check]") {
  const std::string page = read(kBad / "README.md");
  std::vector<std::string> names = bad_files();
  names.insert(names.end(), rule_names().begin(), rule_names().end());
  for (const std::string& name : names) {
    if (page.find("| " + name + " |") == std::string::npos) FAIL_CHECK(name << " is not listed");
  }
}

}  // namespace
}  // namespace tenon::codegen
