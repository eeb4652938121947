#include "aten/cuda/index_limit.h"

#include <atomic>

namespace tenon::cuda {
namespace {

std::atomic<int64_t> limit{int64_t{1} << 31};

}  // namespace

int64_t index_limit() { return limit.load(std::memory_order_relaxed); }

LowerIndexLimit::LowerIndexLimit(int64_t lower) : previous_(limit.exchange(lower)) {}
LowerIndexLimit::~LowerIndexLimit() { limit = previous_; }

}  // namespace tenon::cuda
