#include "tests/runtime/serialization/cases.h"

#include <cmath>
#include <complex>
#include <cstring>

#include "tenon/ops/arange.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/values.h"

namespace tenon::serialization {
namespace {

using namespace std::string_literals;

Tensor floats(int64_t n) { return arange(n, TensorOptions(kFloat)); }

/// Elements whose bytes count up from 0, but bools, which are 0 and 1 by turns.
Tensor counting(ScalarType dtype, IntArrayRef sizes) {
  Tensor t(empty(sizes, dtype, kCPU));
  auto* bytes = static_cast<uint8_t*>(t.mutable_data_ptr());
  for (size_t i = 0; i < t.nbytes(); ++i)
    bytes[i] = static_cast<uint8_t>(dtype == kBool ? i % 2 : i);
  return t;
}

Value dtypes() {
  const Value all = Value::dict();
  const auto add = [&](const char* name, ScalarType t) { all.set_item(name, counting(t, {2, 3})); };
  add("uint8", kByte);
  add("int8", kChar);
  add("int16", kShort);
  add("int32", kInt);
  add("int64", kLong);
  add("float16", kHalf);
  add("bfloat16", kBFloat16);
  add("float32", kFloat);
  add("float64", kDouble);
  add("complex64", kComplexFloat);
  add("complex128", kComplexDouble);
  add("bool", kBool);
  return all;
}

Value storage_only() {
  const Value all = Value::dict();
  const auto add = [&](const char* name, ScalarType t) { all.set_item(name, counting(t, {3})); };
  add("float8_e5m2", kFloat8_e5m2);
  add("float8_e4m3fn", kFloat8_e4m3fn);
  add("float8_e5m2fnuz", kFloat8_e5m2fnuz);
  add("float8_e4m3fnuz", kFloat8_e4m3fnuz);
  add("uint16", kUInt16);
  add("uint32", kUInt32);
  add("uint64", kUInt64);
  return all;
}

Value numbers() {
  const Value all = Value::list({nullptr, true, false, 0, 1, -1, 255, 256, 65535, 65536});
  for (const int64_t v : {int64_t{INT32_MAX}, int64_t{INT32_MIN}, int64_t{INT32_MAX} + 1,
                          int64_t{INT32_MIN} - 1, INT64_MAX, INT64_MIN, int64_t{1} << 40,
                          int64_t{-128}, int64_t{-32769}, int64_t{-2147483649}})
    all.append(v);
  for (const char* digits : {"9223372036854775808", "-9223372036854775809", "18446744073709551616",
                             "-18446744073709551616", "1267650600228229401496703205376"})
    all.append(Value::int_of_decimal(digits));
  // 2**2100: too long for a length of one byte.
  all.append(Value::int_of_bytes(std::string(262, '\0') + '\x10'));
  all.append(Value::int_of_bytes(std::string(262, '\0') + '\xf0'));
  for (const double v : {0.0, -0.0, 1.5, -2.25e-300, 1e300, HUGE_VAL, -HUGE_VAL, std::nan("")})
    all.append(v);
  all.append(std::complex<double>(1.5, -2));
  return all;
}

Value strings() {
  const Value same(std::string("same object"));
  return Value::list({"", "a", "a", std::string("fresh"), std::string("fresh"), same, same,
                      "\u00e9", "\u00e9", "na\u00efve \u4e2d\u6587 \U0001F600",
                      std::string(300, 'x'), "cpu", "storage", Value::bytes("x"), Value::bytes("x"),
                      Value::bytes("\x00\x7f\x80\xff"s), Value::bytearray("abc"),
                      Value::bytearray(""), Value::bytearray("\xfe\xff")});
}

Value containers() {
  const Value shared = Value::list({1, 2});
  const Value pair = Value::tuple({1, shared});
  return Value::dict(
      {{"list", Value::list()},
       {"one", Value::list({1})},
       {"tuple", Value::tuple({Value::tuple(), Value::tuple({1}), Value::tuple({1, 2}),
                               Value::tuple({1, 2, 3}), Value::tuple({1, 2, 3, 4})})},
       {"dict", Value::dict()},
       {3, Value::dict({{Value::tuple({1, "x"}), 2}})},
       {nullptr, pair},
       {true, pair},
       {2.5, shared},
       {"ordered", Value::ordered_dict({{"b", 1}, {"a", 2}})},
       {"ordered one", Value::ordered_dict({{"b", 1}})},
       {"counter", Value::counter({{"x", 2}, {"y", 1}})},
       {"set", Value::set({5})},
       {"no set", Value::set()}});
}

Value python_types() {
  return Value::list({Value::frozenset({7}), Value::slice(1, nullptr, 2), Value::range(0, 10, 3),
                      Value::frozenset()});
}

Value torch_types() {
  const Value size = Value::size({2, 3});
  return Value::list({size, size, Value::size({}), kFloat, kLong, kFloat, Value(ScalarType::Bool),
                      Device(kCPU), Device(kCUDA, 1), Device(kCPU), kStrided,
                      Value::layout("torch.sparse_coo"), kStrided, kFloat8_e4m3fn});
}

Value recursive() {
  const Value list = Value::list({1});
  list.append(list);
  const Value dict = Value::dict();
  dict.set_item("self", dict);
  const Value inner = Value::list();
  const Value tuple = Value::tuple({1, inner});
  inner.append(tuple);
  const Value inner4 = Value::list();
  const Value tuple4 = Value::tuple({1, 2, 3, inner4});
  inner4.append(tuple4);
  return Value::list({list, dict, tuple, tuple4, inner});
}

Value batches() {
  const auto list = [](int64_t n) {
    const Value v = Value::list();
    for (int64_t i = 0; i < n; ++i) v.append(i);
    return v;
  };
  const auto dict = [](const Value& d, int64_t n) {
    for (int64_t i = 0; i < n; ++i) d.set_item(i, nullptr);
    return d;
  };
  const Value all = Value::list();
  for (const int64_t n : {999, 1000, 1001, 2000, 2001}) {
    all.append(list(n));
    all.append(dict(Value::dict(), n));
    all.append(dict(Value::ordered_dict(), n));
  }
  return all;
}

Value views() {
  const Tensor base = floats(12);
  const Tensor other = ones({4}, TensorOptions(kDouble));
  const Tensor matrix = base.view({3, 4});
  return Value::dict({{"base", base},
                      {"slice", base.slice(0, 2, 8, 2)},
                      {"matrix", matrix},
                      {"transposed", matrix.t()},
                      {"same", base},
                      {"row", matrix.select(0, 1)},
                      {"expanded", other.select(0, 2).expand({2, 2})},
                      {"other", other},
                      {"last", base.slice(0, 12, 12)}});
}

Value kinds() {
  const Tensor weight = floats(6).reshape({2, 3});
  const Value parameter = Value::parameter(floats(3).requires_grad_());
  const Value frozen = Value::parameter(weight);
  const Value named(floats(2));
  named.set_attributes(Value::dict({{"note", "hello"}}));
  const Value named_parameter = Value::parameter(floats(2).requires_grad_());
  named_parameter.set_attributes(Value::dict({{"note", Value::list({1})}}));
  const Tensor leaf = floats(2).requires_grad_();
  return Value::dict({{"scalar", vector_of({3}, kLong).reshape({})},
                      {"empty", zeros({0, 3}, TensorOptions())},
                      {"empties", zeros({0}, TensorOptions(kInt))},
                      {"five", ones({1, 1, 1, 2, 3}, TensorOptions(kBFloat16))},
                      {"grad", leaf},
                      {"non-leaf", leaf * 2},
                      {"parameter", parameter},
                      {"again", parameter},
                      {"frozen", frozen},
                      {"its data", weight},
                      {"attributes", named},
                      {"parameter attributes", named_parameter},
                      {"meta", Tensor(empty_strided({2, 3}, {3, 1}, kHalf, kMeta))},
                      {"meta0", Tensor(empty_strided({}, {}, kFloat, kMeta))}});
}

Value storages() {
  const Tensor t = floats(4), u = vector_of({1, 2, 3}, kLong);
  const Tensor bytes = counting(kFloat8_e5m2, {5});
  return Value::list({Value::storage(t.storage(), kFloat), t, u, Value::storage(u.storage(), kLong),
                      Value::storage(bytes.storage()), bytes});
}

/// A whole training checkpoint as PyTorch users write it.
Value checkpoint() {
  const Value model = Value::ordered_dict();
  const Value metadata = Value::ordered_dict();
  for (const std::string layer : {"0", "1"}) {
    model.set_item(layer + ".weight", floats(4).reshape({2, 2}));
    model.set_item(layer + ".bias", zeros({2}, TensorOptions()));
  }
  for (const std::string& name : {""s, "0"s, "1"s})
    metadata.set_item(name, Value::dict({{"version", 1}}));
  model.set_attributes(Value::dict({{"_metadata", metadata}}));
  const Value state = Value::dict();
  for (int i = 0; i < 2; ++i)
    state.set_item(i, Value::dict({{"step", Tensor(floats(3).select(0, 2).clone())},
                                   {"exp_avg", zeros({2}, TensorOptions())}}));
  const Value group = Value::dict({{"lr", 0.001},
                                   {"betas", Value::tuple({0.9, 0.999})},
                                   {"amsgrad", false},
                                   {"params", Value::list({0, 1})}});
  return Value::dict(
      {{"epoch", 3},
       {"model", model},
       {"optimizer", Value::dict({{"state", state}, {"param_groups", Value::list({group})}})},
       {"loss", 0.25}});
}

Value twelve() {
  const Value all = Value::dict();
  for (int i = 0; i < 12; ++i) all.set_item(i, ones({1}, TensorOptions(kInt)) * i);
  return all;
}

std::vector<Case> make_cases() {
  SaveOptions legacy;
  legacy.format = SaveOptions::Format::Legacy;
  LoadOptions harmless;
  harmless.weights_only = false;
  return {
      {"dtypes", dtypes},
      {"storage_only", storage_only},
      {"numbers", numbers},
      {"strings", strings},
      {"containers", containers},
      {"python_types", python_types, {}, harmless},
      {"torch_types", torch_types},
      {"recursive", recursive},
      {"batches", batches},
      {"views", views},
      {"kinds", kinds},
      {"storages", storages},
      {"checkpoint", checkpoint},
      {"twelve", twelve},
      {"tensor", [] { return Value(floats(3)); }},
      {"legacy", checkpoint, legacy, {}, false},
      {"legacy_one",
       [] {
         return Value::dict({{"t", floats(3)}, {"u", 7}});
       },
       legacy},
  };
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = make_cases();
  return all;
}

}  // namespace tenon::serialization
