// Where storages go, what may be named, what is reported.
#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/serialization/serialize.h"
#include "tenon/config.h"
#include "tenon/ops/arange.h"
#include "tests/runtime/serialization/archive.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/serialization/in_memory.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
using namespace std::string_literals;

namespace {

LoadOptions to(MapLocation where) {
  LoadOptions options;
  options.map_location = std::move(where);
  return options;
}

/// Two views of one storage, and another storage.
serialization::Value sample() {
  const Tensor base = arange(4, TensorOptions(kFloat));
  return serialization::Value::list({base, base.slice(0, 1, 3), vector_of({5, 6}, kLong)});
}

/// The sample as a machine with other devices would have saved it.
std::string tagged(const std::string& tag) {
  std::string bytes = saved(sample());
  const std::string pickle =
      bytes.substr(bytes.find("\x80\x02"), bytes.find("PK\x07\x08") - bytes.find("\x80\x02"));
  const std::string cpu = "X\x03\0\0\0cpu"s;
  const size_t at = pickle.find(cpu);
  REQUIRE(at != pickle.npos);
  const std::string name = "X"s + static_cast<char>(tag.size()) + "\0\0\0"s + tag;
  const float floats[] = {0, 1, 2, 3};
  const int64_t ints[] = {5, 6};
  return archive_of(pickle.substr(0, at) + name + pickle.substr(at + cpu.size()),
                    {{"data/0", {reinterpret_cast<const char*>(floats), sizeof(floats)}},
                     {"data/1", {reinterpret_cast<const char*>(ints), sizeof(ints)}}});
}

const auto kBothFormats = {SaveOptions::Format::Zip, SaveOptions::Format::Legacy};

SaveOptions in(SaveOptions::Format format) {
  SaveOptions options;
  options.format = format;
  return options;
}

}  // namespace

TEST_CASE("map_location in all its forms") {
  CHECK(loaded(saved(sample())) == sample());
  CHECK(loaded(tagged("cuda:3"), to(kCPU)) == sample());
  CHECK(loaded(tagged("cuda:3"), to(Device("cpu"))) == sample());
  CHECK(loaded(tagged("cuda:3"), to("cpu")) == sample());
  CHECK(loaded(tagged("cuda:3"), to(MapLocation::Map{{"cuda:3", "cpu"}})) == sample());
  CHECK_THROWS(loaded(tagged("cuda:3"), to(MapLocation::Map{{"cuda:1", "cpu"}})));
  std::vector<std::string> seen;
  const auto function = [&](const Storage& storage, const std::string& tag) {
    seen.push_back(tag + " " + std::to_string(storage.nbytes()));
    return storage;
  };
  CHECK(loaded(tagged("cuda:3"), to(function)) == sample());
  // Once per storage, with the data there already.
  CHECK(seen == std::vector<std::string>{"cuda:3 16", "cuda:3 16"});
  // No storage: as the tag says.
  const auto none = [](const Storage&, const std::string&) { return Storage(); };
  CHECK(loaded(saved(sample()), to(none)) == sample());
  CHECK_THROWS(loaded(tagged("cuda:3"), to(none)));
  const auto wrong = [](const Storage&, const std::string&) { return vector_of({1}).storage(); };
  CHECK_THAT(error_of([&] { loaded(saved(sample()), to(wrong)); }),
             Catch::Contains("map_location gave a storage of 4 bytes, expected 16"));
}

TEST_CASE("a map_location function sees the data and may replace the memory") {
  for (const auto format : kBothFormats) {
    const std::string bytes = saved(sample(), in(format));
    const auto copying = [](const Storage& storage, const std::string&) {
      const Tensor t = vector_of(std::vector<double>(storage.nbytes() / 4, 9));
      if (storage.nbytes() > 0) std::memcpy(t.data_ptr(), storage.data(), storage.nbytes());
      return t.storage();
    };
    CHECK(loaded(bytes, to(copying)) == sample());
  }
}

TEST_CASE("loading to meta reads no data") {
  for (const auto format : kBothFormats) {
    std::string bytes = saved(sample(), in(format));
    if (format == SaveOptions::Format::Zip) {
      // Damaged data, which a CRC would tell.
      const float two = 2;
      const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&two), 4));
      REQUIRE(at != bytes.npos);
      bytes[at] = 'x';
      CHECK_THROWS(loaded(bytes));
    }
    const serialization::Value all = loaded(bytes, to(kMeta));
    CHECK(all[0].to_tensor().is_meta());
    CHECK(all[1].to_tensor().sizes() == IntArrayRef({2}));
    CHECK(all[1].to_tensor().storage_offset() == 1);
    CHECK(all[0].to_tensor().is_alias_of(all[1].to_tensor()));
  }
}

