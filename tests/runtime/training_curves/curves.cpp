// training_curves NAME FIRST COUNT IN OUT: the steps FIRST to FIRST + COUNT of a small training, as
// in networks.py. IN is "-" for a new training, otherwise the file of an earlier part. OUT gets
// {"losses": [...], "models": [...], "optimizers": [...], "schedulers": [...]}.
//
// training_curves rates SCHEDULER COUNT IN OUT: COUNT steps of a scheduler. The files have
// {"optimizer": ..., "scheduler": ..., "rates": [...]}.

#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aten/core/generator.h"
#include "runtime/nn/nn.h"
#include "runtime/optim/optim.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/training/optimizer_state.h"
#include "runtime/serialization/training/scheduler_state.h"
#include "tenon/ops/add.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/full.h"
#include "tenon/ops/item.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/select.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/tanh.h"
#include "tenon/ops/triu.h"
#include "tenon/ops/zeros.h"

namespace {

using namespace tenon;
using File = serialization::Value;

/// One training; step(k) gives the losses of step k.
struct Training {
  std::vector<std::shared_ptr<nn::Module>> models;
  std::vector<std::unique_ptr<optim::Optimizer>> optimizers;
  std::vector<std::unique_ptr<optim::LRScheduler>> schedulers;
  std::function<std::vector<double>(int k)> step;

  File state() const {
    const File all_models = File::list(), all_optimizers = File::list(),
               all_schedulers = File::list();
    for (const auto& model : models) {
      const File dict = File::ordered_dict();
      for (const auto& item : model->state_dict()) dict.set_item(item.key(), item.value());
      all_models.append(dict);
    }
    for (const auto& optimizer : optimizers)
      all_optimizers.append(serialization::optimizer_state_dict(*optimizer));
    for (const auto& scheduler : schedulers)
      all_schedulers.append(serialization::lr_scheduler_state_dict(*scheduler));
    return File::dict(
        {{"models", all_models}, {"optimizers", all_optimizers}, {"schedulers", all_schedulers}});
  }

  void load(const File& state) {
    for (size_t i = 0; i < models.size(); ++i) {
      nn::StateDict dict;
      for (const auto& [key, value] : state["models"][i].entries())
        dict.insert(key.to_string(), value.to_tensor());
      models[i]->load_state_dict(dict);
    }
    for (size_t i = 0; i < optimizers.size(); ++i)
      serialization::load_optimizer_state_dict(*optimizers[i], state["optimizers"][i]);
    for (size_t i = 0; i < schedulers.size(); ++i)
      serialization::load_lr_scheduler_state_dict(*schedulers[i], state["schedulers"][i]);
  }
};

Tensor normal(std::vector<int64_t> sizes) { return randn(sizes, TensorOptions()); }

Tensor classes(int64_t high, std::vector<int64_t> sizes) {
  return randint(high, sizes, TensorOptions(kLong));
}

// Layers are made one by one: as arguments of one call their order would be open.

Training lenet() {
  nn::Sequential net;
  net->push_back(nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)));
  net->push_back(nn::ReLU());
  net->push_back(nn::MaxPool2d(2));
  net->push_back(nn::Conv2d(6, 16, 5));
  net->push_back(nn::ReLU());
  net->push_back(nn::MaxPool2d(2));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(400, 120));
  net->push_back(nn::ReLU());
  net->push_back(nn::Linear(120, 84));
  net->push_back(nn::ReLU());
  net->push_back(nn::Linear(84, 10));
  const Tensor images = normal({4, 8, 1, 28, 28});
  const Tensor labels = classes(10, {4, 8});
  Training t;
  t.models = {net.ptr()};
  t.optimizers.push_back(std::make_unique<optim::SGD>(
      net->parameters(), optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-3).nesterov(true)));
  t.schedulers.push_back(
      std::make_unique<optim::MultiStepLR>(*t.optimizers[0], std::vector<unsigned>{6, 14}, 0.5));
  t.step = [=, optimizer = t.optimizers[0].get()](int k) mutable {
    optimizer->zero_grad();
    const Tensor loss = nn::functional::cross_entropy(net->forward(images[k % 4]), labels[k % 4]);
    loss.backward();
    optimizer->step();
    return std::vector<double>{loss.item<double>()};
  };
  return t;
}

