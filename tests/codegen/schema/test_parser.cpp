#include "codegen/schema/parser.h"

#include <string>

#include <catch2/catch.hpp>

#include "codegen/schema/printer.h"

namespace tenon::schema {
namespace {

FunctionSchema parse(const std::string& text) {
  const ParseResult result = parse_schema(text);
  CAPTURE(text);
  for (const ParseError& error : result.errors) UNSCOPED_INFO(format_error(text, error));
  REQUIRE(result.ok());
  return *result.schema;
}

std::string canonical(const std::string& text) { return to_string(parse(text)); }

TEST_CASE("a canonical schema prints back byte for byte", "[schema]") {
  const char* const schemas[] = {
      "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
      "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
      "mylib::frob.out(Tensor? x=None, *, Tensor(a!)[] out) -> ()",
      "sort(Tensor self, int dim=-1) -> (Tensor values, Tensor indices)",
      "split(Tensor(a -> *) self, SymInt[] sizes, int dim=0) -> Tensor(a)[]",
      "any(Tensor(a|b|c) self, str mode=\"a=b, c\") -> Tensor(a|b|c)",
      "merge(Tensor(a|b) self, Tensor(c! -> a|b) other) -> Tensor(a|b)",
      "norm(Tensor self, int[1]? dim=[-2,-1], float eps=1e-05, str mode=\"a\\\"b, c=d\") -> Tensor",
      "index(Tensor self, Tensor?[] indices, bool[3] mask) -> Tensor",
      "cells(__torch__.torch.classes.rnn.CellParamsBase cell) -> Tensor",
      "empty(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
      "__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
      "nothing() -> ()",
      "nested(int[2][]? x, Tensor[][] y) -> Tensor out",
  };
  for (const char* schema : schemas) CHECK(canonical(schema) == schema);
}

TEST_CASE("white space and line breaks do not matter", "[schema]") {
  const std::string wanted = "f(Tensor self, int[] a=[0,1], *, bool b=True) -> (Tensor, Tensor)";
  CHECK(canonical("f( Tensor self ,int [ ] a = [ 0, 1 ],*,bool b=True)->(Tensor,Tensor)") ==
        wanted);
  CHECK(canonical("f(Tensor self,\n  int[] a=[0,1],\r\n\t*, bool b=True)\n-> (Tensor, Tensor)\n") ==
        wanted);
  CHECK(canonical("f(Tensor x) -> (Tensor)") == "f(Tensor x) -> Tensor");
}

TEST_CASE("kinds of schemas", "[schema]") {
  const auto kind = [](const char* text) { return parse(text).kind(); };
  CHECK(kind("f(Tensor self) -> Tensor") == SchemaKind::kFunctional);
  CHECK(kind("f_(Tensor(a!) self) -> Tensor(a!)") == SchemaKind::kInplace);
  CHECK(kind("__ior__(Tensor(a!) self) -> Tensor(a!)") == SchemaKind::kInplace);
  CHECK(kind("__or__(Tensor self) -> Tensor") == SchemaKind::kFunctional);
  CHECK(kind("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)") == SchemaKind::kOut);
  CHECK(kind("f(Tensor self, Tensor(a!) buffer) -> Tensor") == SchemaKind::kMutable);
  CHECK(kind("f(Tensor self, *, Tensor(a!) _scratch_x) -> Tensor(a!)") == SchemaKind::kScratch);
}

TEST_CASE("names of schemas", "[schema]") {
  CHECK(parse("add_.Tensor(Tensor(a!) self) -> Tensor(a!)").base_name() == "add");
  CHECK(parse("__iadd__(Tensor(a!) self) -> Tensor(a!)").base_name() == "add");
  CHECK(parse("__and__(Tensor self) -> Tensor").base_name() == "and");
  CHECK(parse("_private(Tensor self) -> Tensor").base_name() == "_private");
  CHECK(parse("x::add.Tensor(Tensor self) -> Tensor").qualified_name() == "x::add.Tensor");
  CHECK(parse("add.Tensor(Tensor self) -> Tensor").full_name() == "add.Tensor");
}

TEST_CASE("arguments of schemas", "[schema]") {
  const FunctionSchema f =
      parse("f.out(Tensor cond, Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
            "Device? device=None, bool? pin_memory=None, Tensor(a!) out) -> Tensor(a!)");
  CHECK(f.self() == &f.args[1]);
  CHECK(f.num_positional() == 2);
  CHECK(f.tensor_options() == 2u);
  REQUIRE(f.out_args().size() == 1);
  CHECK(f.out_args()[0]->name == "out");
  CHECK(f.non_out_args().size() == 6);
  CHECK(f.arg_index("device") == 4);
  CHECK(f.find_arg("slef") == nullptr);
  CHECK(parse("g(int n) -> Tensor").self() == nullptr);

  const FunctionSchema several = parse("h(Tensor self) -> (Tensor, Tensor indices)");
  CHECK(several.return_name(0) == "result0");
  CHECK(several.return_name(1) == "indices");
  CHECK(several.return_index("indices") == 1);
  CHECK(parse("h(Tensor self) -> Tensor").return_name(0) == "result");
  CHECK(parse("v(Tensor(a) self) -> Tensor(a)").is_view());
  CHECK_FALSE(parse("v_(Tensor(a!) self) -> Tensor(a!)").is_view());
}

TEST_CASE("types", "[schema]") {
  const auto type = [](const char* text) {
    std::vector<ParseError> errors;
    const std::optional<Type> result = parse_type(text, errors);
    REQUIRE(result);
    CHECK(errors.empty());
    CHECK(to_string(*result) == text);
    return *result;
  };
  CHECK(type("Tensor").is_tensor());
  CHECK(type("Tensor?").is_optional_tensor());
  CHECK(type("Tensor[]").is_tensor_list());
  CHECK(type("Tensor?[]").is_optional_tensor_list());
  CHECK_FALSE(type("Tensor?[]").is_optional());
  CHECK(type("int[2]?").is_optional());
  CHECK(type("int[2]?").is_list());
  CHECK(type("int[2]?").list_size() == 2);
  CHECK(to_string(type("int[2]?").without_optional()) == "int[2]");
  CHECK(to_string(type("int[2]").element()) == "int");
  CHECK(type("SymInt").is_integer());

  std::vector<ParseError> errors;
  parse_type("Tensor ]", errors);
  CHECK(errors.size() == 1);
  CHECK_FALSE(parse_type("", errors).has_value());
}

TEST_CASE("defaults are values", "[schema]") {
  const auto value = [](const std::string& argument) {
    const FunctionSchema f = parse("f(" + argument + ") -> Tensor");
    REQUIRE(f.args[0].default_value);
    return *f.args[0].default_value;
  };
  CHECK(value("int? x=None").is_none());
  CHECK(*value("bool x=True").get<bool>());
  CHECK(*value("int x=-2").get<int64_t>() == -2);
  CHECK(*value("float x=1e-05").get<double>() == 1e-05);
  CHECK(*value("float x=1").get<int64_t>() == 1);
  CHECK(value("str x='it\\'s'").get<StringValue>()->text == "it's");
  CHECK(value("int x=Mean").get<NameValue>()->name == "Mean");
  CHECK(value("float x=inf").get<NameValue>()->name == "inf");
  CHECK(value("float x=-inf").get<double>() != nullptr);
  CHECK(value("int[] x=[0, 1]").get<ListValue>()->size() == 2);
  CHECK(value("int[2] x=1").get<int64_t>() != nullptr);
}

TEST_CASE("several errors of one schema are reported at their columns", "[schema]") {
  const std::string text = "f(Tensr self, int dim=zero, int? ? n=None) -> Tensor";
  const ParseResult result = parse_schema(text);
  REQUIRE(result.errors.size() == 3);
  CHECK(text.substr(result.errors[0].span.begin, 5) == "Tensr");
  CHECK(result.errors[0].suggestion == "Tensor");
  CHECK(text.substr(result.errors[1].span.begin, 4) == "zero");
  CHECK(text.substr(result.errors[2].span.begin, 3) == "? n");
  CHECK(format_error(text, result.errors[0]) ==
        "column 3: unknown type `Tensr`; did you mean 'Tensor'?\n  " + text + "\n    ^\n");
}

}  // namespace
}  // namespace tenon::schema
