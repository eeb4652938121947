#pragma once

#include "aten/registration/boxing.h"
#include "aten/registration/cpp_signature.h"

namespace tenon {

/// A function that is known at compile time, so that calls go to it directly: TENON_FN(my_kernel).
template <auto F>
struct Fn {
  template <class... Args>
  requires(std::is_invocable_v<decltype(F), Args...>) decltype(auto)
  operator()(Args&&... args) const {
    return F(std::forward<Args>(args)...);
  }
};
#define TENON_FN(function) ::tenon::Fn<&function>()

namespace detail {

/// The signature of a function, a lambda or another object with one operator().
template <class F>
struct CallType : CallType<decltype(&F::operator())> {};
template <class R, class... A>
struct CallType<R (*)(A...)> {
  using type = R(A...);
};
template <class R, class... A>
struct CallType<R (*)(A...) noexcept> : CallType<R (*)(A...)> {};
template <class C, class R, class... A>
struct CallType<R (C::*)(A...) const> : CallType<R (*)(A...)> {};
template <class C, class R, class... A>
struct CallType<R (C::*)(A...)> : CallType<R (*)(A...)> {};
template <class C, class R, class... A>
struct CallType<R (C::*)(A...) const noexcept> : CallType<R (*)(A...)> {};
template <auto F>
struct CallType<Fn<F>> : CallType<decltype(F)> {};

template <class T>
void count_change(T&&) {}
inline void count_change(Tensor& written) {
  if (written.defined()) written.unsafe_impl()->bump_version();
}

/// Makes the kernel of a function R(A...), which gets the key set first if `kTakesKeys`. With
/// `kCounts` what the function writes counts as changed, as is a backend's kernels' part.
template <class F, bool kTakesKeys, bool kCounts, class Signature>
struct KernelMaker;

template <class F, bool kTakesKeys, bool kCounts, class R, class... A>
struct KernelMaker<F, kTakesKeys, kCounts, R(A...)> {
  using Direct = R (*)(DispatchKeySet, passed_t<A>...);
  static constexpr bool kKnown = CppType<R>::kKnown && (CppType<A>::kKnown && ...);

  static R invoke(const F& function, DispatchKeySet keys, passed_t<A>... args) {
    const auto run = [&]() -> R {
      if constexpr (kTakesKeys) {
        return function(keys, adapt<A>(args)...);
      } else {
        return function(adapt<A>(args)...);
      }
    };
    if constexpr (!kCounts) {
      return run();
    } else if constexpr (std::is_void_v<R>) {
      run();
      (count_change(args), ...);
    } else {
      R result = run();
      (count_change(args), ...);
      return result;
    }
  }

  static R direct(DispatchKeySet keys, passed_t<A>... args) {
    return invoke(F(), keys, static_cast<passed_t<A>>(args)...);
  }

  static void unboxing(const OperatorEntry& op, AnyFunction any, DispatchKeySet keys,
                       Stack& stack) {
    unbox_and_call<R, passed_t<A>...>(op, stack, [&](passed_t<A>... args) -> R {
      return reinterpret_cast<Direct>(any)(keys, static_cast<passed_t<A>>(args)...);
    });
  }

  static Kernel make(const F& function) {
    Kernel kernel;
    kernel.signature = cpp_signature<R, passed_t<A>...>();
    if constexpr (!kKnown) {
      return kernel;  // the comparison with the schema says what is wrong with it
    } else if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
      kernel.direct = reinterpret_cast<AnyFunction>(&direct);
      kernel.unboxing = &unboxing;
    } else {
      kernel.boxed = std::make_shared<const BoxedKernel>(
          [function](const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
            unbox_and_call<R, passed_t<A>...>(op, stack, [&](passed_t<A>... args) -> R {
              return invoke(function, keys, static_cast<passed_t<A>>(args)...);
            });
          });
    }
    return kernel;
  }
};

template <class F, bool kCounts, class Signature>
struct MakerOf {
  using type = KernelMaker<F, false, kCounts, Signature>;
};
template <class F, bool kCounts, class R, class... A>
struct MakerOf<F, kCounts, R(DispatchKeySet, A...)> {
  using type = KernelMaker<F, true, kCounts, R(A...)>;
};

/// The kernel of a function, lambda or other function object. One that is called as a BoxedKernel
/// serves any operator. A pointer that is only known at run time, or an object with state, is
/// called through boxing; TENON_FN, or a lambda that captures nothing, is called directly.
template <class F>
Kernel make_kernel(const F& function, bool counts_changes) {
  if constexpr (std::is_invocable_v<const F&, const OperatorEntry&, DispatchKeySet, Stack&>) {
    Kernel kernel;
    kernel.boxed = std::make_shared<const BoxedKernel>(function);
    return kernel;
  } else {
    using Signature = typename CallType<F>::type;
    return counts_changes ? MakerOf<F, true, Signature>::type::make(function)
                          : MakerOf<F, false, Signature>::type::make(function);
  }
}

}  // namespace detail
}  // namespace tenon