Training transformer() {
  nn::Embedding table(30, 16);
  nn::TransformerEncoderLayer block(
      nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32).dropout(0.0).activation(
          nn::activation_t(kGELU)));
  nn::LayerNorm norm(std::vector<int64_t>{16});
  nn::Linear head(16, 30);
  // [step, place in the sentence, sentence], and a mask that hides later places.
  const Tensor words = classes(30, {4, 7, 4});
  const Tensor mask = triu(full({6, 6}, -INFINITY, TensorOptions()), 1);
  Training t;
  t.models = {table.ptr(), block.ptr(), norm.ptr(), head.ptr()};
  std::vector<Tensor> parameters;
  for (const auto& model : t.models)
    for (const Tensor& p : model->parameters()) parameters.push_back(p);
  t.optimizers.push_back(std::make_unique<optim::AdamW>(
      parameters, optim::AdamWOptions(3e-3).betas({0.9, 0.98}).weight_decay(0.05).amsgrad(true)));
  t.schedulers.push_back(std::make_unique<optim::CosineAnnealingLR>(*t.optimizers[0], 20, 1e-4));
  t.step = [=, optimizer = t.optimizers[0].get()](int k) mutable {
    optimizer->zero_grad();
    const Tensor seen = words[k % 4].slice(0, 0, 6), next = words[k % 4].slice(0, 1, 7);
    const Tensor scores = head(norm(block(table(seen), mask)));
    const Tensor loss = nn::functional::cross_entropy(scores.flatten(0, 1), next.flatten());
    loss.backward();
    nn::utils::clip_grad_norm_(parameters, 1.0);
    optimizer->step();
    return std::vector<double>{loss.item<double>()};
  };
  return t;
}

Training gan() {
  nn::Sequential generator;
  generator->push_back(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(8, 16, 4).bias(false)));
  generator->push_back(nn::BatchNorm2d(16));
  generator->push_back(nn::ReLU());
  generator->push_back(
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(16, 1, 4).stride(2).padding(1)));
  generator->push_back(nn::Tanh());
  nn::Sequential critic;
  critic->push_back(nn::Conv2d(nn::Conv2dOptions(1, 16, 4).stride(2).padding(1)));
  critic->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)));
  critic->push_back(nn::Conv2d(nn::Conv2dOptions(16, 16, 3).bias(false)));
  critic->push_back(nn::BatchNorm2d(16));
  critic->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)));
  critic->push_back(nn::Flatten());
  critic->push_back(nn::Linear(64, 1));
  const Tensor images = normal({4, 6, 1, 8, 8}).tanh();
  const Tensor noise = normal({4, 6, 8, 1, 1});
  Training t;
  t.models = {generator.ptr(), critic.ptr()};
  for (const auto& model : t.models) {
    t.optimizers.push_back(std::make_unique<optim::Adam>(
        model->parameters(), optim::AdamOptions(2e-4).betas({0.5, 0.999})));
    t.schedulers.push_back(std::make_unique<optim::ExponentialLR>(*t.optimizers.back(), 0.95));
  }
  t.step = [=, of_generator = t.optimizers[0].get(),
            of_critic = t.optimizers[1].get()](int k) mutable {
    nn::BCEWithLogitsLoss loss_of;
    const Tensor ones = full({6, 1}, 1.0, TensorOptions()), none = zeros({6, 1}, TensorOptions());
    of_critic->zero_grad();
    const Tensor fake = generator->forward(noise[k % 4]);
    const Tensor of_real = loss_of(critic->forward(images[k % 4]), ones);
    const Tensor of_fake = loss_of(critic->forward(fake.detach()), none);
    (of_real + of_fake).backward();
    of_critic->step();
    of_generator->zero_grad();
    const Tensor of_fooled = loss_of(critic->forward(fake), ones);
    of_fooled.backward();
    of_generator->step();
    return std::vector<double>{of_real.item<double>(), of_fake.item<double>(),
                               of_fooled.item<double>()};
  };
  return t;
}

