#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/schema/default_value.h"
#include "codegen/schema/source.h"
#include "codegen/schema/type.h"

namespace tenon::schema {

struct Argument {
  Type type;
  std::optional<Alias> alias;
  std::string name;
  std::optional<DefaultValue> default_value;
  bool kwarg_only = false;

  Span span;       // the whole argument
  Span type_span;  // type with its annotation
  Span name_span;
  Span default_span;  // after the `=`

  bool is_mutable() const { return alias && alias->is_write; }
};

struct Return {
  Type type;
  std::optional<Alias> alias;
  std::string name;  // may be empty

  Span span;
  Span name_span;

  bool is_mutable() const { return alias && alias->is_write; }
};

/// What a schema does with its arguments. In this order of precedence when several hold: inplace,
/// scratch, out, mutable, functional.
enum class SchemaKind : uint8_t {
  kFunctional,  // writes nothing
  kInplace,     // name ends in `_`, or is an augmented assignment `__iadd__`: writes self
  kOut,         // writes keyword-only arguments
  kMutable,     // writes positional arguments under a functional name
  kScratch,     // out arguments are named `_scratch_...`
};
std::string_view to_string(SchemaKind kind);

/// A parsed `name.overload(arguments) -> returns`.
struct FunctionSchema {
  std::string ns;        // of `ns::`, else empty
  std::string name;      // as written, with `_` or dunders: "add_", "__iadd__"
  std::string overload;  // else empty
  std::vector<Argument> args;
  std::vector<Return> returns;  // `-> ()` has none, `-> Tensor[]` one

  Span span;
  Span name_span;  // name and overload
  Span returns_span;

  /// "add.Tensor", "mm".
  std::string full_name() const;
  /// "ns::add.Tensor" when there is a namespace.
  std::string qualified_name() const;
  /// Name shared by all variants: "add" for add, add_, __iadd__ and __add__.
  std::string base_name() const;
  bool is_dunder() const;
  /// `add_` or `__iadd__`; says nothing about the arguments.
  bool is_inplace_name() const;
  SchemaKind kind() const;
  bool is_out() const { return kind() == SchemaKind::kOut; }
  bool is_inplace() const { return kind() == SchemaKind::kInplace; }

  /// Positional argument named `self`, or null.
  const Argument* self() const;
  /// Null when no argument has that name.
  const Argument* find_arg(std::string_view arg_name) const;
  /// Index of the argument or -1.
  int arg_index(std::string_view arg_name) const;
  /// Mutable keyword-only arguments, in order.
  std::vector<const Argument*> out_args() const;
  /// Arguments before the out arguments, positional and keyword-only.
  std::vector<const Argument*> non_out_args() const;
  size_t num_positional() const;
  /// Index of `dtype` where dtype, layout, device, pin_memory are adjacent keyword-only arguments.
  std::optional<size_t> tensor_options() const;
  /// A return has a non-writing annotation, or an argument says `-> *`: the results may be views.
  bool is_view() const;
  bool has_mutable_arg() const;
  /// `name` of return i: as written, else "result" for a sole return, else "result<i>".
  std::string return_name(size_t i) const;
  int return_index(std::string_view return_name) const;
};

}  // namespace tenon::schema
