#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/nn/modules/sequential.h"
#include "runtime/serialization/archive_files.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/state_dict.h"
#include "tenon/nn/modules/linear.h"
#include "tests/runtime/serialization/temporary_folder.h"
#include "tests/runtime/values.h"

using namespace tenon;
using Catch::Contains;
using tenon::test::TemporaryFolder;

TEST_CASE("an archive holds tensors, values and archives by name") {
  std::stringstream stream;
  {
    serialize::OutputArchive archive, part, empty;
    archive.write("t", vector_of({1, 2}));
    archive.write("n", IValue(3));
    archive.write("numbers", IValue(std::vector<int64_t>{4, 5}));
    archive.write("tensors", IValue(std::vector<Tensor>{vector_of({1}), vector_of({2})}));
    part.write("word", IValue("hello"));
    archive.write("part", part);
    archive.write("empty", empty);
    CHECK_THROWS_WITH(archive.write("n", IValue(1)), "Entry 'n' already defined");
    archive.save_to(stream);
  }
  serialize::InputArchive archive, part;
  archive.load_from(stream);
  CHECK(archive.keys().size() == 6);
  Tensor t;
  archive.read("t", t);
  CHECK(values(t) == std::vector<double>{1, 2});
  IValue value;
  archive.read("n", value);
  CHECK(value.toInt() == 3);
  archive.read("numbers", value);
  CHECK(value.toIntVector() == std::vector<int64_t>{4, 5});
  archive.read("tensors", value);
  CHECK(value.toTensorVector().size() == 2);
  archive.read("part", part);
  part.read("word", value);
  CHECK(value.toStringRef() == "hello");
  CHECK(archive.try_read("empty", part));
  CHECK_FALSE(archive.try_read("none", part));
  CHECK_THROWS_WITH(archive.read("part.none", t), "No such serialized tensor 'part.none'");
  CHECK_THROWS_WITH(part.read("none", value), Contains("does not have a field with name 'none'"));
}

TEST_CASE("a module's file is its state dict, with the modules' versions") {
  const TemporaryFolder folder;
  const std::string path = folder / "net.pt";
  nn::Sequential net(nn::Linear(2, 3), nn::Flatten());
  save(net, path);
  const nn::StateDict state = serialization::load_state_dict(path);
  CHECK(state.keys() == net->state_dict().keys());
  const auto file = serialization::load(path);
  const auto& metadata = file.attributes()["_metadata"];
  CHECK(metadata.contains(""));
  CHECK(metadata.contains("0"));
  CHECK(metadata.contains("1"));

  nn::Sequential other(nn::Linear(2, 3), nn::Flatten());
  load(other, path);
  CHECK(values(other->state_dict()["0.weight"]) == values(state["0.weight"]));
  // One that save_state_dict() wrote names no modules.
  serialization::save_state_dict(state, path);
  load(other, path);
}

TEST_CASE("a module whose file does not fit stays as it was") {
  std::stringstream stream;
  save(nn::Sequential(nn::Linear(2, 3), nn::Linear(3, 1)), stream);
  nn::Sequential net(nn::Linear(2, 3), nn::Linear(3, 2));
  const std::vector<double> before = values(net->parameters()[0]);
  CHECK_THROWS_WITH(load(net, stream), "size mismatch for 1.weight: expected [2, 3], got [1, 3]");
  CHECK(values(net->parameters()[0]) == before);
}

TEST_CASE("tensors are saved as torch.save does") {
  std::stringstream stream;
  save(vector_of({1, 2}), stream);
  CHECK(serialization::load(stream).is_tensor());
  stream.seekg(0);
  Tensor t;
  load(t, stream);
  CHECK(values(t) == std::vector<double>{1, 2});

  std::stringstream list;
  save(std::vector<Tensor>{vector_of({1}), vector_of({2})}, list);
  CHECK(serialization::load(list).is_list());
  list.seekg(0);
  std::vector<Tensor> tensors;
  load(tensors, list);
  REQUIRE(tensors.size() == 2);
  CHECK(values(tensors[1]) == std::vector<double>{2});
}
