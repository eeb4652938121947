#include "codegen/yaml/diagnostic.h"

#include <sstream>
#include <string>

#include <catch2/catch.hpp>

namespace tenon::codegen {
namespace {

std::string printed(const DiagnosticSink& sink) {
  std::ostringstream out;
  sink.print(out);
  return out.str();
}

TEST_CASE("diagnostics are sorted, printed once, and show their line", "[model]") {
  DiagnosticSink sink;
  const SourceFile* first = sink.sources().add("first.yaml", "one\n\ttwo\xC3\xA9 three\n");
  const SourceFile* second = sink.sources().add("second.yaml", "four");
  sink.error({second, 1, 1}, "later file");
  sink.warning({first, 2, 8}, "caret", "tree");
  sink.error({first, 1, 2}, "earlier line");
  sink.error({first, 1, 2}, "earlier line");
  sink.error({}, "no place");
  CHECK(sink.num_errors() == 4);
  CHECK(sink.num_warnings() == 1);
  CHECK(printed(sink) == "error: no place\n"
                         "first.yaml:1:2: error: earlier line\n  one\n   ^\n"
                         "first.yaml:2:8: warning: caret; did you mean 'tree'?\n"
                         "  \ttwo\xC3\xA9 three\n  \t     ^\n"
                         "second.yaml:1:1: error: later file\n  four\n  ^\n");
}

TEST_CASE("a very long line is shown in part", "[model]") {
  DiagnosticSink sink;
  const SourceFile* file =
      sink.sources().add("f.yaml", std::string(5000, 'a').append("X").append(5000, 'b'));
  sink.error({file, 1, 5001}, "here");
  const std::string text = printed(sink);
  CHECK(text.size() < 1000);
  const size_t x = text.find('X'), caret = text.find('^');
  REQUIRE((x != std::string::npos && caret != std::string::npos));
  CHECK(x - text.rfind('\n', x) == caret - text.rfind('\n', caret));
}

TEST_CASE("errors of a schema are placed through its source", "[model]") {
  DiagnosticSink sink;
  SourceString text;
  text.text = "ab cd";
  text.location = {sink.sources().add("f.yaml", "x: ab\n   cd\n"), 1, 4};
  text.segments = {{0, 1, 4}, {3, 2, 4}};
  sink.report(text, {{{3, 5}, "second word", ""}});
  CHECK(sink.sorted().front().location.to_string() == "f.yaml:2:4");
  CHECK(text.at(5).to_string() == "f.yaml:2:6");
}

}  // namespace
}  // namespace tenon::codegen
