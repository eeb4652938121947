#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "codegen/schema/function_schema.h"

namespace tenon::schema {

/// A schema and everything wrong with its text. `schema` is empty only where the text could not be
/// read as a schema at all; with errors it is what could be understood.
struct ParseResult {
  std::optional<FunctionSchema> schema;
  std::vector<ParseError> errors;

  bool ok() const { return schema.has_value() && errors.empty(); }
};

/// Parses
///     func  := [ns "::"] name ["." overload] "(" args ")" "->" rets
///     args  := "" | item {"," item}        item := "*" | atype id ["=" default]
///     atype := "Tensor" "(" alias ")" suffixes | type
///     type  := base | type "?" | type "[" [N] "]" | "__torch__.torch.classes." dotted
///     alias := L {"|" L} ["!"] ["->" ("*" | L {"|" L})]            L = one of a-z
///     rets  := "()" | ret | "(" ret {"," ret} ")"                  ret := atype [id]
/// White space between tokens is free; to_string() gives the one canonical spelling. Reports all
/// errors of the text: duplicate names, a required argument after one with a default, `int??`, a
/// default of the wrong type, a name that is a keyword, ... Never throws.
ParseResult parse_schema(std::string_view text);

/// A type alone, without annotation.
std::optional<Type> parse_type(std::string_view text, std::vector<ParseError>& errors);

}  // namespace tenon::schema
