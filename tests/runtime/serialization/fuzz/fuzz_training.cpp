// libFuzzer target: the parts of a training's checkpoint, past the archive's checksums. The first
// byte says what follows: bytes that should be a generator's state, or a byte that fills the
// storages and a pickle that should be an optimizer's state.
#include <cstring>

#include "runtime/optim/adam.h"
#include "runtime/optim/adamw.h"
#include "runtime/optim/sgd.h"
#include "runtime/serialization/training/optimizer_state.h"
#include "runtime/serialization/training/rng_state.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
#include "tests/runtime/serialization/fuzz/check.h"
#include "tests/runtime/serialization/fuzz/run_pickle.h"

using namespace tenon;
using namespace tenon::serialization;

namespace {

Tensor bytes_of(const std::string& text) {
  const Tensor bytes(empty({static_cast<int64_t>(text.size())}, kByte, kCPU));
  if (!text.empty()) std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  return bytes;
}

/// A state that is taken draws numbers; one that is not changes nothing.
void check_generator(const std::string& text) {
  const Tensor before = rng_state();
  try {
    set_rng_state(bytes_of(text));
  } catch (const Error&) {
    if (!(Value(rng_state()) == Value(before))) __builtin_trap();
    return;
  }
  randn({20}, TensorOptions(kFloat));
  set_rng_state(before);
}

template <class Optimizer>
void check_optimizer(const Value& state, Optimizer&& optimizer) {
  const Value before = optimizer_state_dict(optimizer);
  try {
    load_optimizer_state_dict(optimizer, state);
  } catch (const Error&) {
    if (!(optimizer_state_dict(optimizer) == before)) __builtin_trap();
    return;
  }
  // Whatever was taken is a state to go on from and to save.
  for (const Tensor& p : optimizer.param_groups()[0].params())
    p.mutable_grad() = ones({2}, TensorOptions(kFloat));
  try {
    optimizer.step();
  } catch (const Error&) {
    return;  // a learning rate below zero, say
  }
  check(optimizer_state_dict(optimizer));
}

std::vector<Tensor> parameters() {
  std::vector<Tensor> all;
  for (int i = 0; i < 2; ++i) all.push_back(ones({2}, TensorOptions(kFloat)).requires_grad_(true));
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string rest(reinterpret_cast<const char*>(data), size);
  if (data[0] % 4 == 0) {
    check_generator(rest.substr(1));
    return 0;
  }
  LoadOptions options;
  options.limits.budget = 16 << 20;
  Value value;
  try {
    value = run_pickle(rest.substr(2), Globals::Mode::PlainTypes, options, data[1]);
    const Value* state = value.is_dict() ? value.find("optimizer") : nullptr;
    if (!state) state = &value;
    if (data[0] % 4 == 1) check_optimizer(*state, optim::Adam(parameters()));
    if (data[0] % 4 == 2)
      check_optimizer(*state, optim::SGD(parameters(), optim::SGDOptions(0.1).momentum(0.9)));
    if (data[0] % 4 == 3) check_optimizer(*state, optim::AdamW(parameters()));
  } catch (const Error&) {
  }
  dispose(value);
  return 0;
}
