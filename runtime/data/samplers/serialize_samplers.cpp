#include "aten/generated_support/tensor_factories.h"
#include "runtime/data/samplers/distributed_samplers.h"
#include "runtime/data/samplers/random_sampler.h"
#include "runtime/data/samplers/sequential_sampler.h"
#include "runtime/data/samplers/stream_sampler.h"
#include "runtime/nn/archive.h"
#include "tenon/ops/item.h"

// The keys are libtorch's.
namespace tenon::data::samplers {
namespace {

void write(serialize::OutputArchive& archive, const char* key, size_t value) {
  archive.write(key, tensor(static_cast<int64_t>(value)), /*is_buffer=*/true);
}

size_t read(serialize::InputArchive& archive, const char* key) {
  Tensor value;
  archive.read(key, value, /*is_buffer=*/true);
  return static_cast<size_t>(value.item<int64_t>());
}

}  // namespace

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  write(archive, "index", index_);
}

void SequentialSampler::load(serialize::InputArchive& archive) { index_ = read(archive, "index"); }

void RandomSampler::save(serialize::OutputArchive& archive) const {
  write(archive, "index", index());
  archive.write("indices", indices_, /*is_buffer=*/true);
}

void RandomSampler::load(serialize::InputArchive& archive) {
  const auto index = static_cast<int64_t>(read(archive, "index"));
  Tensor indices;
  archive.read("indices", indices, /*is_buffer=*/true);
  TENON_CHECK_VALUE(index >= 0 && index <= indices.numel(), "[RandomSampler] index ", index,
                    " is not in an epoch of ", indices.numel(), " examples");
  index_ = index;
  indices_ = indices;
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  write(archive, "examples_retrieved_so_far", examples_retrieved_so_far_);
}

void StreamSampler::load(serialize::InputArchive& archive) {
  examples_retrieved_so_far_ = read(archive, "examples_retrieved_so_far");
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  write(archive, "sample_index_", sample_index_);
  write(archive, "epoch_", epoch_);
}

void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  epoch_ = read(archive, "epoch_");
  shuffle();
  sample_index_ = read(archive, "sample_index_");
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const {
  write(archive, "sample_index_", sample_index_);
}

void DistributedSequentialSampler::load(serialize::InputArchive& archive) {
  sample_index_ = read(archive, "sample_index_");
}

}  // namespace tenon::data::samplers
