#pragma once

// A library of operators for several releases of Tenon: it includes this header, links nothing, and
// is loaded by tenon::load_library(); docs/stable_interface.md.
//
//     #include "aten/stable/stable_library.h"
//     using tenon::stable::Tensor;
//
//     Tensor scale(const Tensor& self, double factor) { ... }
//
//     TENON_STABLE_LIBRARY(mine, m) {
//       m.def("scale(Tensor self, float factor) -> Tensor");
//       m.impl<scale>("scale", "CPU");
//     }

#include <array>
#include <memory>

#include "aten/stable/tensor.h"

namespace tenon::stable {

namespace detail {

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

/// Runs f; what it throws becomes the error that the caller reports.
template <class F>
int32_t guarded(const F& f) noexcept {
  try {
    f();
    return TENON_OK;
  } catch (const Error& error) {
    return table->set_error(error.status(), error.what());
  } catch (const std::exception& error) {
    return table->set_error(TENON_ERROR, error.what());
  } catch (...) {
    return table->set_error(TENON_ERROR, "an error of unknown type");
  }
}

template <class R>
struct Deliver {
  static constexpr int64_t kCount = 1;
  static void put(R result, TenonValue* results) { results[0] = give(std::move(result)); }
};
template <class... R>
struct Deliver<std::tuple<R...>> {
  static constexpr int64_t kCount = sizeof...(R);
  static void put(std::tuple<R...> all, TenonValue* results) {
    std::apply([&](auto&... one) { ((*results++ = give(std::move(one))), ...); }, all);
  }
};

template <class F>
struct KernelOf;
template <class R, class... Args>
struct KernelOf<R (*)(Args...)> {
  using Result = R;
  static constexpr int64_t kArguments = sizeof...(Args);

  template <auto f>
  static int32_t run(void*, TenonOperator, uint64_t, const TenonValue* arguments, int64_t count,
                     TenonValue* results, int64_t result_count) {
    return guarded([&] {
      if (count != kArguments)
        throw Error("a kernel takes " + std::to_string(kArguments) + " arguments, its schema has " +
                        std::to_string(count),
                    TENON_TYPE_ERROR);
      call<f>(arguments, results, result_count, std::index_sequence_for<Args...>());
    });
  }

 private:
  template <auto f, size_t... I>
  static void call([[maybe_unused]] const TenonValue* arguments,
                   [[maybe_unused]] TenonValue* results, int64_t result_count,
                   std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      f(From<Plain<Args>>::get(arguments[I])...);
    } else {
      if (result_count != Deliver<R>::kCount)
        throw Error("a kernel gives " + std::to_string(Deliver<R>::kCount) +
                        " results, its schema has " + std::to_string(result_count),
                    TENON_TYPE_ERROR);
      Deliver<R>::put(f(From<Plain<Args>>::get(arguments[I])...), results);
    }
  }
};

}  // namespace detail

/// What backward is given (TenonBackwardCall).
class BackwardCall {
 public:
  explicit BackwardCall(const TenonBackwardCall& call, TenonValue* gradients)
      : call_(call), gradients_(gradients) {}
  /// The gradient of result i; undefined if it is zero everywhere.
  Tensor gradient(size_t i = 0) const { return detail::From<Tensor>::get(call_.gradients[i]); }
  /// A result or an argument that was saved.
  template <class T = Tensor>
  T result(size_t i = 0) const {
    return detail::From<T>::get(call_.results[i]);
  }
  template <class T = Tensor>
  T argument(size_t i) const {
    return detail::From<T>::get(call_.arguments[i]);
  }
  /// The sizes of tensor argument or result i, saved or not.
  Ints argument_sizes(size_t i) const { return detail::From<Ints>::get(call_.argument_sizes[i]); }
  Ints result_sizes(size_t i) const { return detail::From<Ints>::get(call_.result_sizes[i]); }
  /// Whether the gradient of argument i is asked for.
  bool wanted(size_t i) const { return call_.wanted[i] != 0; }
  /// The gradient of argument i; zero if it is not set.
  void set(size_t i, Tensor gradient) { set_value(i, detail::give(std::move(gradient))); }
  void set(size_t i, const std::vector<Tensor>& gradients) {
    set_value(i, detail::give(gradients));
  }

