#pragma once

#include "aten/cpu/reduce.h"

namespace tenon::native {

/// The loops of amax or amin for a real dtype: NaN propagates.
const ReduceLoops& extreme_loops(ScalarType type, bool max);

}  // namespace tenon::native
