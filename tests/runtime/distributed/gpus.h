#pragma once

#include <catch2/catch.hpp>

#include "aten/cuda/cuda_device.h"

namespace tenon::test {

/// Whether each rank has a GPU of its own; where not, which is said, there is nothing to test.
inline bool has_gpus(int ranks) {
  if (cuda::device_count() >= ranks) return true;
  WARN("there are " << cuda::device_count() << " GPUs, " << ranks << " are needed");
  return false;
}

}  // namespace tenon::test
