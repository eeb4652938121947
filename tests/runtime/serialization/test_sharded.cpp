#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>

#include "runtime/serialization/io/file_calls.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/sharded/sharded.h"
#include "runtime/serialization/zip/zip_deflate.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
namespace fs = std::filesystem;

namespace {

StateDict state() {
  StateDict state;
  state.insert("matrix", arange(600, TensorOptions(kFloat)).reshape({30, 20}));
  state.insert("transposed", arange(12, TensorOptions(kLong)).reshape({3, 4}).t());
  state.insert("scalar", vector_of({1.5}, kDouble).reshape({}));
  state.insert("empty", zeros({0, 3}, TensorOptions()));
  state.insert("half", vector_of({1, 2, 3}, kHalf));
  return state;
}

bool same(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         (x.nbytes() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0);
}

void check_same(const StateDict& got, const StateDict& expected) {
  REQUIRE(got.keys() == expected.keys());
  for (const auto& item : expected) {
    INFO(item.key());
    CHECK(same(got[item.key()], item.value()));
  }
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

void replace_in(const std::string& path, const std::string& what, const std::string& by) {
  std::string text = bytes_of(path);
  const size_t at = text.find(what);
  REQUIRE(at != text.npos);
  write_bytes(path, text.replace(at, what.size(), by));
}

}  // namespace

TEST_CASE("sharded: what is saved is read back, however it is cut") {
  for (const uint64_t piece : {uint64_t{1}, uint64_t{200}, uint64_t{1} << 20}) {
    for (const uint64_t file : {uint64_t{1}, uint64_t{500}, uint64_t{1} << 20}) {
      const TemporaryFolder parent;
      const std::string folder = parent / "checkpoint";
      save_sharded(state(), folder,
                   {.file_bytes = file, .piece_bytes = piece, .metadata = {{"step", "7"}}});
      const ShardedCheckpoint checkpoint(folder);
      CHECK(checkpoint.metadata().at("step") == "7");
      check_same(checkpoint.tensors(), state());
      checkpoint.verify();
    }
  }
}

TEST_CASE("sharded: deflated, with SHA-256") {
  if (!zip::has_deflate()) return;
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  StateDict large;
  large.insert("ones", ones({100000}, TensorOptions(kDouble)));
  save_sharded(large, folder, {.deflate = 6, .sha256 = true});
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) bytes += entry.file_size();
  CHECK(bytes < 20000);
  ShardedCheckpoint(folder).verify();
  check_same(load_sharded(folder), large);
}

TEST_CASE("sharded: each file is a checkpoint by itself") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  save_sharded(state(), folder);
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(".pt")) continue;
    const Value dict = load(folder + "/" + name);
    CHECK(same(dict["matrix"].to_tensor(), state()["matrix"]));
    CHECK(dict.size() == 5);
  }
}

TEST_CASE("sharded: parts of tensors across pieces") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  const Tensor matrix = state()["matrix"];
  save_sharded(state(), folder, {.file_bytes = 300, .piece_bytes = 7 * 80});
  const ShardedCheckpoint checkpoint(folder);
  for (int64_t row = 0; row <= 30; row += 5) {
    for (int64_t rows = 0; row + rows <= 30; rows += 3) {
      for (const auto& [column, columns] : {std::pair{0, 20}, {3, 9}, {19, 1}, {20, 0}}) {
        const Tensor expected = matrix.narrow(0, row, rows).narrow(1, column, columns);
        CHECK(same(checkpoint.tensor("matrix", {row, column}, {rows, columns}), expected));
      }
    }
  }
  CHECK_THROWS_AS(checkpoint.tensor("matrix", {0, 0}, {31, 20}), IndexError);
  CHECK_THROWS_AS(checkpoint.tensor("matrix", {1, 0}, {30, 20}), IndexError);
  CHECK_THROWS_AS(checkpoint.tensor("matrix", {-1, 0}, {1, 1}), IndexError);
  CHECK_THROWS_AS(checkpoint.tensor("matrix", {0}, {1}), IndexError);
  CHECK_THROWS_AS(checkpoint.tensor("none"), IndexError);
}

