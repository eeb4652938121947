#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/array_ref.h"
#include "aten/core/dispatch_key.h"
#include "aten/core/thread_state.h"
#include "aten/core/value.h"

namespace tenon {

/// What is known of an operator besides its kernels.
struct OperatorInfo {
  const char* name;      ///< "aten::add"
  const char* overload;  ///< "Tensor", or "" for the only or plain one
  const char* schema;    ///< "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  const char* source;    ///< "native_functions.yaml"; `tenonc explain` gives the line
};

/// Takes the operator's arguments from the top of the stack and leaves its results there.
using BoxedFunction = void (*)(Stack& stack);
/// Any kernel; its true type is `Ret(DispatchKeySet, Args...)`.
using AnyFunction = void (*)();

/// One operator without its kernels' type: constant data but for the kernels that other libraries
/// set. A TypedOperatorEntry always, so that a table of kernels follows: one slot for calls without
/// a tensor, one per backend, one per layer.
struct OperatorEntry {
  const OperatorInfo* info;
  BoxedFunction boxed;
  uint64_t layer_mask;  ///< bit l: there is a kernel for layer l

  /// Slot 0: calls without a tensor; slot 1 + b: backend b.
  AnyFunction* backends() { return reinterpret_cast<AnyFunction*>(this + 1); }
  const AnyFunction* backends() const { return reinterpret_cast<const AnyFunction*>(this + 1); }
  /// "aten::add.Tensor"
  TENON_API std::string qualified_name() const;

 protected:
  /// NotImplementedError "Could not run 'aten::mm' with arguments from the 'CUDA' backend. ..."
  [[noreturn]] TENON_API void missing_kernel(DispatchKeySet keys) const;
};

/// An operator whose kernels have the type `Kernel`, a function pointer.
/// A call takes the highest layer that its operands ask for, the thread does not skip and the
/// operator has a kernel for; without one, the kernel of the operands' highest backend.
template <class Kernel>
struct TypedOperatorEntry : OperatorEntry {
  Kernel backend_kernels[1 + kNumBackends];
  Kernel layer_kernels[kNumLayers];

  Kernel lookup(DispatchKeySet keys) const {
    const unsigned present = keys.layers & layer_mask & ~unsigned{thread_state.skipped_layers};
    if (present) return layer_kernels[std::bit_width(present) - 1];
    const Kernel kernel = backend_kernels[keys.backend_slot()];
    if (TENON_UNLIKELY(!kernel)) missing_kernel(keys);
    return kernel;
  }
};
static_assert(sizeof(TypedOperatorEntry<AnyFunction>) ==
              sizeof(OperatorEntry) + (1 + kNumBackends + kNumLayers) * sizeof(AnyFunction));

/// Makes a library's operators known by name. One static object per library; the table is constant.
class TENON_API OperatorLibrary {
 public:
  OperatorLibrary(OperatorEntry* const* table, size_t count);
  ~OperatorLibrary();
  OperatorLibrary(const OperatorLibrary&) = delete;
  OperatorLibrary& operator=(const OperatorLibrary&) = delete;

 private:
  OperatorEntry* const* table_;
  size_t count_;
};

/// The operator "aten::add" with overload "Tensor", or null. The namespace "aten::" may be left
/// out.
TENON_API OperatorEntry* find_operator(std::string_view name, std::string_view overload = "");
/// All operators of all libraries, in order of their names.
TENON_API std::vector<OperatorEntry*> all_operators();
/// Sets or replaces the kernel of a backend, whose type must be `Ret(DispatchKeySet, Args...)`.
TENON_API void set_backend_kernel(OperatorEntry& op, Backend backend, AnyFunction kernel);

namespace detail {

inline DispatchKeySet keys_of(const TensorBase& t) { return t.key_set(); }
template <class T>
DispatchKeySet keys_of(const std::optional<T>& t) {
  return t ? keys_of(*t) : DispatchKeySet();
}
template <class T>
DispatchKeySet keys_of(ArrayRef<T> list) {
  DispatchKeySet keys;
  for (const auto& t : list) keys = keys | keys_of(t);
  return keys;
}
inline DispatchKeySet keys_of(Device device) { return DispatchKeySet(backend_of(device.type())); }

}  // namespace detail
}  // namespace tenon