 private:
  void set_value(size_t i, TenonValue value) {
    table->release_value(&gradients_[i]);
    gradients_[i] = value;
  }
  const TenonBackwardCall& call_;
  TenonValue* gradients_;
};

/// Operators and kernels of a namespace; exists while the library starts.
class Library {
 public:
  Library(const char* ns, const char* place) { check(table->library_open(ns, place, &handle_)); }
  void def(const char* schema) { check(table->library_define(handle_, schema)); }
  /// A kernel from a C++ function. Types: Tensor, std::vector<Tensor>, int64_t, double, bool,
  /// Scalar, ScalarType, Device, std::string, Ints, std::optional of them; results too, or a
  /// std::tuple.
  template <auto function>
  void impl(const char* name, const char* key) {
    using Kernel = detail::KernelOf<std::decay_t<decltype(function)>>;
    check(table->library_kernel(handle_, name, key, &Kernel::template run<function>, nullptr));
  }
  /// A kernel that takes the arguments as they are.
  void impl(const char* name, const char* key, TenonKernel kernel, void* state = nullptr) {
    check(table->library_kernel(handle_, name, key, kernel, state));
  }
  /// The derivative: void(BackwardCall&). Bits of tensor arguments and of results that it reads.
  template <auto backward>
  void derivative(const char* name, uint64_t saved_arguments, uint64_t saved_results = 0) {
    const TenonDerivative derivative{
        [](void*, const TenonBackwardCall* call, TenonValue* gradients) {
          return detail::guarded([&] {
            BackwardCall wrapped(*call, gradients);
            backward(wrapped);
          });
        },
        nullptr, saved_arguments, saved_results};
    check(table->library_derivative(handle_, name, &derivative));
  }

 private:
  TenonLibrary handle_ = nullptr;
};

namespace detail {

struct Part {
  const char* ns;
  const char* place;
  void (*fill)(Library& library);
  Part* next;
};
/// The parts of this shared library, from all of its sources.
[[gnu::visibility("hidden")]] inline Part* parts = nullptr;

struct Registered {
  explicit Registered(Part& part) {
    part.next = parts;
    parts = &part;
  }
};

[[gnu::visibility("hidden")]] inline int32_t start(const TenonInterface* given) {
  table = given;
  return guarded([] {
    for (const Part* part = parts; part; part = part->next) {
      Library library(part->ns, part->place);
      part->fill(library);
    }
  });
}

}  // namespace detail
}  // namespace tenon::stable

/// What load_library() looks for. Weak, as each source of the library has it; not inline, as the
/// linker would make one of those of all libraries.
extern "C" __attribute__((weak, visibility("default")))
const TenonStableLibrary tenon_stable_library = {TENON_INTERFACE_MAJOR, TENON_INTERFACE_MINOR,
                                                 &tenon::stable::detail::start};

#define TENON_STABLE_TEXT_(x) #x
#define TENON_STABLE_TEXT(x) TENON_STABLE_TEXT_(x)
#define TENON_STABLE_JOIN_(a, b) a##b
#define TENON_STABLE_JOIN(a, b) TENON_STABLE_JOIN_(a, b)
/// TENON_STABLE_LIBRARY(mine, m) { m.def("..."); m.impl<f>("f", "CPU"); }, at namespace scope.
#define TENON_STABLE_LIBRARY(ns, m) \
  TENON_STABLE_LIBRARY_(ns, m, TENON_STABLE_JOIN(tenon_stable_part_, __COUNTER__))
#define TENON_STABLE_LIBRARY_(ns, m, id) TENON_STABLE_LIBRARY__(ns, m, id)
#define TENON_STABLE_LIBRARY__(ns, m, id)                                                \
  static void id##_fill(::tenon::stable::Library& m);                                    \
  static ::tenon::stable::detail::Part id{#ns, __FILE__ ":" TENON_STABLE_TEXT(__LINE__), \
                                          &id##_fill, nullptr};                          \
  static const ::tenon::stable::detail::Registered id##_registered(id);                  \
  static void id##_fill([[maybe_unused]] ::tenon::stable::Library& m)