TEST_CASE("sharded: several writers, one checkpoint") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  const Tensor matrix = state()["matrix"];
  // Columns of the first half, rows of the second, by three writers.
  const auto piece = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
    return TensorPiece{
        "matrix", {30, 20}, {row, column}, matrix.narrow(0, row, rows).narrow(1, column, columns)};
  };
  const std::vector<std::string> parts{
      write_shards({piece(0, 15, 0, 8)}, folder, "0"),
      write_shards({piece(0, 15, 8, 12), piece(15, 5, 0, 20)}, folder, "1"),
      write_shards({piece(20, 10, 0, 20)}, folder, "2")};
  CHECK_FALSE(is_sharded(folder));
  CHECK_THROWS_WITH(commit_shards({parts[0], parts[1]}, folder),
                    Catch::Contains("tensor 'matrix' lacks 200 elements"));
  CHECK_THROWS_WITH(commit_shards({parts[0], parts[0]}, folder), Catch::Contains("two writers"));
  const std::string again = write_shards({piece(19, 2, 0, 20)}, folder, "3");
  CHECK_THROWS_WITH(commit_shards({parts[0], parts[1], parts[2], again}, folder),
                    Catch::Contains("overlap"));
  CHECK_FALSE(is_sharded(folder));
  commit_shards(parts, folder);
  CHECK(is_sharded(folder));
  CHECK(same(ShardedCheckpoint(folder).tensor("matrix"), matrix));
  // The index, three parts, and one that may yet be committed.
  CHECK(names_in(folder).size() == 5);
  CHECK_THROWS_AS(write_shards({{"x", {2}, {1}, ones({2}, TensorOptions())}}, folder, "0"),
                  ValueError);
}

TEST_CASE("sharded: files that are gone are missed before the index is replaced") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  const std::string part = write_shards({{"ours", {2}, {0}, vector_of({1, 2})}}, folder, "0");
  for (const std::string& name : names_in(folder)) fs::remove(folder + "/" + name);
  save_sharded(state(), folder);
  CHECK_THROWS_WITH(commit_shards({part}, folder), Catch::Contains("is not there any more"));
  check_same(load_sharded(folder), state());
}

TEST_CASE("sharded: a save leaves alone what another has not published yet") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  const auto write = [&](double value) {
    return write_shards({{"x", {2}, {0}, vector_of({value, value})}}, folder, "0");
  };
  const auto loaded = [&] { return values(load_sharded(folder)["x"])[0]; };
  const std::string first = write(1), second = write(2);
  save_sharded(state(), folder);
  commit_shards({first}, folder);
  CHECK(loaded() == 1);
  const std::string third = write(3);  // as a rank that is ahead of the one that commits
  commit_shards({second}, folder);
  CHECK(loaded() == 2);
  commit_shards({third}, folder);
  CHECK(loaded() == 3);
  CHECK(names_in(folder).size() == 2);
}

TEST_CASE("sharded: what nobody published is removed when it has aged") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  save_sharded(state(), folder);
  const auto now = fs::last_write_time(folder + "/index.json");
  const auto leave = [&](const std::string& name, std::chrono::hours age) {
    write_bytes(folder + "/" + name, "left");
    fs::last_write_time(folder + "/" + name, now - age);
  };
  leave("shard-1-0-00000.pt", std::chrono::hours(30));
  leave("shard-1-0-00001.pt.tmp.1.1", std::chrono::hours(30));
  leave("shard-2-0-00000.pt", std::chrono::hours(20));
  leave("notes.pt", std::chrono::hours(30));
  save_sharded(state(), folder);
  const std::set<std::string> names = names_in(folder);
  CHECK(names.size() == 4);
  CHECK(names.contains("shard-2-0-00000.pt"));
  CHECK(names.contains("notes.pt"));
}

TEST_CASE("sharded: savers at once leave the checkpoint of one of them, whole") {
  const TemporaryFolder parent;
  const auto of = [](double value) {
    StateDict dict;
    dict.insert("a", vector_of({value, 1}));
    dict.insert("b", vector_of({value, 2}));
    return dict;
  };
  for (int round = 0; round < 25; ++round) {
    const std::string folder = parent / std::to_string(round);
    save_sharded(of(0), folder);
    std::array<std::string, 3> errors;
    std::vector<std::thread> savers;
    for (size_t i = 0; i < errors.size(); ++i) {
      savers.emplace_back([&, i] {
        errors[i] = error_of([&] {
          save_sharded(of(static_cast<double>(i + 1)), folder, {.file_bytes = 1, .piece_bytes = 8});
        });
      });
    }
    // Readers find one or the other all the while.
    for (int i = 0; i < 3; ++i) {
      const StateDict dict = load_sharded(folder);
      CHECK(values(dict["a"])[0] == values(dict["b"])[0]);
    }
    for (std::thread& saver : savers) saver.join();
    for (const std::string& error : errors) CHECK(error == "no error");
    const StateDict dict = load_sharded(folder);
    CHECK(values(dict["a"])[0] > 0);
    CHECK(values(dict["a"])[0] == values(dict["b"])[0]);
    CHECK(names_in(folder).size() == 3);
  }
}

TEST_CASE("sharded: a reader whose checkpoint was replaced says so") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  save_sharded(state(), folder);
  const ShardedCheckpoint reader(folder);
  save_sharded(state(), folder);
  CHECK(code_of([&] { reader.tensor("matrix"); }) == ENOENT);
  CHECK_THAT(error_of([&] { reader.tensor("matrix"); }), Catch::Contains("open it again"));
  check_same(ShardedCheckpoint(folder).tensors(), state());
}