const std::map<std::string, Training (*)()> kTrainings = {
    {"LeNet", lenet}, {"transformer", transformer}, {"GAN", gan}};

void train(const std::string& name, int first, int count, const std::string& in,
           const std::string& out) {
  manual_seed(11);
  Training training = kTrainings.at(name)();
  if (in != "-") training.load(serialization::load(in));
  const File losses = File::list();
  for (int k = first; k < first + count; ++k) {
    for (const double loss : training.step(k)) losses.append(loss);
    for (const auto& scheduler : training.schedulers) scheduler->step();
  }
  const File all = training.state();
  all.set_item("losses", losses);
  serialization::save(all, out);
}

// ---- schedulers alone ----

template <class Scheduler>
void run(Scheduler& scheduler, optim::Optimizer& optimizer, int count, const File& in,
         const std::string& out) {
  serialization::load_lr_scheduler_state_dict(scheduler, in["scheduler"]);
  const File rates = File::list();
  for (int i = 0; i < count; ++i) {
    if constexpr (std::is_base_of_v<optim::LRScheduler, Scheduler>)
      scheduler.step();
    else
      scheduler.step(1.0);  // a metric that never becomes better
    rates.append(optimizer.param_groups()[0].options().get_lr());
  }
  serialization::save(File::dict({{"optimizer", serialization::optimizer_state_dict(optimizer)},
                                  {"scheduler", serialization::lr_scheduler_state_dict(scheduler)},
                                  {"rates", rates}}),
                      out);
}

template <class Scheduler, class... Arguments>
auto maker(Arguments... arguments) {
  return [=](optim::Optimizer& optimizer, int count, const File& in, const std::string& out) {
    Scheduler scheduler(optimizer, arguments...);
    serialization::load_optimizer_state_dict(optimizer, in["optimizer"]);
    run(scheduler, optimizer, count, in, out);
  };
}

const std::map<std::string,
               std::function<void(optim::Optimizer&, int, const File&, const std::string&)>>
    kSchedulers = {
        {"StepLR", maker<optim::StepLR>(3U, 0.5)},
        {"ExponentialLR", maker<optim::ExponentialLR>(0.9)},
        {"MultiStepLR", maker<optim::MultiStepLR>(std::vector<unsigned>{2, 7}, 0.5)},
        {"ConstantLR", maker<optim::ConstantLR>(0.25, 5U)},
        {"LinearLR", maker<optim::LinearLR>(0.25, 0.75, 8U)},
        {"PolynomialLR", maker<optim::PolynomialLR>(10U, 2.0)},
        {"CosineAnnealingLR", maker<optim::CosineAnnealingLR>(7U, 0.01)},
        {"LambdaLR", maker<optim::LambdaLR>([](unsigned epoch) { return 1.0 / (1 + epoch); })},
        {"ReduceLROnPlateau",
         maker<optim::ReduceLROnPlateau>(optim::ReduceLROnPlateau::min, 0.5, 1, 1e-4,
                                         optim::ReduceLROnPlateau::rel, 1)},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  if (std::string(argv[1]) == "rates") {
    optim::SGD optimizer({zeros({1}, TensorOptions())}, optim::SGDOptions(0.8));
    kSchedulers.at(argv[2])(optimizer, std::stoi(argv[3]), serialization::load(argv[4]), argv[5]);
  } else {
    train(argv[1], std::stoi(argv[2]), std::stoi(argv[3]), argv[4], argv[5]);
  }
  return 0;
}