#if !TENON_HAS_CUDA
TEST_CASE("tensors of a GPU need a map_location where there is none") {
  CHECK_THAT(error_of([] { loaded(tagged("cuda:0")); }),
             Catch::Contains("record data/0: Attempting to deserialize object on a CUDA device but "
                             "no CUDA device is available. If you are running on a CPU-only "
                             "machine, please load with map_location=\"cpu\" to map your storages "
                             "to the CPU."));
}
#endif

TEST_CASE("places of one's own") {
  register_package(
      5, [](const Storage&) { return std::nullopt; },
      [](const Storage& storage, const std::string& tag) {
        return tag == "shelf" ? std::optional(storage) : std::nullopt;
      });
  std::vector<int> asked;
  for (const int i : {1, 2}) {
    register_package(
        30,
        [&asked, i](const Storage&) -> std::optional<std::string> {
          asked.push_back(i);
          return std::nullopt;
        },
        [](const Storage&, const std::string&) { return std::nullopt; });
  }
  CHECK(loaded(tagged("shelf")) == sample());
  CHECK(location_tag(vector_of({1}).storage()) == "cpu");
  CHECK(asked.empty());
  CHECK_THROWS_WITH(restore_location(vector_of({1}).storage(), "nowhere"),
                    "don't know how to restore data location of tenon.UntypedStorage (tagged with "
                    "nowhere)");
  CHECK_THROWS_AS(register_package(1, nullptr, nullptr), ValueError);
}

TEST_CASE("mapped files") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  save(sample(), path);
  LoadOptions options;
  options.mmap = LoadOptions::Mmap::Private;
  serialization::Value all = serialization::load(path, options);
  CHECK(all == sample());
  // Writes stay in this process.
  all[0].to_tensor().data_ptr<float>()[0] = 77;
  CHECK(values(all[0].to_tensor())[0] == 77);
  CHECK(serialization::load(path) == sample());
  // A tensor keeps the mapping alive.
  const Tensor kept = all[2].to_tensor();
  all = serialization::Value();
  CHECK(values(kept) == std::vector<double>{5, 6});

  options.mmap = LoadOptions::Mmap::Shared;
  serialization::load(path, options)[0].to_tensor().data_ptr<float>()[0] = 77;
  options.mmap = LoadOptions::Mmap::Private;
  CHECK(values(serialization::load(path, options)[0].to_tensor())[0] == 77);

  save(sample(), folder / "old.pt", in(SaveOptions::Format::Legacy));
  CHECK_THAT(error_of([&] { serialization::load(folder / "old.pt", options); }),
             Catch::Contains("mmap can only be used with files of the zip format"));
  CHECK_THAT(error_of([&] { serialization::load(kData + "deflated.pt", options); }),
             Catch::Contains("it is compressed, which mmap cannot read"));
  CHECK(serialization::load(kData + "dtypes.pt", options) ==
        serialization::load(kData + "dtypes.pt"));
  // A damaged storage is seen when its checksum is asked for.
  std::string damaged = bytes_of(kData + "dtypes.pt");
  const uint64_t at = inspect(kData + "dtypes.pt").storages[3].offset;
  damaged[at] = static_cast<char>(damaged[at] ^ 1);
  write_bytes(path, damaged);
  CHECK(serialization::load(path, options) != serialization::load(kData + "dtypes.pt"));
  options.mmap_verify = true;
  CHECK_THAT(error_of([&] { serialization::load(path, options); }),
             Catch::Contains("x.pt': failed reading zip archive: record data/3 at byte " +
                             std::to_string(at) + " is damaged: its CRC-32 is"));
  CHECK(serialization::load(kData + "dtypes.pt", options) ==
        serialization::load(kData + "dtypes.pt"));

  std::istringstream stream(saved(sample()));
  CHECK_THAT(error_of([&] { serialization::load(stream, options); }),
             Catch::Contains("mmap needs the path of a file"));
}

TEST_CASE("progress is reported to the end") {
  for (const auto format : kBothFormats) {
    SaveOptions saving = in(format);
    std::vector<uint64_t> calls;
    uint64_t whole = 0;
    saving.progress = [&](uint64_t done, uint64_t total) {
      calls.push_back(done);
      whole = total;
    };
    const std::string bytes = saved(sample(), saving);
    CHECK(calls == std::vector<uint64_t>{16, 32});
    CHECK(whole == 32);
    LoadOptions loading;
    uint64_t last = 0;
    loading.progress = [&](uint64_t done, uint64_t total) {
      last = done;
      whole = total;
    };
    loaded(bytes, loading);
    CHECK(last == 32);
    CHECK(whole == 32);
  }
}

