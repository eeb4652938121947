#pragma once

/// For programs written against libtorch: its names, and Tenon behind them. docs/libtorch.md says
/// what differs.

#include "aten/common/warning.h"
#include "aten/registration/library.h"
#include "tenon/tenon.h"

namespace c10 {
using namespace tenon;
}
namespace at {
using namespace tenon;
}
namespace torch {
using namespace tenon;
}
