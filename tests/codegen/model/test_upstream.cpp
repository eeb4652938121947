// PyTorch 2.6's own files: every schema parses and prints back, and all of them load and pass the
// checks of the upstream dialect without a word.

#include <map>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/model/loader.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

const std::string kFolder = TENON_TEST_DIR "/codegen/upstream-2.6/";

TEST_CASE("upstream's files load without diagnostics and print back", "[schema][model][check]") {
  DiagnosticSink sink;
  const Model model = load({kFolder + "native_functions.yaml"}, {kFolder + "derivatives.yaml"},
                           kFolder + "tags.yaml", Dialect::kUpstream, sink);
  run_checks(model, sink);
  std::ostringstream messages;
  sink.print(messages);
  CHECK(messages.str() == "");

  REQUIRE(model.operators().size() == 2633);
  REQUIRE(model.derivatives().size() == 672);
  std::map<schema::SchemaKind, int> kinds;
  size_t structured = 0;
  for (const Operator& op : model.operators()) {
    if (schema::to_string(op.schema) != op.schema_text.text) {
      FAIL_CHECK("prints back as " << schema::to_string(op.schema));
    }
    ++kinds[op.schema.kind()];
    structured += op.structured;
  }
  CHECK(structured == 272);
  CHECK(kinds[schema::SchemaKind::kInplace] == 341);
  CHECK(kinds[schema::SchemaKind::kOut] == 652);
  // Upstream calls set_data and retain_grad functional although they write to self; here they are
  // mutable.
  CHECK(kinds[schema::SchemaKind::kFunctional] == 1630);
  CHECK(kinds[schema::SchemaKind::kMutable] == 10);
}

TEST_CASE("unknown words of upstream's files are warnings", "[model][check]") {
  DiagnosticSink sink;
  const std::string path = kFolder + "../model/unknown_words.yaml";
  const Model model = load({path}, {}, kFolder + "tags.yaml", Dialect::kUpstream, sink);
  run_checks(model, sink);
  CHECK(model.operators().size() == 1);
  CHECK(sink.num_errors() == 0);
  CHECK(sink.num_warnings() == 2);
}

}  // namespace
}  // namespace tenon::codegen
