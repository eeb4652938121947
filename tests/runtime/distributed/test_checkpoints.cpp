#include <catch2/catch.hpp>
#include <thread>

#include "runtime/distributed/process_group.h"
#include "runtime/serialization/sharded/sharded.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/serialization/temporary_folder.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;
using serialization::ShardedCheckpoint;
using serialization::TensorPiece;

namespace {

/// A matrix, something smaller than the number of ranks, a number, and nothing.
nn::StateDict state(double first) {
  nn::StateDict all;
  all.insert("matrix",
             arange(Scalar(first), Scalar(first + 70), TensorOptions(kDouble)).view({10, 7}));
  all.insert("small", arange(Scalar(first), Scalar(first + 2), TensorOptions(kFloat)));
  all.insert("number",
             arange(Scalar(first), Scalar(first + 1), TensorOptions(kLong)).view(IntArrayRef()));
  all.insert("nothing", zeros({0, 3}, TensorOptions(kFloat)));
  return all;
}

bool same(const nn::StateDict& a, const nn::StateDict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& item : a) {
    const Tensor& other = b[item.key()];
    if (item.value().sizes() != other.sizes() || values(item.value()) != values(other))
      return false;
  }
  return true;
}

void save(const nn::StateDict& all, const std::string& folder, const GroupPtr& g,
          bool fail_to_write = false) {
  save_together(
      [&] {
        TENON_CHECK(!fail_to_write, "the disk is full");
        return serialization::write_shards(serialization::share_of(all, g->rank(), g->size()),
                                           folder, std::to_string(g->rank()));
      },
      [&](const std::vector<std::string>& parts) { serialization::commit_shards(parts, folder); },
      g);
}

}  // namespace

TEST_CASE("checkpoints: each of three ranks writes its part, two read theirs") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  std::vector<size_t> elements(3);
  CHECK(all_well(on_threads(3, [&](const GroupPtr& g) {
    for (const TensorPiece& piece : serialization::share_of(state(5), g->rank(), g->size()))
      elements[g->rank()] += static_cast<size_t>(piece.data.numel());
    save(state(5), folder, g);
    // On all ranks it is there when the call returns.
    RANK_REQUIRE(same(serialization::load_sharded(folder), state(5)));
    barrier(g);
    save(state(6), folder, g);
    RANK_REQUIRE(same(serialization::load_sharded(folder), state(6)));
  })));
  CHECK(elements == std::vector<size_t>{21 + 2, 21 + 1, 28});
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    const ShardedCheckpoint checkpoint(folder);
    const Tensor rows = checkpoint.tensor("matrix", {5 * g->rank(), 0}, {5, 7});
    RANK_REQUIRE(values(rows) == values(state(6)["matrix"].narrow(0, 5 * g->rank(), 5)));
  })));
}

TEST_CASE("checkpoints: what fails on one rank fails on all, and the older one stays") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  serialization::save_sharded(state(1), folder);
  for (const int failing : {0, 1}) {
    const auto errors =
        on_threads(2, [&](const GroupPtr& g) { save(state(2), folder, g, g->rank() == failing); });
    CHECK(errors[failing] == "the disk is full");
    CHECK(errors[1 - failing] ==
          "[save_together] rank " + std::to_string(failing) + ": the disk is full");
    CHECK(same(serialization::load_sharded(folder), state(1)));
  }
  // Nobody has the last rows: rank 0 finds out when it commits.
  const auto errors = on_threads(2, [&](const GroupPtr& g) {
    save_together(
        [&] {
          return serialization::write_shards(serialization::share_of(state(2), g->rank(), 3),
                                             folder, std::to_string(g->rank()));
        },
        [&](const std::vector<std::string>& parts) { serialization::commit_shards(parts, folder); },
        g);
  });
  for (const std::string& error : errors) {
    CAPTURE(error);
    CHECK(error.find("tensor 'matrix' lacks 28 elements") != std::string::npos);
  }
  CHECK(same(serialization::load_sharded(folder), state(1)));
}

TEST_CASE("checkpoints: two runs that save to one folder leave one of them, whole") {
  const TemporaryFolder parent;
  const std::string folder = parent / "checkpoint";
  std::vector<std::string> errors[2];
  std::thread other([&] {
    errors[1] = on_threads(2, [&](const GroupPtr& g) {
      for (int i = 0; i < 5; ++i) save(state(100), folder, g);
    });
  });
  errors[0] = on_threads(2, [&](const GroupPtr& g) {
    for (int i = 0; i < 5; ++i) save(state(200), folder, g);
  });
  other.join();
  CHECK(all_well(errors[0]));
  CHECK(all_well(errors[1]));
  const nn::StateDict left = serialization::load_sharded(folder);
  CHECK((same(left, state(100)) || same(left, state(200))));
  ShardedCheckpoint(folder).verify();
}
