#pragma once

#include <functional>

namespace tenon::autograd {

/// Calls `f` on a stack of its own, in the same thread. What it throws is thrown here.
void run_on_fresh_stack(const std::function<void()>& f);

}  // namespace tenon::autograd
