#pragma once

#include <functional>
#include <utility>

#include "runtime/data/example.h"
#include "runtime/data/transforms/transform.h"

namespace tenon::data::transforms {

/// A transform of an example's data that leaves its target alone. Derive from it and write
/// operator().
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  using typename Transform<E, E>::InputType;
  using typename Transform<E, E>::OutputType;

  virtual Tensor operator()(Tensor input) = 0;

  OutputType apply(InputType input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

/// A function of an example's data.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;

  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}

  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

namespace detail {
/// One Float per channel, [C, 1, 1].
TENON_API Tensor per_channel(ArrayRef<double> values);
TENON_API Tensor normalized(const Tensor& input, const Tensor& mean, const Tensor& stddev);
}  // namespace detail

/// (data - mean) / stddev of data [C, H, W], one of each per channel; or one for all.
template <class Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : mean(detail::per_channel(mean)), stddev(detail::per_channel(stddev)) {}

  Tensor operator()(Tensor input) override { return detail::normalized(input, mean, stddev); }

  Tensor mean, stddev;
};

}  // namespace tenon::data::transforms
