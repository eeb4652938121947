#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::schema {

enum class BaseType : uint8_t {
  kTensor,
  kInt,
  kSymInt,
  kSymBool,
  kFloat,
  kBool,
  kStr,
  kScalar,
  kScalarType,
  kLayout,
  kDevice,
  kDeviceIndex,
  kMemoryFormat,
  kGenerator,
  kDimname,
  kDimVector,
  kQScheme,
  kStorage,
  kStream,
  kGraphModule,
  kCustomClass,  // __torch__.torch.classes.<dotted name>
};

/// The spelling in a schema: "Tensor", "int", ... ("" for kCustomClass).
std::string_view to_string(BaseType base);
std::optional<BaseType> base_type_from(std::string_view name);
/// Every spelling base_type_from accepts, in declaration order.
const std::vector<std::string>& base_type_names();

/// One suffix of a type: `?`, `[]` or `[N]`.
struct TypeSuffix {
  enum class Kind : uint8_t { kOptional, kList } kind = Kind::kOptional;
  std::optional<int64_t> size;  // N of `[N]`
  bool operator==(const TypeSuffix&) const = default;
};

/// A base type and its suffixes from the inside out: `int[2]?` is an optional list of two ints,
/// `Tensor?[]` a list of optional tensors. A flat sequence, because every type is read that way.
struct Type {
  BaseType base = BaseType::kTensor;
  std::string class_name;  // the dotted name, for kCustomClass only
  std::vector<TypeSuffix> suffixes;

  bool operator==(const Type&) const = default;

  bool is_optional() const;  // outermost suffix is `?`
  bool is_list() const;      // a list, or an optional list
  /// N of the outermost list `[N]`, looking through an outer `?`.
  std::optional<int64_t> list_size() const;
  bool is(BaseType kind) const { return base == kind && suffixes.empty(); }
  bool is_tensor() const { return is(BaseType::kTensor); }          // Tensor
  bool is_optional_tensor() const;                                  // Tensor?
  bool is_tensor_list() const;                                      // Tensor[] or Tensor[N]
  bool is_optional_tensor_list() const;                             // Tensor?[]
  bool holds_tensors() const { return base == BaseType::kTensor; }  // any of the above and nestings
  /// int or SymInt with no suffix.
  bool is_integer() const { return is(BaseType::kInt) || is(BaseType::kSymInt); }
  /// The type without its outermost suffix. Must have one.
  Type element() const;
  /// The type without an outermost `?`, if there is one.
  Type without_optional() const;
};

/// `(a)`, `(a!)`, `(a|b)`, `(a -> *)`, `(a! -> a|b)`: which memory a tensor may share, before and
/// after the call, and whether the operator writes to it.
struct Alias {
  std::vector<char> before;
  bool is_write = false;
  std::vector<char> after;      // empty when there is no arrow, or for `*`
  bool after_wildcard = false;  // `-> *`

  bool operator==(const Alias&) const = default;
};

}  // namespace tenon::schema
