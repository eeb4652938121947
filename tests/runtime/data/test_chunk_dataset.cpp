#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "runtime/data/data.h"
#include "runtime/serialization/archive_files.h"

using namespace tenon;
using namespace tenon::data;
using datasets::ChunkDataset;
using datasets::ChunkDatasetOptions;
using samplers::SequentialSampler;

namespace {

using Ints = std::vector<int>;

/// Chunk i has i + 1 of the numbers 0, 1, 2, ...; the chunk `broken` cannot be read.
struct Triangle : datasets::ChunkDataReader<int> {
  explicit Triangle(size_t count, size_t broken = 1000) : count(count), broken(broken) {}
  Ints read_chunk(size_t index) override {
    if (index == broken) throw std::runtime_error("chunk " + std::to_string(index) + " is broken");
    Ints chunk(index + 1);
    std::iota(chunk.begin(), chunk.end(), static_cast<int>(index * (index + 1) / 2));
    return chunk;
  }
  size_t chunk_count() override { return count; }
  void reset() override {}
  size_t count, broken;
};

template <class Sampler>
auto shared_triangle(const ChunkDatasetOptions& options, const Triangle& reader) {
  using Chunks = ChunkDataset<Triangle, Sampler, Sampler>;
  return datasets::make_shared_dataset<Chunks>(reader, Sampler(0), Sampler(0), options);
}

template <class Loader>
std::vector<Ints> epoch(Loader& loader) {
  std::vector<Ints> batches;
  for (const Ints& batch : loader) batches.push_back(batch);
  return batches;
}

Ints sorted(const std::vector<Ints>& batches) {
  Ints all;
  for (const Ints& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  std::sort(all.begin(), all.end());
  return all;
}

Ints first_numbers(int count) {
  Ints numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

TEST_CASE("chunks: batches go across chunks, in order with one reader") {
  const auto dataset = shared_triangle<SequentialSampler>(ChunkDatasetOptions(1, 4), Triangle(4));
  const auto loader = make_data_loader(dataset, 4);
  for (int i = 0; i < 3; ++i)
    CHECK(epoch(*loader) == std::vector<Ints>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  CHECK(*loader->begin(1) == Ints{4, 5, 6, 7});
}

TEST_CASE("chunks: every example comes once, whatever the threads") {
  for (const size_t readers : {1, 3}) {
    for (const size_t workers : {0, 2}) {
      for (const size_t together : {1, 3}) {
        // A small cache makes readers wait.
        const auto dataset = shared_triangle<samplers::RandomSampler>(
            ChunkDatasetOptions(readers, 7, 8, together), Triangle(12));
        const auto loader = make_data_loader(dataset, DataLoaderOptions(7).workers(workers));
        for (int i = 0; i < 3; ++i) {
          const std::vector<Ints> batches = epoch(*loader);
          CHECK(sorted(batches) == first_numbers(78));
          // 78 is 11 * 7 + 1. Only the last batch that was made is smaller.
          CHECK(batches.size() == 12);
        }
      }
    }
  }
}

TEST_CASE("chunks: a chunk that cannot be read is an exception, and the others come") {
  for (const size_t readers : {1, 3}) {
    const auto dataset = shared_triangle<SequentialSampler>(ChunkDatasetOptions(readers, 2),
                                                            Triangle(6, /*broken=*/3));
    auto chunks = dataset;
    chunks.reset();
    std::vector<Ints> batches;
    int exceptions = 0;
    while (true) {
      try {
        const auto batch = chunks.get_batch(2);
        if (!batch) break;
        batches.push_back(*batch);
      } catch (const WorkerException& e) {
        ++exceptions;
        CHECK(std::string(e.what()).ends_with("Original message: chunk 3 is broken"));
      }
    }
    Ints expected = first_numbers(21);
    expected.erase(expected.begin() + 6, expected.begin() + 10);
    CHECK(sorted(batches) == expected);
    CHECK(exceptions == 1);
  }
}

TEST_CASE("chunks: a sampler that throws ends the epoch") {
  struct Broken : SequentialSampler {
    using SequentialSampler::SequentialSampler;
    std::optional<std::vector<size_t>> next(size_t) override {
      throw std::runtime_error("no order");
    }
  };
  using Chunks = ChunkDataset<Triangle, Broken, SequentialSampler>;
  Chunks chunks(Triangle(3), Broken(0), SequentialSampler(0), ChunkDatasetOptions(1, 2));
  chunks.reset();
  CHECK_THROWS_WITH(chunks.get_batch(), Catch::EndsWith("no order"));
  CHECK(!chunks.get_batch());
}

TEST_CASE("chunks: the end, and a new epoch, in the middle of one") {
  for (const size_t taken : {0, 1, 3}) {
    auto dataset = shared_triangle<SequentialSampler>(ChunkDatasetOptions(2, 5, 6), Triangle(30));
    for (int i = 0; i < 3; ++i) {
      dataset.reset();
      for (size_t batch = 0; batch < taken; ++batch) CHECK(dataset.get_batch(5)->size() == 5);
    }
  }
}

TEST_CASE("chunks: the policy sees chunks that are read together") {
  using Chunks = ChunkDataset<Triangle, SequentialSampler, SequentialSampler>;
  std::vector<size_t> sizes;
  Chunks chunks(Triangle(5), SequentialSampler(0), SequentialSampler(0),
                ChunkDatasetOptions(1, 15, 15, 2), [&sizes](Ints& examples) {
                  sizes.push_back(examples.size());
                  std::reverse(examples.begin(), examples.end());
                });
  chunks.reset();
  CHECK(*chunks.get_batch() == Ints{2, 1, 0, 9, 8, 7, 6, 5, 4, 3, 14, 13, 12, 11, 10});
  CHECK(!chunks.get_batch());
  CHECK(sizes == std::vector<size_t>{3, 7, 5});
}

TEST_CASE("chunks: errors of use") {
  using Chunks = ChunkDataset<Triangle, SequentialSampler, SequentialSampler>;
  Chunks chunks(Triangle(5), SequentialSampler(0), SequentialSampler(0), ChunkDatasetOptions(1, 2));
  CHECK_THROWS_WITH(chunks.get_batch(2),
                    "Dataset needs to call reset() before calling get_batch().");
  chunks.reset();
  CHECK_THROWS_WITH(chunks.get_batch(3), Catch::Contains("The requested batch size is 3, while"));
  CHECK_THROWS_WITH(ChunkDatasetOptions(1, 3, 2), Catch::StartsWith("Cache size is less than"));
}

TEST_CASE("chunks: an epoch that was saved goes on with the chunks that were not read") {
  SequentialSampler of_chunks(4);
  of_chunks.next(2);
  std::stringstream file;
  save(of_chunks, file);
  const auto dataset = shared_triangle<SequentialSampler>(ChunkDatasetOptions(1, 4), Triangle(4));
  auto shared = dataset;
  load(*shared, file);
  const auto loader = make_data_loader(dataset, 4);
  CHECK(epoch(*loader) == std::vector<Ints>{{3, 4, 5, 6}, {7, 8, 9}});
  // The next epoch is whole.
  CHECK(epoch(*loader) == std::vector<Ints>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  std::stringstream after;
  save(*shared, after);
  SequentialSampler at_end(4);
  load(at_end, after);
  CHECK(at_end.index() == 4);
}
