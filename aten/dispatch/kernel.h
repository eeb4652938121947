#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aten/dispatch/operator_entry.h"

namespace tenon {

/// Where a kernel can be registered.
enum class DispatchKey : uint8_t {
  CPU,
  CUDA,
  Meta,
  PrivateUse1,
  SparseCPU,
  SparseCsrCPU,
  Unresolved,         ///< tensors with a conjugate or negative bit
  CompositeExplicit,  ///< every backend without a kernel of its own
  CompositeImplicit,  ///< the same, made of operators, which give its derivative
  Python,             ///< layers: above the backend's kernel, whatever the backend
  PythonMode,
  Autograd,
  ForwardGrad,
  Autocast,
  Batched,
  Profiler,
  BatchedMode,
};

/// "CPU", "CompositeImplicit", ...
TENON_API const char* to_string(DispatchKey key);
/// ValueError "unknown dispatch key 'Cpu'; did you mean 'CPU'?".
TENON_API DispatchKey parse_dispatch_key(std::string_view name);
TENON_API DispatchKey dispatch_key_of(DeviceType type);
/// The backend of a key that names one.
TENON_API std::optional<Backend> backend_of(DispatchKey key);
/// The layer of a key that names one.
TENON_API std::optional<DispatchLayer> layer_of(DispatchKey key);

/// A kernel that serves any operator: takes the arguments from the top of the stack and leaves the
/// results there, in the order of the schema. A result that is a mutable argument is that argument.
using BoxedKernel = std::function<void(const OperatorEntry& op, DispatchKeySet keys, Stack& stack)>;

/// The C++ types of a function, spelt as schema::cpp_parameter_type() spells them.
struct CppSignature {
  std::vector<std::string> parameters;
  std::string result;
};

/// A kernel as it is registered: a function of the operator's own type, or a boxed one.
struct Kernel {
  /// Of type Ret(DispatchKeySet, Args...); null for a boxed kernel.
  AnyFunction direct = nullptr;
  /// Calls `direct` with the arguments on the stack.
  void (*unboxing)(const OperatorEntry& op, AnyFunction direct, DispatchKeySet keys,
                   Stack& stack) = nullptr;
  std::shared_ptr<const BoxedKernel> boxed;
  /// What to compare with the schema; none for a kernel that serves any operator.
  std::optional<CppSignature> signature;

  void run(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) const {
    if (direct) {
      unboxing(op, direct, keys, stack);
    } else {
      (*boxed)(op, keys, stack);
    }
  }
};

}  // namespace tenon
