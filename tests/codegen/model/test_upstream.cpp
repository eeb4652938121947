// PyTorch 2.15's own files: every schema parses and prints back, and all of them load and pass the
// checks of the upstream dialect without a word.

#include <map>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/load/loader.h"
#include "codegen/schema/printer.h"
#include "tests/codegen/model/facts.h"
#include "tests/codegen/upstream.h"

namespace tenon::codegen {
namespace {

TEST_CASE("upstream's files load without diagnostics and print back", "[.][upstream]") {
  DiagnosticSink sink;
  const Model model =
      load({upstream_file("native_functions.yaml")}, {upstream_file("derivatives.yaml")},
           upstream_file("tags.yaml"), Dialect::kUpstream, sink);
  run_checks(model, sink);
  std::ostringstream messages;
  sink.print(messages);
  CHECK(messages.str() == "");

  REQUIRE(model.operators().size() == 2590);
  REQUIRE(model.derivatives().size() == 688);
  std::map<schema::SchemaKind, int> kinds;
  size_t structured = 0;
  for (const Operator& op : model.operators()) {
    if (schema::to_string(op.schema) != op.schema_text.text) {
      FAIL_CHECK("prints back as " << schema::to_string(op.schema));
    }
    ++kinds[op.schema.kind()];
    structured += op.is<Structured>();
  }
  CHECK(structured == 279);
  CHECK(kinds[schema::SchemaKind::kInplace] == 339);
  CHECK(kinds[schema::SchemaKind::kOut] == 632);
  // Upstream calls set_data and retain_grad functional although they write to self; here they are
  // mutable.
  CHECK(kinds[schema::SchemaKind::kFunctional] == 1605);
  CHECK(kinds[schema::SchemaKind::kMutable] == 14);
}

// operators.txt: what torchgen makes of these files. What differs on purpose:
//   - writing to self under a functional name is a mutable form here, torchgen calls it functional;
//   - set_ is no view here, as it is none where torchgen decides which forms to generate.
TEST_CASE("families, kinds, views and generated forms are torchgen's", "[.][upstream]") {
  DiagnosticSink sink;
  const Model model = load({upstream_file("native_functions.yaml")}, {}, upstream_file("tags.yaml"),
                           Dialect::kUpstream, sink);
  const std::vector<std::string> expected = read_lines(upstream_file("operators.txt"));
  REQUIRE(expected.size() == 3110 + 520);
  CHECK(difference(expected, operator_facts(model)) ==
        std::vector<std::string>{
            "- 1292 functional record_stream", "- 1327 functional retain_grad",
            "- 1365 inplace set_ grouped view", "- 1366 inplace set_.source_Storage grouped view",
            "- 1367 inplace set_.source_Storage_storage_offset grouped view",
            "- 1368 inplace set_.source_Tensor grouped view", "- 1370 functional set_data",
            "+ 1292 mutable record_stream", "+ 1327 mutable retain_grad",
            "+ 1365 inplace set_ grouped", "+ 1366 inplace set_.source_Storage grouped",
            "+ 1367 inplace set_.source_Storage_storage_offset grouped",
            "+ 1368 inplace set_.source_Tensor grouped", "+ 1370 mutable set_data"});
}

TEST_CASE("unknown words of upstream's files are warnings, and errors in ours", "[model][check]") {
  const std::string path = TENON_TEST_DIR "/codegen/model/unknown_words.yaml";
  for (const Dialect dialect : {Dialect::kUpstream, Dialect::kTenon}) {
    DiagnosticSink sink;
    Sources sources;
    sources.native.push_back(sink.sources().open(path));
    sources.derivatives.push_back(sink.sources().add(
        "derivatives.yaml", "- name: foo\n  dispatch:\n    AutogradLaterBackend: {self: grad}\n"));
    sources.tags = sink.sources().open(TENON_SOURCE_DIR "/tags.yaml");
    const Model model = load(sources, dialect, sink);
    run_checks(model, sink);
    CHECK(model.operators().size() == 1);
    const bool upstream = dialect == Dialect::kUpstream;
    CHECK(sink.num_warnings() == (upstream ? 4 : 0));  // key, tag, dispatch key, autograd key
    CHECK(sink.num_errors() == (upstream ? 0 : 4));
    for (const Diagnostic& d : sink.sorted()) CHECK(d.location.valid());
  }
}

}  // namespace
}  // namespace tenon::codegen
