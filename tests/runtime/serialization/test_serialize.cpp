#include "runtime/serialization/serialize.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "tenon/nn/modules/linear.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/values.h"

using namespace tenon;
using nn::StateDict;
using serialization::load_state_dict;
using serialization::save_state_dict;
using namespace tenon::test;
namespace fs = std::filesystem;

namespace {

/// The tensors that fixtures mixed.pt was made of.
StateDict mixed() {
  StateDict state;
  const auto floats = [](int64_t n) { return arange(n, TensorOptions(kFloat)); };
  state.insert("a", floats(6).reshape({2, 3}));
  state.insert("b.c", vector_of({3}, kLong).reshape({}));
  const Tensor base = floats(12);
  state.insert("v", base.slice(0, 2, 8, 2));
  state.insert("w", base.view({3, 4}).t());
  state.insert("e", zeros({0, 3}, TensorOptions()));
  state.insert("five", ones({1, 1, 1, 2, 3}, TensorOptions(kBFloat16)));
  state.insert("big", zeros({300, 1}, TensorOptions(kByte)));
  state.insert("grad", vector_of({1.5, -2.5}, kDouble).requires_grad_());
  state.insert("bool", vector_of({1, 0}, kBool));
  Tensor complex(empty({1}, kComplexFloat, kCPU));
  *complex.data_ptr<std::complex<float>>() = {1, 2};
  state.insert("c", complex);
  state.insert("h", vector_of({0.5}, kHalf));
  return state;
}

void check_same(const StateDict& got, const StateDict& expected) {
  REQUIRE(got.keys() == expected.keys());
  for (const auto& item : expected) {
    INFO(item.key());
    const Tensor& t = got[item.key()];
    CHECK(t.sizes() == item->sizes());
    CHECK(t.strides() == item->strides());
    CHECK(t.dtype() == item->dtype());
    const Tensor x = t.detach().contiguous(), y = item->detach().contiguous();
    CHECK((x.nbytes() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0));
  }
}

}  // namespace

TEST_CASE("files are byte for byte what PyTorch writes") {
  const TemporaryFolder folder;
  save_state_dict(mixed(), folder / "mixed.pt");
  check_same_archive(bytes_of(folder / "mixed.pt"), bytes_of(kData + "mixed.pt"));
  StateDict one;
  one.insert("one", arange(4, TensorOptions(kInt)));
  save_state_dict(one, folder / "one.pt");
  check_same_archive(bytes_of(folder / "one.pt"), bytes_of(kData + "one.pt"));
}

TEST_CASE("files that PyTorch wrote are read") {
  check_same(load_state_dict(kData + "mixed.pt"), mixed());
  const StateDict module = load_state_dict(kData + "module.pt");
  CHECK(module.keys() == std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias",
                                                  "1.running_mean", "1.running_var",
                                                  "1.num_batches_tracked"});
  CHECK(module["1.num_batches_tracked"].dtype() == kLong);
}

TEST_CASE("what is saved is read back") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  save_state_dict(mixed(), path);
  const StateDict back = load_state_dict(path);
  check_same(back, mixed());
  CHECK(back["v"].is_alias_of(back["w"]));
  CHECK_FALSE(back["a"].is_alias_of(back["w"]));
  CHECK(folder.files() == 1);

  save_state_dict(StateDict(), path);
  CHECK(load_state_dict(path).is_empty());
  StateDict many;
  for (int i = 0; i < 2001; ++i) many.insert("t" + std::to_string(i), vector_of({double(i)}));
  save_state_dict(many, path);
  check_same(load_state_dict(path), many);
}

TEST_CASE("modules are saved and loaded") {
  const TemporaryFolder folder;
  nn::Linear a(3, 2), b(3, 2), other(2, 2);
  save(a, folder / "linear.pt");
  load(b, folder / "linear.pt");
  CHECK(values(b->weight) == values(a->weight));
  CHECK_THROWS_WITH(load(other, folder / "linear.pt"), Catch::Contains("size mismatch for weight"));
}

TEST_CASE("every truncation is an error that names the file") {
  const TemporaryFolder folder;
  const std::string path = folder / "short.pt";
  const std::string whole = bytes_of(kData + "one.pt");
  for (size_t n = 0; n < whole.size(); ++n) {
    write_bytes(path, whole.substr(0, n));
    INFO("truncated to " << n);
    CHECK_THROWS_WITH(load_state_dict(path), Catch::StartsWith("[load] '" + path + "'"));
  }
}

TEST_CASE("no flipped bit goes unnoticed or does harm") {
  const TemporaryFolder folder;
  const std::string path = folder / "one.pt";
  const std::string whole = bytes_of(kData + "one.pt");
  const StateDict expected = load_state_dict(kData + "one.pt");
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    write_bytes(path, damaged);
    INFO("byte " << i);
    try {
      // Bytes that carry no meaning, padding say, may be anything; the tensors must be right.
      check_same(load_state_dict(path), expected);
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Catch::StartsWith("[load] '" + path + "'"));
    }
  }
}

TEST_CASE("damaged pickles do no harm") {
  // The same, past the checksum: an archive whose pickle was damaged before the checksum was made.
  const TemporaryFolder folder;
  const std::string path = folder / "one.pt";
  const std::string whole = bytes_of(kData + "one.pt");
  const size_t begin = whole.find("\x80\x02");
  const size_t end = whole.find("PK\x07\x08");
  const size_t entry = whole.find("PK\x01\x02");
  for (size_t i = begin; i < end; ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      damaged.replace(entry + 16, 4, 4, '\0');
      write_bytes(path, damaged);
      try {
        load_state_dict(path);
      } catch (const Error& error) {
        CHECK_THAT(error.what(), Catch::StartsWith("[load] '" + path + "'"));
      }
    }
  }
}

TEST_CASE("what cannot be read or written") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(load_state_dict(folder / "none.pt"),
                    "[load] cannot open '" + (folder / "none.pt") + "': No such file or directory");
  write_bytes(folder / "text.pt", "<html>not found</html> and more");
  CHECK_THROWS_WITH(load_state_dict(folder / "text.pt"),
                    Catch::Contains("invalid load key, '<'. It looks like HTML"));
  write_bytes(folder / "empty.pt", "");
  CHECK_THROWS_WITH(load_state_dict(folder / "empty.pt"), Catch::Contains("Ran out of input"));
  CHECK_THROWS_WITH(save_state_dict(StateDict(), folder / "no/x.pt"),
                    "[save] Parent directory " + (folder / "no") + " does not exist.");
  StateDict undefined;
  undefined.insert("u", Tensor());
  CHECK_THROWS_WITH(save_state_dict(undefined, folder / "u.pt"), "[save] tensor 'u' is undefined");
  CHECK_FALSE(fs::exists(folder / "u.pt"));
}

TEST_CASE("a failed save leaves the older file") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  StateDict good;
  good.insert("t", vector_of({1}));
  save_state_dict(good, path);
  StateDict bad = good;
  bad.insert("u", Tensor());
  CHECK_THROWS(save_state_dict(bad, path));
  check_same(load_state_dict(path), good);
  CHECK(folder.files() == 1);
}
