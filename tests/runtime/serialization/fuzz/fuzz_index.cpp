// libFuzzer target: the index of a sharded checkpoint.
#include "runtime/serialization/sharded/shard_index.h"

#include <cstdint>

#include "aten/core/error.h"

using namespace tenon::serialization;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const ShardIndex index = ShardIndex::parse(text, "index: ");
    const std::string printed = index.print();
    if (ShardIndex::parse(printed, "again: ").print() != printed) __builtin_trap();
    ShardIndex merged;
    merged.merge(index, "merge: ");
    merged.metadata = index.metadata;
    if (merged.print() != printed) __builtin_trap();
    index.check_complete("index: ");
    for (const auto& [name, tensor] : index.tensors) {
      // Elements of the pieces of a whole tensor, of which none lies in two.
      int64_t whole = 1, pieces = 0;
      for (const int64_t n : tensor.shape) whole *= n;
      for (const auto& piece : tensor.pieces) {
        int64_t numel = 1;
        for (const int64_t n : piece.shape) numel *= n;
        pieces += numel;
      }
      if (pieces != whole) __builtin_trap();
    }
  } catch (const tenon::Error&) {
  }
  return 0;
}
