// Files of every origin: old, compressed, big-endian, legacy, foreign.
#include <catch2/catch.hpp>
#include <cstring>
#include <sstream>

#include "runtime/serialization/serialize.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/view_as_real.h"
#include "tests/runtime/serialization/archive.h"
#include "tests/runtime/serialization/cases.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/serialization/in_memory.h"
#include "tests/runtime/values.h"
#include "tests/stderr_of.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
using namespace std::string_literals;

namespace {

serialization::Value case_named(const std::string& name) {
  for (const Case& c : cases())
    if (c.name == name) return c.make();
  FAIL("no case " << name);
  return {};
}

SaveOptions legacy_format() {
  SaveOptions options;
  options.format = SaveOptions::Format::Legacy;
  return options;
}

std::string failure(const std::string& bytes, const LoadOptions& options = {}) {
  return error_of([&] { loaded(bytes, options); });
}

void check_contains(const std::string& text, const std::string& part) {
  CHECK_THAT(text, Catch::Contains(part));
}

}  // namespace

TEST_CASE("archives of other writers are loaded") {
  CHECK(load(kData + "deflated.pt") == case_named("checkpoint"));
  CHECK(load(kData + "big_endian.pt") == case_named("dtypes"));
  CHECK(load(kData + "old_order.pt") == case_named("twelve"));
  CHECK(load(kData + "no_crc.pt") == load(kData + "one.pt"));
}

TEST_CASE("pickle protocols 3 to 5 are loaded") {
  const serialization::Value expected = serialization::Value::dict(
      {{"tensor", arange(3, TensorOptions(kFloat))},
       {"text", std::string(300, 'x')},
       {"bytes", serialization::Value::bytes("\x00\xff"s)},
       {"set", serialization::Value::set({1})},
       {"int", serialization::Value::int_of_decimal("1180591620717411303424")},
       {"array", serialization::Value::bytearray("ab")}});
  for (const char* name : {"protocol3.pt", "protocol4.pt", "protocol5.pt"}) {
    INFO(name);
    CHECK(load(kData + name) == expected);
  }
}

TEST_CASE("the legacy format is written as PyTorch writes it") {
  // But for the storage's key, which PyTorch makes of an address.
  const std::string theirs = bytes_of(kData + "legacy_one.pt");
  std::string ours = saved(case_named("legacy_one"), legacy_format());
  const size_t at = theirs.find("FloatStorage\nq");
  REQUIRE(at != theirs.npos);
  const size_t length_at = theirs.find('X', at) + 1;
  const std::string address = theirs.substr(length_at + 4, static_cast<uint8_t>(theirs[length_at]));
  REQUIRE(address.find_first_not_of("0123456789") == address.npos);
  const std::string mine = "X\x01\0\0\0"s + "0";
  const std::string key = theirs.substr(length_at - 1, 5) + address;
  for (size_t found = 0; (found = ours.find(mine, found)) != ours.npos; found += key.size())
    ours.replace(found, mine.size(), key);
  CHECK(ours == theirs);
}

TEST_CASE("the legacy format round-trips every case") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const Owned made(c.make());
    const std::string bytes = saved(made, legacy_format());
    const Owned read(loaded(bytes, c.load));
    const serialization::Value &value = made, &back = read;
    CHECK(back == value);
    CHECK(saved(back, legacy_format()) == saved(Owned(loaded(bytes, c.load)), legacy_format()));
  }
}

TEST_CASE("storages that are parts of others") {
  const serialization::Value all = load(kData + "legacy_view.pt");
  REQUIRE(all.size() == 4);
  CHECK(values(all[0].to_tensor()) == std::vector<double>{0, 1});
  CHECK(values(all[1].to_tensor()) == std::vector<double>{3, 4});
  CHECK(all[0].to_tensor().is_alias_of(all[2].to_tensor()));
  // The parts lie in the whole's memory.
  all[1].to_tensor().data_ptr<float>()[0] = 7;
  CHECK(static_cast<const float*>(all[3].to_tensor().storage().data())[3] == 7);
}

