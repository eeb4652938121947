#include "runtime/serialization/values/value.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::serialization;

namespace {

std::string printed(const Value& v) {
  std::ostringstream out;
  out << v;
  return out.str();
}

}  // namespace

TEST_CASE("values are shared, numbers are not") {
  const Value list = Value::list({1});
  const Value same = list;
  same.append("x");
  CHECK(list.size() == 2);
  CHECK(list.is_same(same));
  CHECK_FALSE(list.is_same(Value::list({1, "x"})));
  CHECK(list == Value::list({1, "x"}));
  CHECK(Value(3).is_same(Value(3)));
}

TEST_CASE("ints of any size") {
  CHECK(Value(7).to_int() == 7);
  CHECK(Value(uint64_t{1} << 63) == Value::int_of_decimal("9223372036854775808"));
  CHECK(Value::int_of_decimal("-9223372036854775808").to_int() == INT64_MIN);
  CHECK_FALSE(Value::int_of_decimal("9223372036854775808").fits_int64());
  CHECK_THROWS_WITH(Value::int_of_decimal("9223372036854775808").to_int(),
                    "the int 9223372036854775808 does not fit into 64 bits");
  for (const char* digits : {"0", "1", "-1", "255", "-256", "1000000000000000000000000000000",
                             "-170141183460469231731687"
                             "303715884105728",
                             "99999999999999999999999999999999999999999999"}) {
    const Value v = Value::int_of_decimal(digits);
    CHECK(printed(v) == digits);
    CHECK(Value::int_of_bytes(v.int_bytes()) == v);
  }
  CHECK(Value(0).int_bytes().empty());
  CHECK(Value(-1).int_bytes() == "\xff");
  CHECK(Value(128).int_bytes() == std::string("\x80\0", 2));
  CHECK_THROWS_AS(Value::int_of_decimal("1x"), ValueError);
  CHECK_THROWS_AS(Value::int_of_decimal("-"), ValueError);
  CHECK_THROWS_AS(Value::int_of_decimal(std::string(5000, '1')), ValueError);
}

TEST_CASE("dicts keep order and find keys as Python does") {
  const Value d = Value::dict();
  for (int i = 0; i < 100; ++i) d.set_item(std::to_string(i), i);
  d.set_item("3", "new");
  CHECK(d.size() == 100);
  CHECK(d.entries()[3].second == Value("new"));
  CHECK(d["99"] == Value(99));
  CHECK_THROWS_WITH(d["none"], "no key 'none'");
  const Value small = Value::dict({{1, "int"}, {Value::tuple({1, "a"}), "tuple"}});
  CHECK(small.at(true) == Value("int"));
  CHECK(small.at(1.0) == Value("int"));
  CHECK(small.at(Value::tuple({1.0, "a"})) == Value("tuple"));
  CHECK(small.find("1") == nullptr);
  CHECK_THROWS_AS(small.set_item(Value::list(), 1), TypeError);
  CHECK(Value::set({1, 1.0, true, 2}).size() == 2);
  CHECK(Value::set({1, 2}) == Value::set({2, 1}));
}

TEST_CASE("the wrong kind is told") {
  CHECK_THROWS_WITH(Value(1).to_string(), "expected a string, got an int");
  CHECK_THROWS_WITH(Value("x").to_tensor(), "expected a tensor, got a string");
  CHECK_THROWS_WITH(Value().items(), "expected a list, tuple or set, got None");
  CHECK_THROWS_WITH(Value::list()[3], "index 3 is out of range for a list of 0");
  CHECK_THROWS_AS(Value(Tensor()), ValueError);
  CHECK_THROWS_AS(Value::bytes("x").set_attributes(1), TypeError);
}

TEST_CASE("values print as in Python") {
  CHECK(printed(Value::list({nullptr, true, 1, 1.0, 0.1, 1e300, 1e-7, "it's", "a\n\\"})) ==
        "[None, True, 1, 1.0, 0.1, 1e+300, 1e-07, \"it's\", 'a\\n\\\\']");
  CHECK(printed(Value::tuple({Value::tuple(), Value::tuple({1})})) == "((), (1,))");
  CHECK(printed(Value::dict({{"a", Value::set({1})}, {2, Value::set()}})) ==
        "{'a': {1}, 2: set()}");
  CHECK(printed(Value::ordered_dict({{"a", 1}})) == "OrderedDict([('a', 1)])");
  CHECK(printed(Value::bytes("a\xff")) == "b'a\\xff'");
  CHECK(printed(std::complex<double>(0, 2)) == "2j");
  CHECK(printed(std::complex<double>(1.5, -2)) == "(1.5-2j)");
  CHECK(printed(kFloat) == "torch.float32");
  CHECK(printed(Device(kCUDA, 1)) == "device(type='cuda', index=1)");
  CHECK(printed(Value::size({2, 3})) == "torch.Size([2, 3])");
  CHECK(printed(Value::slice(1, nullptr)) == "slice(1, None, None)");
  CHECK(printed(Value::list({vector_of({1, 2})})) == "[tensor([1., 2.])]");
  const Value circle = Value::list({1});
  circle.append(circle);
  CHECK(printed(circle) == "[1, ...]");
  dispose(circle);
}

TEST_CASE("structures that contain themselves") {
  const auto make = [](int last) {
    const Value a = Value::list({1}), b = Value::dict({{"a", a}, {"last", last}});
    a.append(b);
    return a;
  };
  const Value x = make(1), y = make(1), z = make(2);
  CHECK(x == y);
  CHECK_FALSE(x == z);
  for (const Value& v : {x, y, z}) dispose(v);
}

TEST_CASE("a deep structure is freed without recursion") {
  Value deep = Value::list();
  for (int i = 0; i < 1'000'000; ++i) deep = Value::list({deep});
  deep = Value();
  SUCCEED();
}

TEST_CASE("tensors of storage-only dtypes") {
  Tensor t(empty({4}, kFloat8_e4m3fn, kCPU));
  auto* bytes = static_cast<uint8_t*>(t.mutable_data_ptr());
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(0x38 + i);
  CHECK(t.is_floating_point());
  CHECK(t.element_size() == 1);
  const Tensor view = t.view({2, 2}).t();
  const Tensor copy = view.clone().contiguous();
  CHECK(static_cast<const uint8_t*>(copy.const_data_ptr())[1] == 0x3a);
  CHECK(printed(Value(t)) == "tensor(..., size=(4,), dtype=torch.float8_e4m3fn)");
  CHECK_THROWS_AS(t + t, NotImplementedError);
  CHECK_THROWS_AS(t + 1, NotImplementedError);
  CHECK(t.to(kFloat).data_ptr<float>()[1] == 1.125f);
  CHECK_THROWS_AS(t.sum(), NotImplementedError);
  CHECK_THROWS_AS(t.mul_(2), NotImplementedError);
  CHECK(static_cast<const uint16_t*>(vector_of({-1}, kUInt16).const_data_ptr())[0] == 65535);
  CHECK_THROWS_AS(promote_types(kUInt16, kInt), NotImplementedError);
  CHECK(promote_types(kUInt16, kUInt16) == kUInt16);
  Tensor wide(empty({2}, kUInt64, kCPU));
  static_cast<uint64_t*>(wide.mutable_data_ptr())[0] = UINT64_MAX;
  static_cast<uint64_t*>(wide.mutable_data_ptr())[1] = 7;
  CHECK(printed(Value(wide)) == "tensor([18446744073709551615,                    7], "
                                "dtype=torch.uint64)");
}
