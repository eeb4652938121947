#pragma once

#include <optional>

#include "aten/core/generator.h"
#include "aten/cuda/philox.cuh"

namespace tenon::cuda {

/// Takes `words` (rounded up to a multiple of 4) 32-bit numbers of every thread from the generator
/// given, or from the device's default one. Error "[op] expected a generator of cuda:0, got one of
/// cpu".
TENON_API PhiloxState reserve(const char* op, const std::optional<Generator>& given, Device device,
                              uint64_t words);

}  // namespace tenon::cuda
