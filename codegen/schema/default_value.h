#pragma once

#include <string>
#include <variant>
#include <vector>

#include "codegen/schema/source.h"
#include "codegen/schema/type.h"

namespace tenon::schema {

struct DefaultValue;

struct NoneValue {
  bool operator==(const NoneValue&) const = default;
};
/// A named constant: Mean, long, contiguous_format.
struct NameValue {
  std::string name;
  bool operator==(const NameValue&) const = default;
};
/// Contents of a quoted string, escapes resolved.
struct StringValue {
  std::string text;
  bool operator==(const StringValue&) const = default;
};
using ListValue = std::vector<DefaultValue>;

/// The default of an argument. `text` is its canonical spelling: what was written, without spaces
/// inside a list (`[0,1]`).
struct DefaultValue {
  std::string text;
  std::variant<NoneValue, bool, int64_t, double, StringValue, NameValue, ListValue> value;

  bool operator==(const DefaultValue& other) const { return text == other.text; }
  bool is_none() const { return std::holds_alternative<NoneValue>(value); }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
};

/// Empty when `value` may be the default of an argument of `type`; else the message and suggestion
/// (span left empty). A lone scalar may fill a list (`int[2] stride=1`); an int may stand for a
/// float; named constants belong to int (Mean, Sum), ScalarType, MemoryFormat and Layout.
std::vector<ParseError> check_default(const Type& type, const DefaultValue& value);

}  // namespace tenon::schema
