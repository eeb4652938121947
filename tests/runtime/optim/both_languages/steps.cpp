// optimizer_steps NAME FIRST COUNT IN OUT: the steps FIRST to FIRST + COUNT of a training that
// Python began. IN and OUT are files of
// {"groups": [[parameter, ...], ...], "optimizer": its state dict}.

#include <functional>
#include <iostream>
#include <map>
#include <memory>

#include "runtime/optim/optim.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/training/optimizer_state.h"

using namespace tenon;
using File = serialization::Value;
using Groups = std::vector<optim::OptimizerParamGroup>;

namespace {

template <class Optimizer>
std::unique_ptr<optim::Optimizer> make(const Groups& groups) {
  return std::make_unique<Optimizer>(groups);
}

const std::map<std::string, std::unique_ptr<optim::Optimizer> (*)(const Groups&)> kOptimizers = {
    {"ASGD", make<optim::ASGD>},       {"Adadelta", make<optim::Adadelta>},
    {"Adagrad", make<optim::Adagrad>}, {"Adam", make<optim::Adam>},
    {"AdamW", make<optim::AdamW>},     {"Adamax", make<optim::Adamax>},
    {"LBFGS", make<optim::LBFGS>},     {"NAdam", make<optim::NAdam>},
    {"RAdam", make<optim::RAdam>},     {"RMSprop", make<optim::RMSprop>},
    {"Rprop", make<optim::Rprop>},     {"SGD", make<optim::SGD>},
};

/// As loss_of() of test_both_languages.py.
Tensor loss_of(const Groups& groups, double k) {
  Tensor loss;
  for (const optim::OptimizerParamGroup& group : groups) {
    for (const Tensor& p : group.params()) {
      const Tensor one = ((p - k).pow(2) + 1).sqrt().sum().to(kDouble);
      loss = loss.defined() ? loss + one : one;
    }
  }
  return loss;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const int first = std::stoi(argv[2]), count = std::stoi(argv[3]);
  const File given = serialization::load(argv[4]);
  Groups groups;
  for (const File& group : given["groups"].items()) {
    std::vector<Tensor> params;
    for (const File& p : group.items()) params.push_back(p.to_tensor().requires_grad_());
    groups.emplace_back(params);
  }
  const std::unique_ptr<optim::Optimizer> optimizer = kOptimizers.at(argv[1])(groups);
  serialization::load_optimizer_state_dict(*optimizer, given["optimizer"]);
  for (int k = first; k < first + count; ++k) {
    optimizer->step([&] {
      optimizer->zero_grad();
      const Tensor loss = loss_of(groups, k % 3);
      loss.backward();
      return loss;
    });
  }
  File saved = File::list();
  for (const optim::OptimizerParamGroup& group : groups) {
    File params = File::list();
    for (const Tensor& p : group.params()) params.append(p.detach());
    saved.append(params);
  }
  serialization::save(File::dict({{"groups", saved},
                                  {"optimizer", serialization::optimizer_state_dict(*optimizer)}}),
                      argv[5]);
  return 0;
}
