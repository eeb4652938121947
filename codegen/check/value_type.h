#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/schema/type.h"

namespace tenon::codegen {

/// The type of a part of a formula as far as it is known: a type of the schema language, a list in
/// braces, the several results of an operator, TensorOptions, or unknown, which converts to
/// everything.
class ValueType {
 public:
  ValueType() = default;
  explicit ValueType(schema::Type type) : kind_(Kind::kSchema), type_(std::move(type)) {}
  explicit ValueType(schema::BaseType base) : kind_(Kind::kSchema) { type_.base = base; }

  /// `{a, b}`, which has a type only where it is an argument.
  static ValueType list(std::vector<ValueType> elements);
  /// Several results in one value; of a call that gives nothing, none.
  static ValueType tuple(std::vector<ValueType> elements);
  static ValueType of_literal(const std::string& text);
  /// What a method of Tensor that is written by hand gives.
  static ValueType of_method(const std::string& method);

  bool known() const { return kind_ != Kind::kUnknown; }
  bool is(schema::BaseType base) const { return kind_ == Kind::kSchema && type_.is(base); }
  bool is_optional() const { return kind_ == Kind::kSchema && type_.is_optional(); }
  /// int or SymInt; with `float` and `bool` too.
  bool is_integer() const { return kind_ == Kind::kSchema && type_.is_integer(); }
  bool is_number() const;
  bool is_braces() const { return kind_ == Kind::kList; }
  bool is_tuple() const { return kind_ == Kind::kTuple; }
  /// Of a list in braces, or of several results.
  const std::vector<ValueType>& elements() const { return elements_; }
  /// Null where it is no type of the schema language.
  const schema::Type* type() const { return kind_ == Kind::kSchema ? &type_ : nullptr; }
  /// What is in an optional or a list; unknown where it is neither.
  ValueType element() const;
  bool operator==(const ValueType& other) const = default;

  /// C++ converts a value of this type to a parameter of type `to`, or to TensorOptions.
  bool converts_to(const schema::Type& to, bool is_options) const;
  /// How overloads are compared by one argument, as in C++: the lower, the better. Unlike
  /// converts_to, a number is taken for a bool; nothing where there is no conversion.
  enum class Conversion : uint8_t { kNone, kOfNumbers, kByClass };
  std::optional<Conversion> conversion_to(const schema::Type& to, bool is_options) const;
  /// "Tensor", "int[]", "{int, float}", "(Tensor, Tensor)", "?"
  std::string describe() const;

 private:
  enum class Kind : uint8_t { kUnknown, kSchema, kList, kTuple, kOptions };

  bool braces_convert_to(const schema::Type& to) const;

  Kind kind_ = Kind::kUnknown;
  schema::Type type_;
  std::vector<ValueType> elements_;
};

/// "(Tensor, int)"
std::string describe(const std::vector<ValueType>& types);

}  // namespace tenon::codegen
