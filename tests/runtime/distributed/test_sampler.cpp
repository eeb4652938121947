#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/distributed/ddp/distributed_sampler.h"

using namespace tenon;
using tenon::distributed::DistributedSampler;

TEST_CASE("the parts of the ranks cover all examples and have the same size") {
  for (const int64_t n : {1, 2, 7, 8, 100}) {
    for (const int ranks : {1, 2, 3, 8}) {
      for (const bool drop : {false, true}) {
        for (const bool shuffle : {false, true}) {
          std::vector<size_t> all;
          for (int r = 0; r < ranks; ++r) {
            DistributedSampler sampler(n, {.num_replicas = ranks,
                                           .rank = r,
                                           .shuffle = shuffle,
                                           .seed = 3,
                                           .drop_last = drop});
            sampler.set_epoch(5);
            const std::vector<size_t> own = sampler.indices();
            CHECK(static_cast<int64_t>(own.size()) == sampler.size());
            CHECK(sampler.size() == (drop ? n / ranks : (n + ranks - 1) / ranks));
            all.insert(all.end(), own.begin(), own.end());
          }
          std::sort(all.begin(), all.end());
          const auto repeats = std::unique(all.begin(), all.end());
          if (drop) CHECK(repeats == all.end());
          if (!drop) CHECK(repeats - all.begin() == n);
        }
      }
    }
  }
}

TEST_CASE("orders: by rank, by epoch, and PyTorch's for a seed") {
  DistributedSampler plain(7, {.num_replicas = 3, .rank = 1, .shuffle = false});
  CHECK(plain.indices() == std::vector<size_t>{1, 4, 0});
  // torch.randperm(10) of a generator with seed 0 + epoch 0, every second.
  DistributedSampler first(10, {.num_replicas = 2, .rank = 0});
  CHECK(first.indices() == std::vector<size_t>{4, 7, 3, 0, 6});
  const auto before = first.indices();
  first.set_epoch(1);
  CHECK(first.indices() != before);
  first.set_epoch(0);
  CHECK(first.indices() == before);
}

TEST_CASE("batches, and going on in the middle of an epoch") {
  const DistributedSampler sampler(10, {.num_replicas = 2, .rank = 1, .shuffle = false});
  using Batches = std::vector<std::vector<size_t>>;
  CHECK(sampler.batches(2) == Batches{{1, 3}, {5, 7}, {9}});
  CHECK(sampler.batches(2, 1) == Batches{{5, 7}, {9}});
  CHECK(sampler.batches(2, 3).empty());
  CHECK_THROWS_AS(sampler.batches(0), ValueError);
  CHECK_THROWS_AS(sampler.batches(2, 4), ValueError);
  CHECK_THROWS_AS(DistributedSampler(10, {.num_replicas = 2, .rank = 2}), ValueError);
  CHECK_THROWS_AS(DistributedSampler(0, {.num_replicas = 2, .rank = 0}), ValueError);
}
