#pragma once

#include "aten/dispatch/kernel.h"

namespace tenon {

/// A boxed kernel for a backend without kernels of its own: copies the tensors to the CPU, runs the
/// operator there, and copies the results, and the arguments that the operator writes, back to the
/// device. Register it as the backend's fallback:
///     Library("aten", Library::IMPL).fallback(DispatchKey::PrivateUse1, cpu_fallback)
/// The first fallback of each operator is reported on stderr, unless set_fallback_warnings(false).
/// Errors: NotImplementedError for an operator whose result is a view, which a copy cannot give;
/// "Expected all tensors to be on the same device, ..." for tensors of several devices, 0-dim CPU
/// tensors excepted.
TENON_API void cpu_fallback(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);

/// Whether fallbacks are reported. Switching it on reports each operator anew.
TENON_API void set_fallback_warnings(bool enabled);

}  // namespace tenon
