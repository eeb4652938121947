#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/serialization/safetensors/safetensors.h"
#include "runtime/serialization/zip/zip_format.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
namespace fs = std::filesystem;

namespace {

const std::vector<std::pair<std::string, ScalarType>> kTypes = {
    {"bool", kBool},
    {"uint8", kByte},
    {"int8", kChar},
    {"float8_e4m3fn", kFloat8_e4m3fn},
    {"float8_e5m2", kFloat8_e5m2},
    {"float8_e4m3fnuz", kFloat8_e4m3fnuz},
    {"float8_e5m2fnuz", kFloat8_e5m2fnuz},
    {"uint16", kUInt16},
    {"int16", kShort},
    {"float16", kHalf},
    {"bfloat16", kBFloat16},
    {"uint32", kUInt32},
    {"int32", kInt},
    {"float32", kFloat},
    {"complex64", kComplexFloat},
    {"uint64", kUInt64},
    {"int64", kLong},
    {"float64", kDouble},
};

/// Two elements of bytes 0, 1, 2, ...
Tensor counting(ScalarType dtype) {
  Tensor t(empty({2}, dtype, kCPU));
  for (size_t i = 0; i < t.nbytes(); ++i)
    static_cast<char*>(t.data_ptr())[i] = static_cast<char>(i);
  return t;
}

StateDict shapes() {
  StateDict state;
  state.insert("scalar", vector_of({1.5}).reshape({}));
  state.insert("empty", zeros({0, 3}, TensorOptions()));
  state.insert("matrix", arange(6, TensorOptions(kLong)).reshape({2, 3}));
  state.insert("\"quoted\\\n\u00e9", vector_of({7}, kByte));
  return state;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         (a.nbytes() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

/// A file with this header and so many bytes of data.
std::string file_of(const std::string& header, size_t data) {
  std::string bytes;
  zip::put<uint64_t>(bytes, header.size());
  return bytes + header + std::string(data, '\0');
}

SafetensorsFile opened(const std::string& bytes) {
  return SafetensorsFile(std::make_shared<MemorySource>(bytes));
}

std::string message_of(const std::string& bytes) {
  try {
    opened(bytes).tensors();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("safetensors: files of the Python package are read") {
  for (const bool mmap : {false, true}) {
    const SafetensorsFile file(kData + "dtypes.safetensors", {.mmap = mmap});
    for (const auto& [name, dtype] : kTypes) {
      INFO(name);
      CHECK(same(file.tensor("t_" + name), counting(dtype)));
    }
    const SafetensorsFile mixed(kData + "shapes.safetensors", {.mmap = mmap});
    CHECK(file.tensors().size() == kTypes.size());
    CHECK(mixed.metadata() == SafetensorsMetadata{{"format", "pt"}});
    const StateDict got = mixed.tensors();
    CHECK(got.size() == shapes().size());
    for (const auto& item : shapes()) CHECK(same(got[item.key()], item.value()));
    CHECK_THROWS_WITH(mixed.tensor("none"), Catch::EndsWith("has no tensor 'none'"));
  }
}

TEST_CASE("safetensors: files are byte for byte the Python package's") {
  const TemporaryFolder folder;
  save_safetensors(shapes(), folder / "x", {{"format", "pt"}});
  CHECK(bytes_of(folder / "x") == bytes_of(kData + "shapes.safetensors"));
  StateDict dtypes;
  for (const auto& [name, dtype] : kTypes) dtypes.insert("t_" + name, counting(dtype));
  save_safetensors(dtypes, folder / "y");
  CHECK(bytes_of(folder / "y") == bytes_of(kData + "dtypes.safetensors"));
}

TEST_CASE("safetensors: dtypes that Tenon does not have are listed, not loaded") {
  const SafetensorsFile file(kData + "foreign.safetensors");
  REQUIRE(file.entries().size() == 2);
  CHECK(file.entries()[1].dtype == "F8_E8M0");
  CHECK(file.entries()[1].bytes == 2);
  CHECK(file.tensor("x").sizes() == IntArrayRef({1}));
  CHECK_THROWS_AS(file.tensor("scale"), NotImplementedError);
  CHECK_THROWS_AS(file.tensors(), NotImplementedError);
}

TEST_CASE("safetensors: what is saved is read back") {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  StateDict state;
  const Tensor base = arange(12, TensorOptions(kFloat));
  state.insert("transposed", base.view({3, 4}).t());
  state.insert("slice", base.slice(0, 1, 9, 2));
  state.insert("large", ones({600000}, TensorOptions(kDouble)));
  save_safetensors(state, path, {{"a", "1"}, {"b", "\xc3\xa9"}});
  for (const bool mmap : {false, true}) {
    const StateDict back = load_safetensors(path, {.mmap = mmap});
    for (const auto& item : state) CHECK(same(back[item.key()], item->contiguous()));
  }
  CHECK(SafetensorsFile(path).metadata() == SafetensorsMetadata{{"a", "1"}, {"b", "\xc3\xa9"}});
  const std::string before = bytes_of(path);
  load_safetensors(path, {.mmap = true})["large"].zero_();
  CHECK(bytes_of(path) == before);
  CHECK(folder.files() == 1);
}

TEST_CASE("safetensors: a mapped tensor outlives its file") {
  Tensor t;
  {
    const SafetensorsFile file(kData + "shapes.safetensors", {.mmap = true});
    t = file.tensor("matrix");
  }
  CHECK(values(t) == std::vector<double>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("safetensors: unaligned tensors are copied out of a mapping") {
  const TemporaryFolder folder;
  write_bytes(folder / "x", file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                    R"("b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
                                    9));
  const Tensor b = load_safetensors(folder / "x", {.mmap = true})["b"];
  CHECK(reinterpret_cast<uintptr_t>(b.data_ptr()) % 8 == 0);
  CHECK(values(b) == std::vector<double>{0});
}

TEST_CASE("safetensors: what cannot be written") {
  const TemporaryFolder folder;
  StateDict state;
  state.insert("z", counting(kComplexDouble));
  CHECK_THROWS_WITH(save_safetensors(state, folder / "x"),
                    "[save] tensor 'z' is ComplexDouble, which safetensors does not have");
  StateDict reserved;
  reserved.insert("__metadata__", counting(kFloat));
  CHECK_THROWS_AS(save_safetensors(reserved, folder / "x"), ValueError);
  StateDict name;
  name.insert("\xff", counting(kFloat));
  CHECK_THROWS_AS(save_safetensors(name, folder / "x"), ValueError);
  CHECK(folder.files() == 0);
}

TEST_CASE("safetensors: hostile headers") {
  using Catch::Contains;
  const auto with = [](const std::string& fields, size_t data = 8) {
    return message_of(file_of(R"({"x":{)" + fields + "}}", data));
  };
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  CHECK(with(good) == "no error");
  CHECK(message_of(file_of("{}   ", 0)) == "no error");
  CHECK_THAT(message_of(""), Contains("it has only 0 bytes"));
  CHECK_THAT(message_of(std::string(8, '\xff')), Contains("more than 100000000"));
  CHECK_THAT(message_of(file_of("{}", 0).substr(0, 9)), Contains("reaches past the end at byte 9"));
  CHECK_THAT(message_of(file_of(" {}", 0)), Contains("must begin with '{'"));
  CHECK_THAT(message_of(file_of("[]", 0)), Contains("must begin with '{'"));
  CHECK_THAT(message_of(file_of("{} {}", 0)), Contains("no valid JSON"));
  CHECK_THAT(message_of(file_of("{\"\xff\":1}", 0)), Contains("no valid JSON"));
  CHECK_THAT(message_of(file_of("{\"x\":" + std::string(100000, '['), 0)),
             Contains("nested deeper"));
  CHECK_THAT(message_of(file_of("{\"x\":{" + good + "},\"x\":{" + good + "}}", 8)),
             Contains(R"(has the key "x" twice)"));
  CHECK_THAT(message_of(file_of(R"({"__metadata__":{"a":1}})", 0)), Contains("must be a string"));
  CHECK_THAT(message_of(file_of(R"({"__metadata__":3})", 0)), Contains("must be an object"));
  CHECK_THAT(message_of(file_of(R"({"x":3})", 0)),
             Contains("exactly dtype, shape and data_offsets"));
  CHECK_THAT(with(good + R"(,"more":1)"), Contains("exactly dtype, shape and data_offsets"));
  CHECK_THAT(with(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])"),
             Contains(R"(unknown dtype "F33")"));
  CHECK_THAT(with(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])", 1),
             Contains("does not fit its data_offsets"));
  CHECK_THAT(with(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
             Contains("does not fit its data_offsets"));
  std::string ones = "1";
  for (int i = 1; i < 65; ++i) ones += ",1";
  CHECK_THAT(with(R"("dtype":"U8","shape":[)" + ones + R"(],"data_offsets":[0,1])", 1),
             Contains("it has 65 dimensions, more than 64"));
  CHECK(with(R"("dtype":"U8","shape":[)" + ones.substr(2) + R"(],"data_offsets":[0,1])", 1) ==
        "no error");
  for (const char* size : {"-1", "1.5", "\"2\"", "18446744073709551615", "1e400"}) {
    CHECK_THAT(with(R"("dtype":"F32","shape":[)" + std::string(size) + R"(],"data_offsets":[0,8])"),
               Contains("a size must be") || Contains("no valid JSON"));
  }
  CHECK_THAT(with(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])", 0),
             Contains("does not fit"));
  CHECK_THAT(
      with(
          R"("dtype":"U8","shape":[0,4611686018427387904,4611686018427387904],"data_offsets":[0,0])",
          0),
      Contains("does not fit"));
  for (const char* offsets : {"[8,0]", "[0]", "[0,8,9]", "[-8,0]", "[0.5,8]", "{}"}) {
    CHECK_THAT(with(R"("dtype":"F32","shape":[2],"data_offsets":)" + std::string(offsets)),
               Contains("data_offsets must be two ascending numbers"));
  }
  CHECK_THAT(with(good, 9), Contains("have 8 bytes, but 9 follow"));
  CHECK_THAT(with(good, 7), Contains("have 8 bytes, but 7 follow"));
  CHECK_THAT(with(R"("dtype":"F32","shape":[2],"data_offsets":[1,9])", 9),
             Contains("there are gaps or overlaps"));
  CHECK_THAT(message_of(file_of("{\"x\":{" + good + "},\"y\":{" + good + "}}", 8)),
             Contains("there are gaps or overlaps"));
}

TEST_CASE("safetensors: every truncation is an error, every damaged byte is harmless") {
  const std::string whole = bytes_of(kData + "shapes.safetensors");
  for (size_t n = 0; n < whole.size(); ++n)
    CHECK_THAT(message_of(whole.substr(0, n)), Catch::StartsWith("[load] a buffer: "));
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const std::string error = message_of(damaged);
      CHECK((error == "no error" || error.starts_with("[load] a buffer: ")));
    }
  }
}
