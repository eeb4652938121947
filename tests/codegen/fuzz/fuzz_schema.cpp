// libFuzzer target: a schema. What parses prints back to something that parses to the same text.
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"
#include "tests/codegen/fuzz/check.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = codegen::as_text(data, size);
  const schema::ParseResult result = schema::parse_schema(text);
  for (const schema::ParseError& error : result.errors) {
    codegen::require(error.span.begin <= error.span.end && error.span.end <= size, "span");
    schema::format_error(text, error);
  }
  if (!result.ok()) return 0;
  const std::string canonical = schema::to_string(*result.schema);
  const schema::ParseResult again = schema::parse_schema(canonical);
  codegen::require(again.ok() && schema::to_string(*again.schema) == canonical, "round trip");
  return 0;
}
