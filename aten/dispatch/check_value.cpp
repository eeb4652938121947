#include "aten/dispatch/check_value.h"

namespace tenon::detail {
namespace {

using schema::BaseType;

void check_list(const Value& value, BaseType element) {
  switch (element) {
  case BaseType::kTensor: value.to_tensors(); break;
  case BaseType::kFloat: value.to_doubles(); break;
  case BaseType::kBool: value.to_bools(); break;
  case BaseType::kScalar: value.to_scalars(); break;
  default: value.to_ints(); break;
  }
}

void check_one(const Value& value, BaseType type) {
  switch (type) {
  case BaseType::kTensor: value.to_tensor(); break;
  case BaseType::kFloat: value.to_double(); break;
  case BaseType::kBool: value.to_bool(); break;
  case BaseType::kStr: value.to_str(); break;
  case BaseType::kScalar: value.to_scalar(); break;
  case BaseType::kDevice: value.to_device(); break;
  case BaseType::kGenerator: value.to_generator(); break;
  default: value.to_int(); break;
  }
}

}  // namespace

void check_value(const Value& value, const schema::Type& type) {
  if (type.is_optional() && value.is_none()) return;
  type.is_list() ? check_list(value, type.base) : check_one(value, type.base);
}

}  // namespace tenon::detail