TEST_CASE("several legacy checkpoints in one stream") {
  std::stringstream stream;
  stream << "head";
  for (int i = 0; i < 3; ++i)
    save(serialization::Value::list({i, vector_of({double(i)})}), stream, legacy_format());
  stream << "tail";
  stream.seekg(4);
  for (int i = 0; i < 3; ++i) {
    const serialization::Value v = serialization::load(stream);
    CHECK(v[0] == serialization::Value(i));
    CHECK(values(v[1].to_tensor()) == std::vector<double>{double(i)});
  }
  std::string rest;
  stream >> rest;
  CHECK(rest == "tail");
}

TEST_CASE("several zip checkpoints in one stream are told") {
  std::stringstream stream;
  save(serialization::Value(1), stream);
  save(serialization::Value(2), stream);
  const std::string error = error_of([&] { serialization::load(stream); });
  INFO(error);
  check_contains(error, "[load] a stream: failed reading zip archive");
}

TEST_CASE("a zip checkpoint that begins within a stream") {
  std::stringstream stream;
  stream << "head";
  save(case_named("views"), stream);
  stream.seekg(4);
  CHECK(serialization::load(stream) == case_named("views"));
}

TEST_CASE("conjugate and negative views are loaded as views") {
  const serialization::Value all = load(kData + "conj.pt");
  using C = std::complex<float>;
  const auto numbers = [&](const char* key) {
    const Tensor t = all[key].to_tensor().resolve_conj().resolve_neg().contiguous();
    return std::vector<C>(t.data_ptr<C>(), t.data_ptr<C>() + t.numel());
  };
  CHECK(numbers("z") == std::vector<C>{{1, 2}, {3, -4}, {0, 5}});
  CHECK(numbers("conj") == std::vector<C>{{1, -2}, {3, 4}, {0, -5}});
  CHECK(numbers("both") == std::vector<C>{{-1, 2}, {-3, -4}, {0, 5}});
  CHECK(numbers("part") == std::vector<C>{{3, 4}, {0, -5}});
  CHECK(values(all["neg"].to_tensor().resolve_neg()) == std::vector<double>{0, -1, -2});
  CHECK(all["conj"].to_tensor().is_conj());
  CHECK(all["conj"].to_tensor().is_alias_of(all["z"].to_tensor()));
  CHECK(all["neg"].to_tensor().is_neg());
  std::stringstream stream;
  save(all, stream);
  const serialization::Value again = serialization::load(stream);
  CHECK(again == all);
  CHECK(again["conj"].to_tensor().is_conj());
  // A bool has no negative.
  const std::string negative = "\x80\x02"
                               "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n"
                               "BoolStorage\nX\x01\0\0\0"s +
                               "0X\x03\0\0\0cpuK\x01tQK\0K\x01\x85K\x01\x85\x89)"
                               "}X\x03\0\0\0neg\x88stR."s;
  check_contains(failure(archive_of(negative, {{"data/0", "\1"}})),
                 "a negative view of a tensor of dtype torch.bool");
}

