#include "runtime/nn/modules/custom.h"

#include "runtime/nn/modules/shown_options.h"

namespace tenon::nn {

Tensor UnflattenImpl::forward(const Tensor& input) {
  TENON_CHECK_NOT_IMPLEMENTED(options.namedshape().empty(),
                              "[Unflatten] expected the number of a dimension, got the name '",
                              options.dimname(), "': dimensions have no names");
  return input.unflatten(options.dim(), options.sizes());
}

void UnflattenImpl::pretty_print(std::ostream& out) const {
  if (!options.namedshape().empty()) {
    out << "torch::nn::Unflatten(dim=\"" << options.dimname() << "\", unflattened_size={";
    for (size_t i = 0; i < options.namedshape().size(); ++i) {
      const auto& [name, size] = options.namedshape()[i];
      out << (i ? ", " : "") << "{\"" << name << "\", " << size << "}";
    }
    out << "})";
    return;
  }
  out << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
  for (size_t i = 0; i < options.sizes().size(); ++i) out << (i ? ", " : "") << options.sizes()[i];
  out << "})";
}

Tensor TripletMarginWithDistanceLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                                  const Tensor& negative) {
  return functional::triplet_margin_with_distance_loss(anchor, positive, negative, options);
}

void TripletMarginWithDistanceLossImpl::pretty_print(std::ostream& out) const {
  ShownOptions shown(out, "torch::nn::TripletMarginWithDistanceLoss");
  shown.add("margin", options.margin());
  shown.add("swap", options.swap());
}

}  // namespace tenon::nn
