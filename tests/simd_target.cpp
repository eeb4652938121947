// TENON_TEST_SIMD in the environment, "SSE4" or "AVX2": the best instruction set that the kernels
// of this process may use, so that those of lesser machines are tested as well.
#include "aten/core/simd_targets.h"

#include <hwy/targets.h>

#include <cstdlib>
#include <cstring>

namespace {

bool limit_instruction_sets() {
  const char* const name = std::getenv("TENON_TEST_SIMD");
  if (!name) return false;
  // Highway numbers better ones lower.
  for (int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    if (std::strcmp(hwy::TargetName(target), name) == 0) {
      hwy::SetSupportedTargetsForTest(targets);
      hwy::GetChosenTarget().Update(targets);
      return true;
    }
  }
  return false;  // this machine has fewer
}

[[maybe_unused]] const bool limited = limit_instruction_sets();

}  // namespace
