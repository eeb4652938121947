#include "aten/core/deterministic.h"

#include <atomic>

namespace tenon {
namespace {

std::atomic<bool> deterministic{false};

}  // namespace

bool deterministic_algorithms() { return deterministic.load(std::memory_order_relaxed); }
void set_deterministic_algorithms(bool on) { deterministic.store(on, std::memory_order_relaxed); }

}  // namespace tenon
