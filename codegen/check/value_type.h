#pragma once

#include <optional>
#include <string>

#include "codegen/schema/type.h"

namespace tenon::codegen {

/// The type of a part of a formula as far as it is known: a type of the schema language, a brace
/// list, TensorOptions, or unknown, which converts to everything.
class ValueType {
 public:
  ValueType() = default;
  explicit ValueType(schema::Type type) : kind_(Kind::kSchema), type_(std::move(type)) {}
  explicit ValueType(schema::BaseType base) : kind_(Kind::kSchema) { type_.base = base; }

  static ValueType list();
  static ValueType of_literal(const std::string& text);
  /// What a method of Tensor that is written by hand gives.
  static ValueType of_method(const std::string& method);

  bool known() const { return kind_ != Kind::kUnknown; }
  bool is(schema::BaseType base) const { return kind_ == Kind::kSchema && type_.is(base); }
  bool is_optional() const { return kind_ == Kind::kSchema && type_.is_optional(); }
  bool operator==(const ValueType& other) const = default;

  /// C++ converts a value of this type to a parameter of type `to`, or to TensorOptions.
  bool converts_to(const schema::Type& to, bool is_options) const;
  /// How overloads are compared by one argument, as in C++: the lower, the better. Unlike
  /// converts_to, a number is taken for a bool; nothing where there is no conversion.
  enum class Conversion : uint8_t { kNone, kOfNumbers, kByClass };
  std::optional<Conversion> conversion_to(const schema::Type& to, bool is_options) const;
  /// "Tensor", "int[]", "{...}", "?"
  std::string describe() const;

 private:
  enum class Kind : uint8_t { kUnknown, kSchema, kList, kOptions };
  Kind kind_ = Kind::kUnknown;
  schema::Type type_;
};

}  // namespace tenon::codegen
