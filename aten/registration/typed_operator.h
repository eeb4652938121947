#pragma once

#include "aten/dispatch/check_signature.h"
#include "aten/registration/boxing.h"
#include "aten/registration/cpp_signature.h"

namespace tenon {
// GCC 12 takes the generator of an optional that has none for one that is moved.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// An operator, found by name, as a function of its C++ type. Valid until the library that defines
/// the operator is gone; a call after that is an error for operators that were defined at run time.
template <class Ret, class... Args>
class TypedOperator<Ret(Args...)> {
 public:
  explicit TypedOperator(const OperatorEntry& op) : op_(&op) {
    detail::check_signature(detail::concat("[", op.qualified_name(), "]"), *schema_of(op),
                            detail::cpp_signature<Ret, Args...>());
  }

  Ret operator()(Args... args) const { return call(std::forward<Args>(args)...); }
  Ret call(Args... args) const {
    return redispatch(detail::keys_of_call<Args...>(args...), std::forward<Args>(args)...);
  }
  /// Goes where the keys say: what a kernel of a layer does with `keys.backend_only()`.
  Ret redispatch(DispatchKeySet keys, Args... args) const {
    using Kernel = Ret (*)(DispatchKeySet, Args...);
    const auto& entry = static_cast<const TypedOperatorEntry<Kernel>&>(*op_);
    if (const Kernel kernel = entry.lookup(keys)) {
      return kernel(keys, std::forward<Args>(args)...);
    }
    return detail::call_boxed_kernel<Ret, Args...>(entry, keys, std::forward<Args>(args)...);
  }
  const OperatorEntry& entry() const { return *op_; }

 private:
  const OperatorEntry* op_;
};

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC diagnostic pop
#endif

template <class Signature>
TypedOperator<Signature> OperatorEntry::typed() const {
  return TypedOperator<Signature>(*this);
}

}  // namespace tenon
