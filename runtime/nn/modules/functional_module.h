#pragma once

#include "runtime/nn/cloneable.h"

namespace tenon::nn {

/// A function as a module, for containers: Functional(relu), or with arguments after the tensor,
/// Functional(elu, 1, 2, 3). It has no state and is not serialized.
class TENON_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function) : function_(std::move(function)) {}
  template <class F, class... Args>
  requires(sizeof...(Args) > 0) explicit FunctionalImpl(F original, Args&&... args)
      : function_([original, ... args = std::forward<Args>(args)](Tensor input) {
          return original(input, args...);
        }) {}

  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return forward(std::move(input)); }
  void reset() override {}
  /// Prints "torch::nn::Functional()".
  void pretty_print(std::ostream& out) const override { out << "torch::nn::Functional()"; }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
TENON_MODULE(Functional);

}  // namespace tenon::nn
