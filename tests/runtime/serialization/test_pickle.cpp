// The machine that reads pickles and the writer of opcodes.
#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/pickle_writer.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/pickle/tensor_builder.h"
#include "runtime/serialization/pickle/unpickler.h"
#include "tests/runtime/serialization/files.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
using namespace std::string_literals;

namespace {

Value run(const std::string& pickle, const LoadOptions& options = {}) {
  ByteCursor in(pickle, "test");
  TensorBuilder tensors(options.map_location, false);
  const Globals globals(
      options.weights_only ? Globals::Mode::WeightsOnly : Globals::Mode::PlainTypes, tensors);
  Budget budget(pickle.size(), pickle.size(), options.limits);
  Unpickler machine(in, globals, options, budget, [](const StorageId& id) {
    return Value::storage(make_storage(static_cast<uint64_t>(id.numel) * 4, kCPU), kFloat);
  });
  return machine.run();
}

std::string pickle(std::string opcodes) { return "\x80\x02" + std::move(opcodes) + "."; }

std::string failure(const std::string& opcodes, const LoadOptions& options = {}) {
  return error_of([&] { run(pickle(opcodes), options); });
}

void check_contains(const std::string& text, const std::string& part) {
  CHECK_THAT(text, Catch::Contains(part));
}

/// A tensor's arguments up to requires_grad, over a storage of `numel` floats.
std::string tensor(const std::string& numel, const std::string& offset, const std::string& size,
                   const std::string& stride) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n"
         "X\x01\0\0\0"s +
         "0X\x03\0\0\0cpu"s + numel + "tQ" + offset + size + stride +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

}  // namespace

