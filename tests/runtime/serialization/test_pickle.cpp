#include <catch2/catch.hpp>

#include "runtime/serialization/pickle_reader.h"
#include "runtime/serialization/pickle_writer.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace std::string_literals;
using Kind = PickleValue::Kind;

namespace {

TensorBase no_storage(const std::string&, ScalarType dtype, int64_t numel) {
  return empty({numel}, dtype, kCPU);
}

/// Runs a pickle that makes one int.
int64_t int_of(const std::string& pickle) {
  PickleReader reader(pickle, "test", no_storage);
  const PickleValue& value = reader.run();
  REQUIRE(value.kind == Kind::Int);
  return value.integer;
}

std::string error_of(const std::string& pickle) {
  PickleReader reader(pickle, "test", no_storage);
  try {
    reader.run();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string pickle(std::string opcodes) { return "\x80\x02" + std::move(opcodes) + "."; }

}  // namespace

TEST_CASE("integers of every width") {
  for (const int64_t v :
       {int64_t{0}, int64_t{255}, int64_t{256}, int64_t{65535}, int64_t{65536}, int64_t{-1},
        int64_t{-2147483648}, int64_t{2147483647}, int64_t{2147483648}, int64_t{-2147483649},
        int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
    PickleWriter out;
    out.integer(v);
    CHECK(int_of(std::move(out).finish()) == v);
  }
}

TEST_CASE("containers") {
  const std::string text = pickle("}(X\x01\0\0\0aK\x01\x85X\x01\0\0\0b](K\x02K\x03"
                                  "eu"s);
  PickleReader reader(text, "test", no_storage);
  const PickleValue& value = reader.run();
  REQUIRE(value.kind == Kind::Dict);
  REQUIRE(value.pairs.size() == 2);
  CHECK(value.pairs[0].first->text == "a");
  CHECK(value.pairs[0].second->kind == Kind::Tuple);
  CHECK(value.pairs[1].second->items.size() == 2);
  CHECK_THAT(error_of(pickle("(K\x01K\x02l")), Catch::Contains("opcode 108 is not supported"));
}

TEST_CASE("nothing is called that is not known") {
  CHECK(error_of(pickle("cos\nsystem\nX\x02\0\0\0ls\x85R"s)) ==
        "[load] test at byte 21: Weights only load failed. Unsupported global: GLOBAL os system "
        "was not an allowed "
        "global by default.");
  CHECK_THAT(error_of(pickle("cbuiltins\neval\n)\x81")),
             Catch::Contains("opcode 129 is not supported"));
  CHECK_THAT(error_of(pickle("(ios\nsystem\n")), Catch::Contains("opcode 105 is not supported"));
}

TEST_CASE("malformed pickles") {
  CHECK_THAT(error_of(""), Catch::Contains("unexpected EOF, expected 1 more bytes"));
  CHECK_THAT(error_of("\x80\x02X\xff\xff\xff\xff."), Catch::Contains("unexpected EOF"));
  CHECK_THAT(error_of("\x80\x09."), Catch::Contains("pickle protocol 9 is not supported"));
  CHECK_THAT(error_of(pickle("")), Catch::Contains("the stack is empty"));
  CHECK_THAT(error_of(pickle("(")), Catch::Contains("a mark stands where a value is expected"));
  CHECK_THAT(error_of(pickle("t")), Catch::Contains("no mark on the stack"));
  CHECK_THAT(error_of(pickle("h\x05")), Catch::Contains("memo entry 5 was never written"));
  CHECK_THAT(error_of(pickle("K\x01K\x02")), Catch::Contains("1 values left over"));
  CHECK_THAT(error_of(pickle("K\x01K\x02K\x03s")),
             Catch::Contains("items can be set in a dict only, got an int"));
  CHECK_THAT(error_of(pickle("}(K\x01u")), Catch::Contains("a key without a value"));
  CHECK_THAT(error_of(pickle(")Q")), Catch::Contains("a persistent id must be"));
  CHECK_THAT(error_of(pickle("]K\x01"
                             "b")),
             Catch::Contains("attributes can be set on a dict only, got a list"));
}

TEST_CASE("a list that holds itself is freed") {
  const std::string text = pickle("]q\0h\0a"s);
  PickleReader reader(text, "test", no_storage);
  const PickleValue& list = reader.run();
  REQUIRE(list.items.size() == 1);
  CHECK(list.items[0] == &list);
}

TEST_CASE("tensors stay within their storage") {
  const TensorBase storage = empty({12}, kFloat, kCPU);
  const TensorBase t = tensor_over(storage, 1, {2, 3}, {6, 2});
  CHECK(t.data_ptr<float>() == storage.data_ptr<float>() + 1);
  CHECK(t.strides() == IntArrayRef({6, 2}));
  CHECK_NOTHROW(tensor_over(storage, 11, {1}, {100}));
  CHECK_NOTHROW(tensor_over(storage, 12, {0}, {1}));
  CHECK_NOTHROW(tensor_over(storage, 0, {1000}, {0}));
  CHECK_THROWS_WITH(tensor_over(storage, 2, {2, 3}, {6, 2}),
                    "a tensor of sizes [2, 3], strides [6, 2] and offset 2 does not fit into a "
                    "storage of 12 elements");
  for (const int64_t huge : {int64_t{1} << 62, INT64_MAX}) {
    CHECK_THROWS_AS(tensor_over(storage, huge, {1}, {1}), ValueError);
    CHECK_THROWS_AS(tensor_over(storage, 0, {huge}, {1}), ValueError);
    CHECK_THROWS_AS(tensor_over(storage, 0, {huge, huge}, {0, 0}), ValueError);
    CHECK_THROWS_AS(tensor_over(storage, 0, {2}, {huge}), ValueError);
  }
  CHECK_THROWS_AS(tensor_over(storage, -1, {1}, {1}), ValueError);
  CHECK_THROWS_AS(tensor_over(storage, 0, {-1}, {1}), ValueError);
  CHECK_THROWS_AS(tensor_over(storage, 0, {2}, {-1}), ValueError);
  CHECK_THROWS_AS(tensor_over(storage, 0, {2}, {1, 1}), ValueError);
}
