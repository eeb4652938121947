// Trains a small network on device "toy" and on the CPU and compares the two.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "tenon/tenon.h"
#include "toy_device.h"

namespace {

struct Result {
  double first_loss, last_loss;
  std::vector<double> weights;
};

/// Learns y = sin(3 x) from 64 points with a hidden layer of 16.
Result train(const tenon::Device& device) {
  tenon::manual_seed(0);
  const tenon::Tensor x = tenon::linspace(-1, 1, 64).view({64, 1}).to(device);
  const tenon::Tensor y = (tenon::linspace(-1, 1, 64).view({64, 1}) * 3).sin().to(device);
  std::vector<tenon::Tensor> parameters = {
      (tenon::randn({1, 16}) * 2).to(device).requires_grad_(),
      tenon::zeros({16}).to(device).requires_grad_(),
      (tenon::randn({16, 1}) * 0.3).to(device).requires_grad_()};

  Result result{};
  constexpr int kSteps = 300;
  for (int step = 0; step < kSteps; ++step) {
    const tenon::Tensor hidden = tenon::tanh(x.mm(parameters[0]) + parameters[1]);
    const tenon::Tensor error = hidden.mm(parameters[2]) - y;
    const tenon::Tensor loss = (error * error).mean();
    loss.backward();
    const tenon::NoGradGuard no_grad;
    for (tenon::Tensor& p : parameters) {
      p.sub_(p.grad(), 0.1);
      p.mutable_grad().zero_();
    }
    if (step == 0) result.first_loss = loss.item<double>();
    if (step == kSteps - 1) result.last_loss = loss.item<double>();
  }
  for (const tenon::Tensor& p : parameters) {
    const tenon::Tensor host = p.detach().cpu().contiguous();
    const float* values = host.data_ptr<float>();
    result.weights.insert(result.weights.end(), values, values + host.numel());
  }
  return result;
}

}  // namespace

int main() try {
  toy::load();
  const tenon::Device device("toy:0");
  const Result on_toy = train(device), on_cpu = train(tenon::kCPU);
  double worst = 0;
  for (size_t i = 0; i < on_cpu.weights.size(); ++i) {
    worst = std::max(worst, std::abs(on_toy.weights[i] - on_cpu.weights[i]));
  }
  std::cout << "a tensor there: " << tenon::ones({2}, device) << '\n';
  std::printf("loss on %s: %.4f -> %.4f, on the CPU: %.4f -> %.4f\n", device.str().c_str(),
              on_toy.first_loss, on_toy.last_loss, on_cpu.first_loss, on_cpu.last_loss);
  const bool good = worst < 1e-3 && on_toy.last_loss < 0.1 * on_toy.first_loss;
  std::printf("kernels run on %s: %lld; largest difference of the weights %.1e  %s\n",
              device.str().c_str(), static_cast<long long>(toy::kernels_run()), worst,
              good ? "ok" : "WRONG");
  return good ? 0 : 1;
} catch (const tenon::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