TEST_CASE("sparse tensors are read") {
  const Tensor coo = load(kData + "sparse_coo.pt")["coo"].to_tensor();
  CHECK(coo.is_sparse());
  CHECK(values(coo.to_dense()) == std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  const Tensor csr = load(kData + "sparse_csr.pt")["csr"].to_tensor();
  CHECK(csr.is_sparse_csr());
  CHECK(values(csr.to_dense()) == std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
}

TEST_CASE("complex numbers of halves are read") {
  const Tensor h = load(kData + "complex32.pt")["h"].to_tensor();
  CHECK(h.scalar_type() == kComplexHalf);
  CHECK(values(view_as_real(h.to(kComplexFloat))) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("kinds of tensor that the library has not are named") {
  const auto error = [](const std::string& name) { return error_of([&] { load(kData + name); }); };
  check_contains(error("quantized.pt"), "record data/0: storages of class torch QInt8Storage");
  check_contains(error("whole_module.pt"),
                 "Unsupported global: GLOBAL torch.nn.modules.linear.Linear was not an allowed");
}

TEST_CASE("what is no checkpoint is told") {
  check_contains(failure(""), "Ran out of input");
  check_contains(failure("<!DOCTYPE html><html>404</html>"),
                 "invalid load key, '<'. It looks like HTML");
  check_contains(failure("version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 1\n"),
                 "invalid load key, 'v'. It looks like a Git-LFS pointer");
  check_contains(failure("PYTORCH1 and more"),
                 "File is an unsupported archive format from the preview release.");
  check_contains(error_of([] { load(kData + "tar.pt"); }), "a tar file");
  check_contains(failure("\x08\0\0\0\0\0\0\0{\"a\":{}}"s), "It looks like a safetensors file");
  check_contains(failure("hello"), "invalid load key, 'h'. It is no checkpoint.");
  check_contains(failure("\x80\x02K\x07."), "Invalid magic number; corrupt file?");
  check_contains(
      failure("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xea\x03."),
      "Invalid protocol version: 1002");
  check_contains(failure(archive_of("\x80\x02N.", {{"constants.pkl", "x"}})), "TorchScript");
}

TEST_CASE("versions and records of archives") {
  const std::string none = "\x80\x02N.";
  CHECK(loaded(archive_of(none)).is_none());
  CHECK(loaded(archive_of(none, {}, "10\n")).is_none());
  CHECK(loaded(archive_of(none, {{".data/version", "6\n"}}, "99\n")).is_none());
  check_contains(failure(archive_of(none, {}, "99\n")),
                 "Attempted to read a file with version 99, but the maximum supported version for "
                 "reading is 10.");
  check_contains(failure(archive_of(none, {}, "0\n")), "the minimum supported version");
  check_contains(failure(archive_of(none, {}, "3x\n")), "the version is no number: '3x'");
  check_contains(failure(archive_of(none, {{"byteorder", "middle"}})),
                 "Unknown endianness type: middle");
  std::string tensor = bytes_of(kData + "tensor.pt");
  const std::string pickle =
      tensor.substr(tensor.find("\x80\x02"), tensor.find("PK\x07\x08") - tensor.find("\x80\x02"));
  check_contains(failure(archive_of(pickle)), "failed locating file data/0: file not found");
  check_contains(failure(archive_of(pickle, {{"data/0", "12345678"}})),
                 "record size (8 bytes) does not match expected size (3 elements of 4 bytes)");
  CHECK(loaded(archive_of(pickle, {{"data/0", "123456789012"}})).to_tensor().numel() == 3);
}

TEST_CASE("a legacy file's sizes are checked") {
  const std::string whole =
      saved(serialization::Value(arange(3, TensorOptions(kFloat))), legacy_format());
  std::string wrong = whole;
  wrong[whole.size() - 12 - 8] = 4;
  check_contains(failure(wrong), "storage 0 has wrong size: expected 3 got 4");
  const size_t numel = whole.find("cpuq") + 5;
  REQUIRE(whole.substr(numel, 2) == "K\x03");
  wrong = whole.substr(0, numel) + "J\xff\xff\xff\x7f" + whole.substr(numel + 2);
  check_contains(failure(wrong), "is larger than the file");
}

TEST_CASE("what PyTorch 1.13 does not know is refused when saving for it") {
  SaveOptions old;
  old.compat = SaveOptions::Compat::V1_13;
  CHECK_NOTHROW(saved(case_named("checkpoint"), old));
  CHECK_NOTHROW(saved(case_named("dtypes"), old));
  check_contains(error_of([&] { saved(case_named("storage_only"), old); }),
                 "[save] ['float8_e5m2']: PyTorch 1.13 does not know tensors of dtype "
                 "torch.float8_e5m2");
  check_contains(error_of([&] { saved(case_named("kinds"), old); }),
                 "PyTorch 1.13 does not know parameters with attributes");
}

TEST_CASE("compact files hold no more than is used") {
  const Tensor base = arange(1000, TensorOptions(kFloat));
  const serialization::Value value =
      serialization::Value::dict({{"a", base.slice(0, 100, 110)},
                                  {"b", base.slice(0, 105, 120, 5)},
                                  {"none", base.slice(0, 500, 500)}});
  SaveOptions compact;
  compact.compact = true;
  for (const auto format : {SaveOptions::Format::Zip, SaveOptions::Format::Legacy}) {
    compact.format = format;
    const std::string bytes = saved(value, compact);
    CHECK(bytes.size() < 2000);
    const serialization::Value back = loaded(bytes);
    CHECK(back == value);
    CHECK(back["a"].to_tensor().is_alias_of(back["b"].to_tensor()));
    CHECK(back["a"].to_tensor().storage().nbytes() == 16 * 4);
    CHECK(back["b"].to_tensor().data_ptr<float>() == back["a"].to_tensor().data_ptr<float>() + 5);
  }
}

TEST_CASE("a small part of a large storage is saved with a warning, once") {
  const Tensor base = arange(1 << 20, TensorOptions(kFloat)), other = base.clone();
  const Tensor a = base.slice(0, 100, 110), b = base.slice(0, 300'000, 300'020);
  const auto printed = [](const serialization::Value& value, const SaveOptions& options = {}) {
    return stderr_of([&] { saved(value, options); });
  };
  const serialization::Value parts =
      serialization::Value::dict({{"model", serialization::Value::list({1, a})}, {"b", b}});
  const std::string waste = "tenon: warning: [save] ['model'][1]: a tensor of 40 bytes is saved "
                            "with all 4194304 bytes of "
                            "its storage; save its clone(), or with SaveOptions::compact\n";
  CHECK(printed(parts) == waste);
  CHECK(printed(parts, legacy_format()) == waste);
  CHECK(printed(a).starts_with("tenon: warning: [save] a tensor of 40 bytes"));
  const serialization::Value two =
      serialization::Value::list({serialization::Value::parameter(a), other.slice(0, 0, 0)});
  check_contains(printed(two), "of its storage, the first of 2 such storages; save");
  // Together they use more than half, or all of it is wanted anyway, or little is wasted.
  CHECK(printed(serialization::Value::list({a, base.slice(0, 600'000, 600'001)})).empty());
  CHECK(printed(
            serialization::Value::list({a, serialization::Value::storage(base.storage(), kFloat)}))
            .empty());
  CHECK(printed(serialization::Value::list({a, base})).empty());
  CHECK(printed(arange(200'000, TensorOptions(kFloat)).slice(0, 0, 1)).empty());
  SaveOptions compact;
  compact.compact = true;
  CHECK(printed(parts, compact).empty());
}

TEST_CASE("archives are named as PyTorch names them") {
  const TemporaryFolder folder;
  const auto named = [&](const std::string& name) {
    save(serialization::Value(1), folder / name);
    return inspect(folder / name).archive;
  };
  CHECK(named("a.b.pt") == "a.b");
  CHECK(named("no extension") == "no extension");
  CHECK(named("x..pt") == "x.");
  CHECK(named("tail.") == "tail");
  CHECK(named("\u00e9.pt") == "archive");
  CHECK_THROWS_WITH(named(".pt"), Catch::Contains("[save] invalid file name: "));
  CHECK(folder.files() == 5);
}

TEST_CASE("options of saving that are not possible") {
  SaveOptions options;
  for (const int level : {-1, 10}) {
    options.deflate = level;
    CHECK_THROWS_AS(saved(serialization::Value(1), options), ValueError);
  }
  options.deflate = 1;
  options.format = SaveOptions::Format::Legacy;
  CHECK_THROWS_AS(saved(serialization::Value(1), options), ValueError);
  options = {};
  options.archive_name = "a/b";
  CHECK_THROWS_AS(saved(serialization::Value(1), options), ValueError);
}

TEST_CASE("what cannot be saved is named") {
  const Tensor t = arange(4, TensorOptions(kFloat));
  const serialization::Value two = serialization::Value::dict(
      {{"x", serialization::Value::list({t, serialization::Value::storage(t.storage())})}});
  check_contains(error_of([&] { saved(two); }),
                 "[save] ['x'][1]: Cannot save multiple tensors or storages that view the same "
                 "data as different types");
  serialization::Value deep = serialization::Value::list();
  for (int i = 0; i < 2000; ++i) deep = serialization::Value::list({deep});
  check_contains(error_of([&] { saved(deep); }), "nested deeper than 1000");
  CHECK_THROWS_AS(save(serialization::Value(), "/"), Error);
}
