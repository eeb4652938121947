#include "aten/dispatch/value.h"

#include "aten/dispatch/check_value.h"

namespace tenon {
namespace {

constexpr const char* kTypeNames[] = {"none",          "tensor",          "bool",
                                      "int",           "float",           "number",
                                      "string",        "list of ints",    "list of floats",
                                      "list of bools", "list of numbers", "list of tensors",
                                      "device",        "generator"};
static_assert(std::size(kTypeNames) == std::variant_size_v<Value::Variant>);

[[noreturn]] void mismatch(const char* wanted, const Value& found) {
  detail::raise<detail::ValueMismatch>("expected a value of type ", wanted, ", got ",
                                       found.type_name());
}

}  // namespace

const char* Value::type_name() const { return kTypeNames[value_.index()]; }

TensorBase Value::to_tensor() const {
  if (is_none()) return TensorBase();
  if (const auto* v = std::get_if<TensorBase>(&value_)) return *v;
  mismatch("tensor", *this);
}

bool Value::to_bool() const {
  if (const auto* v = std::get_if<bool>(&value_)) return *v;
  mismatch("bool", *this);
}

int64_t Value::to_int() const {
  if (const auto* v = std::get_if<int64_t>(&value_)) return *v;
  if (const auto* v = std::get_if<Scalar>(&value_); v && v->is_integral(true)) return v->toLong();
  mismatch("int", *this);
}

double Value::to_double() const {
  if (const auto* v = std::get_if<double>(&value_)) return *v;
  if (const auto* v = std::get_if<int64_t>(&value_)) return static_cast<double>(*v);
  if (const auto* v = std::get_if<Scalar>(&value_); v && !v->is_complex()) return v->toDouble();
  mismatch("float", *this);
}

Scalar Value::to_scalar() const {
  if (const auto* v = std::get_if<Scalar>(&value_)) return *v;
  if (const auto* v = std::get_if<bool>(&value_)) return *v;
  if (const auto* v = std::get_if<int64_t>(&value_)) return *v;
  if (const auto* v = std::get_if<double>(&value_)) return *v;
  mismatch("number", *this);
}

const std::string& Value::to_str() const {
  if (const auto* v = std::get_if<std::string>(&value_)) return *v;
  mismatch("string", *this);
}

Value::Ints Value::to_ints() const {
  if (const auto* v = std::get_if<Ints>(&value_)) return *v;
  if (const auto* v = std::get_if<int64_t>(&value_)) return {*v};
  mismatch("list of ints", *this);
}

Value::Doubles Value::to_doubles() const {
  if (const auto* v = std::get_if<Doubles>(&value_)) return *v;
  if (const auto* v = std::get_if<double>(&value_)) return {*v};
  mismatch("list of floats", *this);
}

Value::Bools Value::to_bools() const {
  if (const auto* v = std::get_if<Bools>(&value_)) return *v;
  mismatch("list of bools", *this);
}

Value::Scalars Value::to_scalars() const {
  if (const auto* v = std::get_if<Scalars>(&value_)) return *v;
  if (const auto* v = std::get_if<Ints>(&value_)) return {v->begin(), v->end()};
  if (const auto* v = std::get_if<Doubles>(&value_)) return {v->begin(), v->end()};
  if (const auto* v = std::get_if<Bools>(&value_)) return {v->begin(), v->end()};
  mismatch("list of numbers", *this);
}

const Value::Tensors& Value::to_tensors() const {
  if (const auto* v = std::get_if<Tensors>(&value_)) return *v;
  mismatch("list of tensors", *this);
}

Device Value::to_device() const {
  if (const auto* v = std::get_if<Device>(&value_)) return *v;
  mismatch("device", *this);
}

Generator Value::to_generator() const {
  if (const auto* v = std::get_if<Generator>(&value_)) return *v;
  mismatch("generator", *this);
}

}  // namespace tenon
