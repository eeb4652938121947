#pragma once

#include "runtime/hub/hub.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/relu.h"

/// Two layers: [N, in_features] to scores [N, num_classes].
class PerceptronImpl : public tenon::nn::Module {
 public:
  PerceptronImpl(int64_t in_features, int64_t num_classes) {
    hidden = register_module("hidden", tenon::nn::Linear(in_features, 16));
    scores = register_module("scores", tenon::nn::Linear(16, num_classes));
  }
  tenon::Tensor forward(const tenon::Tensor& x) { return scores(tenon::relu(hidden(x))); }

 private:
  tenon::nn::Linear hidden{nullptr}, scores{nullptr};
};
TENON_MODULE(Perceptron);

/// What the repository "acme/models" offers. A program that links it calls this once.
inline void register_acme_models() {
  tenon::hub::register_entry_point(
      {"acme/models", "perceptron",
       "A perceptron of two layers.\n"
       "  in_features (int)  numbers per example, default 4\n"
       "  num_classes (int)  scores per example, default 3\n"
       "  weights (str)      URL of a state dict whose name has its SHA-256; default: none, "
       "random\n",
       [](const tenon::hub::Call& call) {
         const auto& arguments = call.arguments;
         Perceptron model(arguments.get<int64_t>("in_features", 4),
                          arguments.get<int64_t>("num_classes", 3));
         tenon::hub::CachedFileOptions options;
         options.check_hash = true;
         if (const auto url = arguments.get<std::string>("weights", ""); !url.empty())
           model->load_state_dict(tenon::hub::load_state_dict_from_url(url, options));
         return model;
       }});
}
