#include "aten/dispatch/operator_mode.h"

#include <optional>

#include "aten/dispatch/exclude_layers.h"

namespace tenon {

OperatorMode::~OperatorMode() = default;

OperatorModeGuard*& OperatorMode::innermost() {
  constinit thread_local OperatorModeGuard* guard = nullptr;
  return guard;
}

void OperatorMode::go_on(const OperatorEntry& op, DispatchKeySet, Stack& stack) {
  OperatorModeGuard::with_next([&](OperatorMode* mode, bool is_last) {
    std::optional<ExcludeLayers> below;
    if (is_last) below.emplace(DispatchLayer::Profiler);
    return mode ? mode->call(op, stack) : op.call_boxed(stack);
  });
}

}  // namespace tenon
