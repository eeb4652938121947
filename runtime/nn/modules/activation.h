#pragma once

#include "runtime/nn/cloneable.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// max(x, 0)
class TENON_API ReLUImpl : public Module {
 public:
  explicit ReLUImpl(const ReLUOptions& options = {}) : options(options) {}
  Tensor forward(const Tensor& input);

  ReLUOptions options;
};
TENON_MODULE(ReLU);

/// x where x > 0, else negative_slope * x.
class TENON_API LeakyReLUImpl : public Module {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options = {}) : options(options) {}
  Tensor forward(const Tensor& input);

  LeakyReLUOptions options;
};
TENON_MODULE(LeakyReLU);

/// x Phi(x) with Phi the normal distribution, or its approximation by tanh.
class TENON_API GELUImpl : public Module {
 public:
  explicit GELUImpl(GELUOptions options = {}) : options(std::move(options)) {}
  Tensor forward(const Tensor& input);

  GELUOptions options;
};
TENON_MODULE(GELU);

/// x sigmoid(x)
class TENON_API SiLUImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
TENON_MODULE(SiLU);

class TENON_API SigmoidImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
TENON_MODULE(Sigmoid);

class TENON_API TanhImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
TENON_MODULE(Tanh);

/// exp(x) / sum(exp(x)) over a dimension.
class TENON_API SoftmaxImpl : public Module {
 public:
  explicit SoftmaxImpl(int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
  explicit SoftmaxImpl(const SoftmaxOptions& options) : options(options) {}
  Tensor forward(const Tensor& input);

  SoftmaxOptions options;
};
TENON_MODULE(Softmax);

/// x - log(sum(exp(x))) over a dimension.
class TENON_API LogSoftmaxImpl : public Module {
 public:
  explicit LogSoftmaxImpl(int64_t dim) : LogSoftmaxImpl(SoftmaxOptions(dim)) {}
  explicit LogSoftmaxImpl(const SoftmaxOptions& options) : options(options) {}
  Tensor forward(const Tensor& input);

  SoftmaxOptions options;
};
TENON_MODULE(LogSoftmax);

/// While training, zeros each element with probability p and scales the others by 1 / (1 - p); else
/// returns its input.
class TENON_API DropoutImpl : public Cloneable<DropoutImpl> {
 public:
  explicit DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
  explicit DropoutImpl(const DropoutOptions& options = {});
  void reset() override {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  DropoutOptions options;
};
TENON_MODULE(Dropout);

}  // namespace tenon::nn