TEST_CASE("classes of the user") {
  struct Point {
    int64_t x, y;
  };
  const serialization::Value written =
      serialization::Value::object("geometry Point", serialization::Value::tuple({3, 4}), true);
  written.set_attributes(serialization::Value::dict({{"name", "p"}}));
  const std::string bytes = saved(serialization::Value::list({written, written}));
  CHECK_THAT(error_of([&] { loaded(bytes); }),
             Catch::Contains("GLOBAL geometry.Point was not an allowed global by default. If you "
                             "trust it, allow it with add_safe_globals({\"geometry.Point\"})."));
  {
    const SafeGlobals allowed({"geometry.Point"});
    { const SafeGlobals again({"geometry.Point"}); }
    CHECK(get_safe_globals() == std::vector<std::string>{"geometry Point"});
    const serialization::Value all = loaded(bytes);
    CHECK(all[0] == written);
    CHECK(all[0].is_same(all[1]));
    CHECK(saved(all) == bytes);
  }
  CHECK(get_safe_globals().empty());
  std::string state;
  add_safe_globals({{"geometry.Point",
                     [](const serialization::Value::Items& args) {
                       return serialization::Value::object(
                           "geometry Point", serialization::Value::tuple(args),
                           std::any(Point{args.at(0).to_int(), args.at(1).to_int()}));
                     },
                     [&](const serialization::Value&, const serialization::Value& s) {
                       state = s["name"].to_string();
                     }}});
  const serialization::Value all = loaded(bytes);
  CHECK(std::any_cast<Point>(all[0].native()).y == 4);
  CHECK(state == "p");
  clear_safe_globals();
  CHECK_THROWS(loaded(bytes));
  CHECK_THROWS_AS(add_safe_globals({"os.system"}), ValueError);
  CHECK_THROWS_AS(add_safe_globals({"posix fork"}), ValueError);
  CHECK_THROWS_AS(add_safe_globals({"nomodule"}), ValueError);
}

TEST_CASE("tensors of subclasses") {
  const serialization::Value tensor =
      serialization::Value::tensor_of_class(vector_of({1, 1}, kFloat), "geometry Distances");
  tensor.set_attributes(serialization::Value::dict({{"unit", "m"}}));
  const std::string bytes = saved(serialization::Value::list({tensor, tensor}));
  CHECK_THAT(error_of([&] { loaded(bytes); }), Catch::Contains("GLOBAL geometry.Distances"));
  const SafeGlobals allowed({"geometry.Distances"});
  const serialization::Value back = loaded(bytes);
  CHECK(back[0] == tensor);
  CHECK(back[0].name() == "geometry Distances");
  CHECK(back[0].is_same(back[1]));
  CHECK_FALSE(back[0] == serialization::Value(vector_of({1, 1}, kFloat)));
  CHECK(serialization::Value(vector_of({1, 1}, kFloat)).name() == "torch Tensor");
  CHECK(saved(back) == bytes);
  CHECK(inspect(bytes.data(), bytes.size()).tensors.size() == 2);
}

TEST_CASE("objects that are lists or dicts by their class") {
  for (const size_t count : {0, 1, 2, 1000, 1001}) {
    const serialization::Value list =
        serialization::Value::object("collections deque", serialization::Value::tuple({}));
    const serialization::Value dict =
        serialization::Value::object("collections defaultdict", serialization::Value::tuple({}));
    if (count > 0) list.set_elements(serialization::Value::list());
    if (count > 0) dict.set_elements(serialization::Value::dict());
    for (size_t i = 0; i < count; ++i) list.elements().append(i);
    for (size_t i = 0; i < count; ++i) dict.elements().set_item(i, list);
    dict.set_attributes(serialization::Value::dict({{"a", 1}}));
    const SafeGlobals allowed({"collections.deque", "collections.defaultdict"});
    const serialization::Value back = loaded(saved(serialization::Value::list({list, dict})));
    CHECK(back[0] == list);
    CHECK(back[1] == dict);
    if (count > 0) CHECK(back[1].elements().at(serialization::Value(0)).is_same(back[0]));
  }
  CHECK_THROWS_AS(
      serialization::Value::object("a b", serialization::Value::tuple({})).set_elements(3),
      TypeError);
  CHECK_THROWS_AS(serialization::Value::list().set_elements(serialization::Value::list()),
                  TypeError);
}