TEST_CASE("sharded: a save that fails leaves no files") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  static std::atomic<int> renames;
  renames = 0;
  auto& calls = serialization::detail::file_calls();
  const auto before = calls;
  calls.rename = [](const char* from, const char* to) {
    if (++renames < 3) return std::rename(from, to);
    errno = EIO;
    return -1;
  };
  const std::string error =
      error_of([&] { save_sharded(state(), folder, {.file_bytes = 100, .piece_bytes = 100}); });
  calls = before;
  CHECK_THAT(error, Catch::Contains("cannot rename"));
  CHECK(renames >= 3);
  CHECK(names_in(folder).empty());
}

TEST_CASE("sharded: the older checkpoint stays until the new one is whole") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  save_sharded(state(), folder);
  StateDict next;
  next.insert("next", vector_of({1, 2}));
  const std::string part = write_shards({{"next", {2}, {0}, next["next"]}}, folder, "0");
  check_same(load_sharded(folder), state());
  commit_shards({part}, folder);
  check_same(load_sharded(folder), next);
  // The index and one file.
  CHECK(names_in(folder).size() == 2);
  CHECK_THROWS_WITH(save_sharded(state(), parent / "no/checkpoint"),
                    Catch::Contains("cannot make"));
}

TEST_CASE("sharded: damage is found") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint", index = folder + "/index.json";
  const auto saved = [&] {
    save_sharded(state(), folder, {.sha256 = true});
    std::set<std::string> names = names_in(folder);
    names.erase("index.json");
    return folder + "/" + *names.begin();
  };
  const auto error = [&](bool verify) {
    return error_of([&] {
      const ShardedCheckpoint checkpoint(folder);
      verify ? checkpoint.verify() : static_cast<void>(checkpoint.tensors());
    });
  };
  std::string shard = saved();
  std::string bytes = bytes_of(shard);
  const float value = 599;
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&value), 4));
  REQUIRE(at != bytes.npos);
  bytes[at] ^= 1;
  write_bytes(shard, bytes);
  CHECK_THAT(error(false), Catch::Contains("is damaged: its CRC-32"));
  CHECK_THAT(error(true), Catch::Contains("is damaged: its CRC-32"));

  shard = saved();
  write_bytes(shard, bytes_of(shard).replace(32, 8, "tampered"));
  CHECK_THAT(error(true), Catch::StartsWith("[load] '"));

  shard = saved();
  fs::remove(shard);
  CHECK_THAT(error(false), Catch::Contains("No such file"));

  const auto with = [&](const std::string& what, const std::string& by) {
    saved();
    replace_in(index, what, by);
    return error(false);
  };
  CHECK_THAT(with("tenon.sharded", "other"), Catch::Contains("its format is \"other\""));
  CHECK_THAT(with("\"version\": 1", "\"version\": 2"), Catch::Contains("its version is 2"));
  CHECK_THAT(with("float32", "float33"), Catch::Contains("unknown dtype"));
  CHECK_THAT(with("\"file\": \"", "\"file\": \"../"), Catch::Contains("is not listed"));
  CHECK_THAT(with("\"shard-", "\"../shard-"), Catch::Contains("no name of a file in the folder"));
  CHECK_THAT(with(" 30,\n", " 3000000000,\n"), Catch::Contains("lacks"));
  CHECK_THAT(with(" 30,\n", " 9223372036854775807,\n"), Catch::Contains("too large"));
  CHECK_THAT(with("data/1", "data/0"), Catch::Contains("bytes, expected"));
  CHECK_THAT(with("data/1", "data/x"), Catch::Contains("failed locating file data/x"));
  CHECK_THAT(with("\"transposed\"", "\"matrix\""), Catch::Contains("it is listed twice"));
  // What is nested this deep cannot even be printed.
  CHECK_THAT(with("\"tenon.sharded\"", std::string(100000, '[') + std::string(100000, ']')),
             Catch::Contains("nested deeper than 6 levels"));
  CHECK_THAT(with("\"metadata\"", "\"version\": 1, \"metadata\""),
             Catch::Contains("has the key \"version\" twice"));
  for (const char* bytes : {"-1", "1e300", "\"1\""})
    CHECK_THAT(with("\"bytes\": ", tenon::detail::concat("\"bytes\": ", bytes, ", \"more\": ")),
               Catch::Contains("bytes must be a count, got"));
  std::string many = " 30,";
  for (int i = 0; i < 64; ++i) many += "1,";
  CHECK_THAT(with(" 30,\n", many), Catch::Contains("dimensions, more than 64"));
  saved();
  const std::string whole = bytes_of(index);
  for (size_t n = 0; n + 2 < whole.size(); n += 7) {
    write_bytes(index, whole.substr(0, n));
    CHECK_THAT(error(false), Catch::StartsWith("[load] '"));
  }
}
