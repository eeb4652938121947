#pragma once

#include <memory>
#include <string>

#include "autograd/func.h"

/// Functions of tensors as one operator with fused kernels. docs/transforms.md.
///
///     auto block = fused([](const Tensor& x, const Tensor& gate) { return silu(gate) * sigmoid(x);
///     }); Tensor y = block(x, gate);  // kernels, with their derivatives
namespace tenon {

struct FusedOptions {
  /// Calls run the function as it is until its kernels have been built on another thread.
  bool background = false;
  /// What messages call the function.
  std::string name = "function";
};

namespace fusion {

/// A function of lists, and an operator for each kind of inputs that it was called with.
class TENON_API FusedFunction {
 public:
  explicit FusedFunction(FusedOptions options);
  ~FusedFunction();
  FusedFunction(const FusedFunction&) = delete;
  FusedFunction& operator=(const FusedFunction&) = delete;

  func::Tensors call(const func::ListFunction& f, const func::Tensors& inputs);
  void wait();

 private:
  struct Variant;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fusion

/// What fused() gives: it is called as its function is. Copies share what is built.
template <class F>
class Fused {
 public:
  Fused(F f, FusedOptions options)
      : f_(std::move(f)), function_(std::make_shared<fusion::FusedFunction>(std::move(options))) {}

  template <class... T>
  auto operator()(const T&... inputs) const {
    using Result = func::detail::ResultOf<F, T...>;
    static_assert(sizeof...(T) > 0, "a fused function takes tensors");
    return func::detail::FromList<Result>::from(
        function_->call(func::detail::of_lists<sizeof...(T)>(f_), {Tensor(inputs)...}));
  }
  /// Returns when what is built in the background is there. The next call throws its error.
  void wait() const { function_->wait(); }

 private:
  F f_;
  std::shared_ptr<fusion::FusedFunction> function_;
};

/// The function as one operator. It takes tensors and returns a Tensor, a std::tuple of them or a
/// std::vector<Tensor>. For each set of shapes, dtypes and devices it is called once on meta
/// tensors, written as a composition, and built with the generator and a C++ compiler, which takes
/// seconds; the library is kept by its content. Other shapes are traced again, with a warning that
/// says what has changed. Numbers are constants of the trace. Tensors that it reads without taking
/// them, such as parameters, are passed on in each call. Error "[fuse] aten::item: ..." if the
/// function reads the values of a tensor, or changes memory that two of its tensors share.
template <class F>
Fused<F> fused(F f, FusedOptions options = {}) {
  return Fused<F>(std::move(f), std::move(options));
}

}  // namespace tenon
