#pragma once

#include "runtime/nn/cloneable.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// input @ weight.T + bias: [..., in_features] to [..., out_features]. Parameters weight [out, in]
/// and bias [out], both uniform in +-1 / sqrt(in_features) at first.
class TENON_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  LinearOptions options;
  Tensor weight;
  Tensor bias;
};
TENON_MODULE(Linear);

/// Joins dimensions start_dim to end_dim; by default all but the batch's.
class TENON_API FlattenImpl : public Module {
 public:
  explicit FlattenImpl(const FlattenOptions& options = {}) : options(options) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  FlattenOptions options;
};
TENON_MODULE(Flatten);

/// Returns its input.
class TENON_API IdentityImpl : public Module {
 public:
  Tensor forward(const Tensor& input) { return input; }
};
TENON_MODULE(Identity);

}  // namespace tenon::nn