TEST_CASE("integers of every width") {
  for (const int64_t v :
       {int64_t{0}, int64_t{255}, int64_t{256}, int64_t{65535}, int64_t{65536}, int64_t{-1},
        int64_t{-2147483648}, int64_t{2147483647}, int64_t{2147483648}, int64_t{-2147483649},
        int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
    PickleWriter out;
    out.integer(v);
    CHECK(run(std::move(out).finish()).to_int() == v);
  }
  CHECK(run("I01\n.") == Value(true));
  CHECK(run("I-7\n.").to_int() == -7);
  CHECK(run("L12345678901234567890L\n.") == Value(uint64_t{12345678901234567890u}));
  CHECK(run("\x8b\x02\0\0\0\xff\x7f."s).to_int() == 32767);
  check_contains(failure("I1x\n"), "not an integer: '1x'");
  check_contains(failure("\x8b\xff\xff\xff\xff"), "negative length");
}

TEST_CASE("opcodes of all protocols") {
  CHECK(run("F1.5e3\n.") == Value(1500.0));
  CHECK(run("S'a\\x41\\n\\''\n.") == Value("aA\n'"));
  CHECK(run("Va\\u00e9\xe9\n.") == Value("a\u00e9\u00e9"));
  CHECK(run("(K\x01K\x02l.") == Value::list({1, 2}));
  CHECK(run("(K\x01K\x02"
            "d.") == Value::dict({{1, 2}}));
  CHECK(run("\x80\x04\x8c\x01xC\x02yz\x86.") == Value::tuple({"x", Value::bytes("yz")}));
  CHECK(run("\x80\x04\x8f(K\x01K\x02\x90.") == Value::set({2, 1}));
  CHECK(run("\x80\x04(K\x05\x91.") == Value::frozenset({5}));
  CHECK(run("\x80\x05\x96\x02\0\0\0\0\0\0\0ab."s) == Value::bytearray("ab"));
  CHECK(run("\x80\x04\x8d\x01\0\0\0\0\0\0\0x\x94\x8e\x01\0\0\0\0\0\0\0yh\0\x87."s) ==
        Value::tuple({"x", Value::bytes("y"), "x"}));
  CHECK(run("\x80\x04\x95\x03\0\0\0\0\0\0\0K\x07."s) == Value(7));
  CHECK(run("\x80\x04\x8c\x0b"
            "collections\x8c\x0bOrderedDict\x93)\x81.") == Value::ordered_dict());
  CHECK(run("\x80\x02N2\x86.") == Value::tuple({nullptr, nullptr}));
  CHECK(run("K\x01K\x02"
            "0p3\nK\x05"
            "0g3\n\x86.") == Value::tuple({1, 1}));
  CHECK(run("(K\x01(K\x02K\x03"
            "1t.") == Value::tuple({1}));
  for (const auto& [opcode, name] : std::initializer_list<std::pair<std::string, std::string>>{
           {"(ios\nsystem\n", "INST"},
           {"(cos\n", "EOF"},
           {"(N\x6f", "OBJ"},
           {"Pabc\n", "PERSID"},
           {"\x82\x01", "EXT1"},
           {"\x97", "NEXT_BUFFER"},
           {"\x98", "READONLY_BUFFER"},
           {"\xff", "opcode 255 is not supported"}})
    check_contains(failure(opcode), name);
}

TEST_CASE("strings of Python 2 are decoded as told") {
  const std::string text = "U\x03na\xefq\0"s;
  check_contains(failure(text), "an 8-bit string is not utf-8");
  LoadOptions options;
  options.encoding = "latin1";
  CHECK(run(pickle(text), options) == Value("na\u00ef"));
  options.encoding = "bytes";
  CHECK(run(pickle(text), options) == Value::bytes("na\xef"));
  CHECK(run(pickle("T\x02\0\0\0ab"s)) == Value("ab"));
}

TEST_CASE("nothing is called that is not known") {
  check_contains(failure("cos\nsystem\nX\x02\0\0\0ls\x85R"s),
                 "[load] test at byte 2: Weights only load failed. Trying to load unsupported "
                 "GLOBAL os.system whose module os is blocked.");
  check_contains(failure("cbuiltins\neval\n"),
                 "Unsupported global: GLOBAL eval was not an allowed global by default.");
  check_contains(failure("cmodel\nNet\n)\x81"), "GLOBAL model.Net was not an allowed global");
  check_contains(failure("c_codecs\nencode\nX\x01\0\0\0xX\x03\0\0\0hex\x86R"s),
                 "expected encode(text, 'latin1')");
  check_contains(failure("c__builtin__\nfrozenset\n"), "It is read with weights_only = false");
  check_contains(failure("K\x01)R"), "Trying to call reduce for an int");
  check_contains(failure("ctorch\nFloatTensor\n)R"), "unrecognized function torch FloatTensor");
  check_contains(failure("ctorch\nSize\n)\x81"), "Can only create new object");
  check_contains(failure("(X\x06\0\0\0moduletQ"s),
                 "Only persistent_load of storage is allowed, but got module");
}

TEST_CASE("malformed pickles") {
  check_contains(error_of([] { run(""); }), "unexpected EOF, expected 1 more bytes");
  check_contains(error_of([] { run("\x80\x02X\xff\xff\xff\xff."); }), "unexpected EOF");
  check_contains(error_of([] { run("\x80\x09."); }), "pickle protocol 9 is not supported");
  check_contains(failure(""), "the stack is empty");
  check_contains(failure("("), "a mark stands where a value is expected");
  check_contains(failure("t"), "no mark on the stack");
  check_contains(failure("h\x05"), "memo entry 5 was never written");
  check_contains(failure("K\x01K\x02"), "1 values left over");
  check_contains(failure("K\x01K\x02K\x03s"), "items can be set in a dict only, got an int");
  check_contains(failure("}(K\x01u"), "a key without a value");
  check_contains(failure("}]K\x01s"), "unhashable: a list cannot be a key");
  check_contains(failure("NK\x01"
                         "a"),
                 "items can be appended to a list only, got None");
  check_contains(failure(")Q"), "an empty tuple");
  check_contains(failure("]K\x01"
                         "b"),
                 "Can only build");
  check_contains(failure("X\x02\0\0\0\xff\xfe"s), "a string is not UTF-8");
  check_contains(failure("\x95\xff\0\0\0\0\0\0\0"s), "a frame reaches past the end");
}

TEST_CASE("items cannot be set in a tensor") {
  const std::string t = tensor("K\x06", "K\0"s, "K\x06\x85", "K\x01\x85");
  CHECK(run(pickle(t)).to_tensor().numel() == 6);
  check_contains(failure(t + "K\x01K\x02s"), "items can be set in a dict only, got a tensor");
}

TEST_CASE("tensors stay within their storage") {
  check_contains(failure(tensor("K\x06", "K\x01", "K\x06\x85", "K\x01\x85")),
                 "does not fit into a storage of 6 elements");
  check_contains(failure(tensor("J\xff\xff\xff\xff", "K\0"s, ")", ")")),
                 "negative number of elements: -1");
  check_contains(failure(tensor("K\x06", "K\0"s, "N", ")")), "size must be a tuple, got None");
  const Storage storage = make_storage(12 * 4, kCPU);
  const auto over = [&](int64_t offset, IntArrayRef sizes, IntArrayRef strides) {
    return tensor_over(storage, kFloat, offset, sizes, strides);
  };
  const TensorBase t = over(1, {2, 3}, {6, 2});
  CHECK(t.data_ptr<float>() == static_cast<float*>(storage.data()) + 1);
  CHECK(t.strides() == IntArrayRef({6, 2}));
  CHECK_NOTHROW(over(11, {1}, {100}));
  CHECK_NOTHROW(over(12, {0}, {1}));
  CHECK_NOTHROW(over(0, {1000}, {0}));
  CHECK_THROWS_WITH(over(2, {2, 3}, {6, 2}),
                    "a tensor of sizes [2, 3], strides [6, 2] and offset 2 does not fit into a "
                    "storage of 12 elements");
  for (const int64_t huge : {int64_t{1} << 62, INT64_MAX}) {
    CHECK_THROWS_AS(over(huge, {1}, {1}), ValueError);
    CHECK_THROWS_AS(over(0, {huge}, {1}), ValueError);
    CHECK_THROWS_AS(over(0, {huge, huge}, {0, 0}), ValueError);
    CHECK_THROWS_AS(over(0, {2}, {huge}), ValueError);
  }
  CHECK_THROWS_AS(over(-1, {1}, {1}), ValueError);
  CHECK_THROWS_AS(over(0, {-1}, {1}), ValueError);
  CHECK_THROWS_AS(over(0, {2}, {-1}), ValueError);
  CHECK_THROWS_AS(over(0, {2}, {1, 1}), ValueError);
}

TEST_CASE("classes of storages") {
  CHECK(storage_dtype("torch FloatStorage") == kFloat);
  CHECK(storage_dtype("torch.cuda LongStorage") == kLong);
  CHECK(storage_dtype("torch.storage UntypedStorage") == ScalarType::Undefined);
  CHECK_FALSE(storage_dtype("torch QInt8Storage"));
  CHECK_FALSE(storage_dtype("torch UInt16Storage"));
  CHECK_FALSE(storage_dtype("other FloatStorage"));
}

TEST_CASE("bombs are bounded") {
  // Lists in lists, a million deep: read without recursion, refused for its depth.
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "](";
  check_contains(failure(std::string(1'000'000, ']') + std::string(999'999, 'a')),
                 "nested deeper than 1000");
  check_contains(failure(deep), "marks are nested too deep");
  // A text of 1 MiB, copied by calls again and again.
  std::string copies = "c_codecs\nencode\nq\x01X\0\0\x10\0"s + std::string(1 << 20, 'x') +
                       "q\x02X\x06\0\0\0latin1q\x03"
                       "00"s;
  for (int i = 0; i < 200; ++i) copies += "h\x01h\x02h\x03\x86R";
  LoadOptions little;
  little.limits.budget = 64 << 20;
  check_contains(failure(copies, little), "takes more than");
  // A tuple of two of a tuple of two ... as a key.
  std::string twice = "K\x01";
  for (int i = 0; i < 60; ++i) twice += "q\x01h\x01\x86";
  check_contains(failure("}" + twice + "Ns"), "a key is nested too deep or too large");
  // A key of few bytes that refers to many.
  std::string many_times = "X\x64\0\0\0"s + std::string(100, 'x') + "q\x01"s + "0(";
  for (int i = 0; i < 700; ++i) many_times += "h\x01";
  check_contains(failure("}" + many_times + "tNs"), "a key is nested too deep or too large");
  // The memo is a map: a huge index costs no more than a small one.
  CHECK(run(pickle("K\x01r\xff\xff\xff\xff"
                   "0j\xff\xff\xff\xff"))
            .to_int() == 1);
  // So it is when others follow, in whatever order: 5, 0, 1, 9, and then as many as there are.
  const Value numbered = run(pickle("](K\x05r\x05\0\0\0K\x07q\0K\x08q\x01K\x09q\x09K\x0a\x94"
                                    "h\x05h\0h\x01h\x09h\x04K\x0bq\x02h\x02K\x0cq\x05h\x05"
                                    "e"s));
  std::vector<int64_t> numbers;
  for (const Value& v : numbered.items()) numbers.push_back(v.to_int());
  CHECK(numbers == std::vector<int64_t>{5, 7, 8, 9, 10, 5, 7, 8, 9, 10, 11, 11, 12, 12});
  LoadOptions few;
  few.limits.budget = 1000;
  check_contains(failure(std::string(20, 'N'), few), "more than 1000 bytes of memory and work");
  // Doubling by references: the structure is small, only printing and comparing could explode.
  std::string laughs = "](K\x01K\x02"
                       "e";
  for (int i = 0; i < 60; ++i)
    laughs += "q\x01"
              "0](h\x01h\x01"
              "e";
  const Value value = run(pickle(laughs));
  CHECK(value == run(pickle(laughs)));
  std::ostringstream out;
  out << value;
  CHECK(out.str().size() < (size_t{1} << 22));
}

TEST_CASE("circles that a pickle drops are freed") {
  const Storage storage = make_storage(4, kCPU);
  const std::string id =
      "(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"s + "0X\x03\0\0\0cpuK\x01tQ"s;
  const std::string kept = "]q\2K\7a";
  const std::string text = pickle(kept + "(]q\1h\1ah\2a" + id + "a1");
  {
    ByteCursor in(text, "test");
    const MapLocation nowhere;
    TensorBuilder tensors(nowhere, false);
    const Globals globals(Globals::Mode::WeightsOnly, tensors);
    const LoadOptions options;
    Budget budget(text.size(), text.size(), options.limits);
    Unpickler machine(in, globals, options, budget,
                      [&](const StorageId&) { return Value::storage(storage, kFloat); });
    CHECK(machine.run() == Value::list({7}));
  }
  CHECK(storage.use_count() == 1);
}

TEST_CASE("circles are freed when loading fails") {
  // Under a leak checker this fails if they are not.
  check_contains(failure("]q\0h\0a}q\x01K\x01h\x01sh\x07"s), "memo entry 7");
  const Value list = run(pickle("]q\0h\0a"s));
  REQUIRE(list.size() == 1);
  CHECK(list[0].is_same(list));
  dispose(list);
  CHECK(list.size() == 0);
}
