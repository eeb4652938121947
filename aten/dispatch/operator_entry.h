#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/array_ref.h"
#include "aten/core/dispatch_key.h"
#include "aten/core/thread_state.h"
#include "aten/dispatch/value.h"

namespace tenon {

template <class Signature>
class TypedOperator;

/// What is known of an operator besides its kernels.
struct OperatorInfo {
  const char* name;      ///< "aten::add"
  const char* overload;  ///< "Tensor", or "" for the only or plain one
  const char* schema;    ///< "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  const char* source;    ///< "native_functions.yaml"; `tenonc explain` gives the line
  /// How it runs on batched tensors, the text of a BatchingRule; "" for operators made of
  /// operators, which need nothing. Null, as of operators that were defined at run time: one after
  /// another.
  const char* batching = nullptr;
};

struct OperatorEntry;
/// Takes the operator's arguments from the top of the stack and leaves its results there.
using BoxedFunction = void (*)(const OperatorEntry& op, Stack& stack);
/// Any kernel; its true type is `Ret(DispatchKeySet, Args...)`.
using AnyFunction = void (*)();

/// One operator without its kernels' type: constant data but for the kernels that libraries
/// register at run time. A TypedOperatorEntry always, so that a table of kernels follows: one slot
/// for calls without a tensor, one per backend, one per layer.
struct OperatorEntry {
  const OperatorInfo* info;
  BoxedFunction boxed;  ///< null for an operator that was defined at run time
  uint64_t layer_mask;  ///< bit l: there is a kernel for layer l

  /// Takes the arguments from the top of the stack and leaves the results there. Errors: those of
  /// the operator; TypeError for a value that is not of its argument's type.
  TENON_API void call_boxed(Stack& stack) const;
  /// "aten::add.Tensor"
  TENON_API std::string qualified_name() const;
  /// The operator as a function: `typed<Tensor(const Tensor&)>().call(x)`; in
  /// aten/registration/typed_operator.h. TypeError unless the signature is the schema's.
  template <class Signature>
  TypedOperator<Signature> typed() const;

  /// Slot 0: calls without a tensor; slot 1 + b: backend b; from kFirstLayer on the layers.
  AnyFunction* kernels() { return reinterpret_cast<AnyFunction*>(this + 1); }
  const AnyFunction* kernels() const { return reinterpret_cast<const AnyFunction*>(this + 1); }
  static constexpr int kFirstLayer = 1 + kNumBackends;
  static constexpr int kNumKernels = kFirstLayer + kNumLayers;
};

/// An operator whose kernels have the type `Kernel`, a function pointer.
/// A call takes the highest layer that its operands ask for, the thread does not skip and the
/// operator has a kernel for; without one, the kernel of the operands' highest backend.
template <class Kernel>
struct TypedOperatorEntry : OperatorEntry {
  Kernel backend_kernels[1 + kNumBackends];
  Kernel layer_kernels[kNumLayers];
  Kernel boxing;  ///< finds a boxed kernel and calls it, or reports that there is none

  // A library may set a slot while other threads call: hence the atomic loads, which cost nothing.
  Kernel lookup(DispatchKeySet keys) const {
    const unsigned layers = static_cast<unsigned>(__atomic_load_n(&layer_mask, __ATOMIC_ACQUIRE));
    const unsigned present = keys.layers & layers & ~unsigned{thread_state.skipped_layers};
    if (present) {
      return __atomic_load_n(&layer_kernels[std::bit_width(present) - 1], __ATOMIC_ACQUIRE);
    }
    const Kernel kernel = __atomic_load_n(&backend_kernels[keys.backend_slot()], __ATOMIC_ACQUIRE);
    return TENON_LIKELY(kernel) ? kernel : boxing;
  }
};
static_assert(sizeof(TypedOperatorEntry<AnyFunction>) ==
              sizeof(OperatorEntry) + (OperatorEntry::kNumKernels + 1) * sizeof(AnyFunction));

/// Makes a library's operators known by name. One static object per library; the table is constant.
/// An operator that another library has made known already stays the other's; a warning says so.
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

/// The operator "aten::add" with overload "Tensor", which may also be written "aten::add.Tensor",
/// or null. The namespace "aten::" may be left out.
TENON_API OperatorEntry* find_operator(std::string_view name, std::string_view overload = "");
/// The same, but ValueError "no operator 'ns::opp'; did you mean 'ns::op'?" where there is none.
TENON_API OperatorEntry& get_operator(std::string_view name);
/// All operators of all libraries, in order of their names.
TENON_API std::vector<OperatorEntry*> all_operators();

namespace detail {

/// The layer_mask of an operator with a derivative of its own, whose kernel is the third.
inline constexpr uint64_t kAutogradBit = DispatchKeySet(DispatchLayer::Autograd).layers;
static_assert(kAutogradBit == 1 << 2);

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
inline DispatchKeySet keys_of(Device device) {
  return DispatchKeySet(kThreadLayers, 0) | DispatchKeySet(backend_of(device.type()));
}

}  // namespace detail
}  // namespace tenon
