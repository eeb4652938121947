#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "aten/core/generator.h"
#include "runtime/data/samplers/distributed_samplers.h"
#include "runtime/data/samplers/random_sampler.h"
#include "runtime/data/samplers/sequential_sampler.h"
#include "runtime/data/samplers/stream_sampler.h"
#include "runtime/serialization/archive_files.h"

using namespace tenon;
using namespace tenon::data::samplers;

namespace {

using Indices = std::vector<size_t>;

template <class Sampler>
Indices rest_of(Sampler& sampler, size_t batch_size = 3) {
  Indices all;
  while (const auto indices = sampler.next(batch_size))
    all.insert(all.end(), indices->begin(), indices->end());
  return all;
}

}  // namespace

TEST_CASE("a sequential sampler") {
  SequentialSampler sampler(5);
  CHECK(*sampler.next(3) == Indices{0, 1, 2});
  CHECK(sampler.index() == 3);
  CHECK(*sampler.next(3) == Indices{3, 4});
  CHECK(!sampler.next(3));
  sampler.reset(2);
  CHECK(rest_of(sampler) == Indices{0, 1});
  CHECK(!SequentialSampler(0).next(1));
}

TEST_CASE("random orders are PyTorch's randperm for a seed") {
  manual_seed(0);
  RandomSampler sampler(10);
  CHECK(rest_of(sampler) == Indices{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
  CHECK(!sampler.next(1));
  sampler.reset();
  CHECK(sampler.index() == 0);
  CHECK(rest_of(sampler, 100) == Indices{3, 9, 4, 2, 7, 8, 6, 0, 5, 1});
  sampler.reset(4);
  CHECK(rest_of(sampler, 1) == Indices{2, 1, 0, 3});

  manual_seed(1);
  RandomSampler narrow(10, kInt);
  CHECK(rest_of(narrow) == Indices{5, 6, 1, 2, 0, 8, 9, 3, 7, 4});

  RandomSampler own(6, kLong, make_generator(kCPU, 7));
  CHECK(rest_of(own) == Indices{3, 0, 1, 5, 2, 4});
  own.reset();
  CHECK(rest_of(own) == Indices{3, 0, 5, 4, 2, 1});
}

TEST_CASE("a stream sampler requests numbers of examples") {
  StreamSampler sampler(5);
  CHECK(*sampler.next(3) == 3);
  CHECK(sampler.next(3)->size() == 2);
  CHECK(!sampler.next(3));
  sampler.reset(1);
  CHECK(*sampler.next(3) == 1);
}

TEMPLATE_TEST_CASE("the parts of processes cover all examples and have the same size", "",
                   DistributedRandomSampler, DistributedSequentialSampler) {
  for (const size_t size : {1, 2, 7, 8, 100}) {
    for (const size_t replicas : {1, 2, 3, 8}) {
      for (const bool duplicates : {false, true}) {
        Indices all;
        const size_t part = (size + (duplicates ? replicas - 1 : 0)) / replicas;
        for (size_t rank = 0; rank < replicas; ++rank) {
          TestType sampler(size, replicas, rank, duplicates);
          sampler.set_epoch(5);
          sampler.reset();
          const Indices own = rest_of(sampler);
          CHECK(own.size() == part);
          all.insert(all.end(), own.begin(), own.end());
        }
        std::sort(all.begin(), all.end());
        const auto repeats = std::unique(all.begin(), all.end());
        CHECK((all.empty() || all.back() < size));
        if (duplicates) CHECK(static_cast<size_t>(repeats - all.begin()) == size);
        if (!duplicates) CHECK(repeats == all.end());
      }
    }
  }
  CHECK_THROWS_WITH(TestType(10, 2, 2),
                    "[DistributedSampler] expected a rank below num_replicas, 2, got 2");
}

TEST_CASE("a distributed order depends on the epoch") {
  DistributedRandomSampler first(50, 2, 0), second(50, 2, 0);
  const Indices order = rest_of(first);
  CHECK(rest_of(second) == order);
  first.set_epoch(1);
  first.reset();
  CHECK(rest_of(first) != order);
  first.set_epoch(0);
  first.reset();
  CHECK(rest_of(first) == order);

  DistributedSequentialSampler last(7, 3, 2);
  CHECK(rest_of(last) == Indices{6, 0, 1});
}

TEST_CASE("a sampler that was saved in the middle of an epoch goes on with its rest") {
  const auto reloaded = [](const auto& sampler, auto fresh) {
    std::stringstream file;
    save(sampler, file);
    load(fresh, file);
    return fresh;
  };
  SequentialSampler sequential(10);
  sequential.next(4);
  auto again = reloaded(sequential, SequentialSampler(10));
  CHECK(again.index() == 4);
  CHECK(rest_of(again) == rest_of(sequential));
  // An index beyond the size is the end of an epoch.
  auto small = reloaded(sequential, SequentialSampler(3));
  CHECK(!small.next(1));

  RandomSampler random(10);
  random.next(4);
  auto random_again = reloaded(random, RandomSampler(10));
  CHECK(rest_of(random_again) == rest_of(random));
  auto of_other_size = reloaded(random, RandomSampler(2));
  CHECK(!of_other_size.next(1));

  StreamSampler stream(10);
  stream.next(4);
  auto stream_again = reloaded(stream, StreamSampler(10));
  CHECK(*stream_again.next(100) == 6);

  DistributedRandomSampler part(10, 2, 1);
  part.set_epoch(3);
  part.reset();
  part.next(2);
  auto part_again = reloaded(part, DistributedRandomSampler(10, 2, 1));
  CHECK(part_again.epoch() == 3);
  CHECK(rest_of(part_again) == rest_of(part));

  DistributedSequentialSampler range(10, 2, 1);
  range.next(2);
  auto range_again = reloaded(range, DistributedSequentialSampler(10, 2, 1));
  CHECK(rest_of(range_again) == Indices{7, 8, 9});
}
