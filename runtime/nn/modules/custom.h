#pragma once

#include "runtime/nn/cloneable.h"
#include "runtime/nn/functional.h"
#include "tenon/nn/modules/flatten.h"

/// Modules whose arguments modules.yaml cannot describe.
namespace tenon::nn {

/// Options of Unflatten: a dimension by its number and the sizes it becomes.
class UnflattenOptions {
 public:
  using namedshape_t = std::vector<std::pair<std::string, int64_t>>;
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  /// A named dimension. Tenon's dimensions have no names: forward() refuses it.
  UnflattenOptions(const char* dimname, namedshape_t namedshape)
      : dimname_(dimname), namedshape_(std::move(namedshape)) {}
  UnflattenOptions(std::string dimname, namedshape_t namedshape)
      : dimname_(std::move(dimname)), namedshape_(std::move(namedshape)) {}
  TENON_ARG(std::string, dimname);
  TENON_ARG(namedshape_t, namedshape);
  TENON_ARG(int64_t, dim) = 0;
  TENON_ARG(std::vector<int64_t>, sizes);
};

/// Dimension dim as dimensions of the given sizes.
class TENON_API UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(UnflattenOptions o) : options(std::move(o)) {}
  void reset() override {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  UnflattenOptions options;
};
TENON_MODULE(Unflatten);

using TripletMarginWithDistanceLossOptions = functional::TripletMarginWithDistanceLossFuncOptions;

/// See functional::triplet_margin_with_distance_loss.
class TENON_API TripletMarginWithDistanceLossImpl
    : public Cloneable<TripletMarginWithDistanceLossImpl> {
 public:
  explicit TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions o = {})
      : options(std::move(o)) {}
  void reset() override {}
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  void pretty_print(std::ostream& out) const override;

  TripletMarginWithDistanceLossOptions options;
};
TENON_MODULE(TripletMarginWithDistanceLoss);

}  // namespace tenon::nn