TEST_CASE("a function says which classes may be named") {
  const std::string bytes =
      saved(serialization::Value::object("geometry Point", serialization::Value::tuple({3, 4})));
  LoadOptions options;
  std::vector<std::string> asked;
  options.allow_global = [&](const std::string& name) {
    asked.push_back(name);
    return name == "geometry Point";
  };
  CHECK_THAT(error_of([&] { load(bytes.data(), bytes.size(), options); }),
             Catch::Contains("Weights only load failed"));
  CHECK(asked.empty());
  options.weights_only = false;
  CHECK(load(bytes.data(), bytes.size(), options).name() == "geometry Point");
  const std::string line =
      saved(serialization::Value::object("geometry Line", serialization::Value::tuple({})));
  const std::string error = error_of([&] { load(line.data(), line.size(), options); });
  CHECK_THAT(error, Catch::Contains("GLOBAL geometry.Line was not an allowed global"));
  CHECK_THAT(error, !Catch::Contains("Weights only"));
  options.allow_global = [](const std::string&) { return true; };
  const std::string evil =
      saved(serialization::Value::object("os system", serialization::Value::tuple({"id"})));
  CHECK_THAT(error_of([&] { load(evil.data(), evil.size(), options); }),
             Catch::Contains("os is blocked"));
}

TEST_CASE("files are inspected without loading") {
  const CheckpointInfo info = inspect(kData + "checkpoint.pt");
  CHECK_FALSE(info.is_legacy);
  CHECK(info.archive == "checkpoint");
  CHECK(info.version == 3);
  CHECK(info.byteorder == "little");
  CHECK(info.unsafe_globals.empty());
  REQUIRE(info.tensors.size() == 8);
  CHECK(info.tensors[0].name == "model.0.weight");
  CHECK(info.tensors[0].sizes == std::vector<int64_t>{2, 2});
  CHECK(info.tensors[0].dtype == "float32");
  CHECK(info.tensors[4].name == "optimizer.state.0.step");
  REQUIRE(info.storages.size() == 8);
  CHECK(info.storages[0].bytes == 16);
  CHECK(info.storages[0].offset % 64 == 0);
  CHECK(info.value["epoch"] == serialization::Value(3));

  const CheckpointInfo views = inspect(kData + "views.pt");
  REQUIRE(views.storages.size() == 2);
  CHECK(views.storages[0].tensors ==
        std::vector<std::string>{"base", "slice", "matrix", "transposed", "same", "row", "last"});
  CHECK(views.tensors[1].strides == std::vector<int64_t>{2});
  CHECK(views.tensors[1].offset == 2);

  const CheckpointInfo kinds = inspect(kData + "kinds.pt");
  const auto kind_of = [&](const std::string& name) {
    for (const TensorInfo& t : kinds.tensors)
      if (t.name == name) return t.kind;
    return "no tensor "s + name;
  };
  CHECK(kind_of("parameter") == "parameter");
  CHECK(kind_of("meta") == "meta");
  CHECK(kind_of("non-leaf") == "dense");
}

TEST_CASE("inspection shows what cannot be loaded") {
  const CheckpointInfo coo = inspect(kData + "sparse_coo.pt");
  REQUIRE(coo.tensors.size() == 2);
  CHECK(coo.tensors[0].name == "coo");
  CHECK(coo.tensors[0].kind == "sparse_coo");
  CHECK(coo.tensors[0].sizes == std::vector<int64_t>{3, 3});
  CHECK(coo.tensors[0].storages == std::vector<std::string>{"0", "1"});
  CHECK(inspect(kData + "sparse_csr.pt").tensors.at(0).kind == "sparse_csr");
  const TensorInfo q = inspect(kData + "quantized.pt").tensors.at(0);
  CHECK(q.kind == "quantized");
  CHECK(q.dtype == "qint8");
  CHECK(q.sizes == std::vector<int64_t>{4});
  CHECK(inspect(kData + "complex32.pt").tensors.at(0).dtype == "complex32");
  const CheckpointInfo module = inspect(kData + "whole_module.pt");
  CHECK(module.unsafe_globals == std::vector<std::string>{"torch.nn.modules.linear.Linear"});
  CHECK(module.value.is(serialization::Value::Kind::Object));
  CHECK(module.tensors.size() == 2);
  CHECK(get_unsafe_globals(kData + "checkpoint.pt").empty());
  const std::string evil = archive_of("\x80\x02"
                                      "cposix\nsystem\nX\x02\0\0\0id\x85R."s);
  CHECK(inspect(evil.data(), evil.size()).unsafe_globals ==
        std::vector<std::string>{"posix.system"});
}

TEST_CASE("legacy files are inspected") {
  const CheckpointInfo info = inspect(kData + "legacy.pt");
  CHECK(info.is_legacy);
  CHECK(info.tensors.size() == 8);
  REQUIRE(info.storages.size() == 8);
  CHECK(info.storages[0].tensors == std::vector<std::string>{"model.0.weight"});
  const std::string bytes = bytes_of(kData + "legacy.pt");
  float one;
  std::memcpy(&one, bytes.data() + info.storages[0].offset + 4, 4);
  CHECK(one == 1);
}
