#include "codegen/schema/default_value.h"

#include <algorithm>
#include <cmath>

#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::schema {

namespace {

const std::vector<std::string>& names_of(BaseType base) {
  static const std::vector<std::string> none;
  static const std::vector<std::string> reductions = {"Mean", "Sum"};
  static const std::vector<std::string> floats = {"inf", "nan"};
  static const std::vector<std::string> dtypes = {
      "bfloat16", "bool",  "cdouble", "cfloat",  "char",    "complex128", "complex32", "complex64",
      "double",   "float", "float16", "float32", "float64", "half",       "int",       "int16",
      "int32",    "int64", "int8",    "long",    "short",   "uint8",      "byte"};
  static const std::vector<std::string> formats = {"channels_last", "channels_last_3d",
                                                   "contiguous_format", "preserve_format"};
  static const std::vector<std::string> layouts = {"sparse_bsc", "sparse_bsr", "sparse_coo",
                                                   "sparse_csc", "sparse_csr", "strided"};
  switch (base) {
  case BaseType::kInt:
  case BaseType::kSymInt: return reductions;
  case BaseType::kFloat: return floats;
  case BaseType::kScalarType: return dtypes;
  case BaseType::kMemoryFormat: return formats;
  case BaseType::kLayout: return layouts;
  default: return none;
  }
}

// Literals other than named constants that a base type may have.
bool accepts_literal(BaseType base, const DefaultValue& value) {
  const bool is_bool = value.get<bool>() != nullptr;
  const bool is_int = value.get<int64_t>() != nullptr;
  const bool is_float = value.get<double>() != nullptr;
  switch (base) {
  case BaseType::kInt:
  case BaseType::kSymInt:
  case BaseType::kDeviceIndex: return is_int;
  case BaseType::kFloat: return is_int || is_float;
  case BaseType::kScalar: return is_bool || is_int || is_float;
  case BaseType::kBool:
  case BaseType::kSymBool: return is_bool;
  case BaseType::kStr:
  case BaseType::kDevice:
  case BaseType::kDimname: return value.get<StringValue>() != nullptr;
  default: return false;
  }
}

std::string expected(BaseType base) {
  switch (base) {
  case BaseType::kInt:
  case BaseType::kSymInt:
  case BaseType::kDeviceIndex: return "an integer";
  case BaseType::kFloat: return "a number";
  case BaseType::kScalar: return "a number, True or False";
  case BaseType::kBool:
  case BaseType::kSymBool: return "True or False";
  case BaseType::kStr:
  case BaseType::kDevice:
  case BaseType::kDimname: return "a quoted string";
  case BaseType::kScalarType: return "the name of a dtype";
  case BaseType::kMemoryFormat: return "the name of a memory format";
  case BaseType::kLayout: return "the name of a layout";
  default: return {};
  }
}

ParseError base_error(const Type& type, const DefaultValue& value) {
  const std::string what = expected(type.base);
  ParseError error;
  if (what.empty()) {
    error.message = "`" + to_string(type) + "` can have no default here, got `" + value.text + "`";
    return error;
  }
  error.message =
      "the default of `" + to_string(type) + "` must be " + what + ", got `" + value.text + "`";
  if (const NameValue* name = value.get<NameValue>()) {
    std::vector<std::string> candidates = names_of(type.base);
    if (type.base == BaseType::kBool || type.base == BaseType::kSymBool) {
      candidates = {"False", "True"};
    }
    error.suggestion = nearest(name->name, candidates);
  }
  return error;
}

}  // namespace

std::vector<ParseError> check_default(const Type& type, const DefaultValue& value) {
  if (type.is_optional()) {
    if (value.is_none()) return {};
    return check_default(type.element(), value);
  }
  if (value.is_none()) {
    return {{{},
             "`" + to_string(type) + "` is not optional and cannot default to None",
             to_string(type) + "?"}};
  }
  const ListValue* list = value.get<ListValue>();
  if (type.is_list()) {
    const Type element = type.element();
    if (list == nullptr) {
      if (type.list_size()) return check_default(element, value);
      return {{{},
               "the default of `" + to_string(type) + "` must be a list, got `" + value.text + "`",
               "[" + value.text + "]"}};
    }
    const std::optional<int64_t> size = type.list_size();
    // Upstream writes `int[2] stride=[]` for "as the kernel size": an empty list always passes.
    if (size && *size > 1 && !list->empty() && static_cast<int64_t>(list->size()) != *size) {
      return {{{},
               "the default of `" + to_string(type) + "` must have " + std::to_string(*size) +
                   " elements, got " + std::to_string(list->size()),
               {}}};
    }
    for (const DefaultValue& item : *list) {
      std::vector<ParseError> errors = check_default(element, item);
      if (!errors.empty()) return errors;
    }
    return {};
  }
  if (list != nullptr) {
    return {
        {{}, "`" + to_string(type) + "` is no list, but its default is `" + value.text + "`", {}}};
  }
  if (const NameValue* name = value.get<NameValue>()) {
    const std::vector<std::string>& names = names_of(type.base);
    if (std::find(names.begin(), names.end(), name->name) != names.end()) return {};
  } else if (accepts_literal(type.base, value)) {
    return {};
  }
  return {base_error(type, value)};
}

}  // namespace tenon::schema
