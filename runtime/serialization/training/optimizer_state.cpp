#include "runtime/serialization/training/optimizer_state.h"

#include <map>
#include <optional>

#include "tenon/ops/full.h"
#include "tenon/ops/item.h"

namespace tenon::serialization {
namespace {

using optim::Optimizer;

/// Whole numbers up to here are floats.
constexpr int64_t kLargestFloat = int64_t{1} << 24;

std::string moment_name(const std::vector<std::string>& names, size_t i) {
  return i < names.size() ? names[i] : std::string("moment_").append(std::to_string(i));
}

Value state_value(const Optimizer::State& state, const std::vector<std::string>& names) {
  const ScalarType dtype = state.step <= kLargestFloat ? kFloat : kDouble;
  const Value value = Value::dict({{"step", full({}, state.step, TensorOptions(dtype))}});
  for (size_t i = 0; i < state.moments.size(); ++i)
    value.set_item(moment_name(names, i), state.moments[i]);
  return value;
}

int64_t step_of(const Value& state) {
  const Value* step = state.find("step");
  // PyTorch's SGD counts no steps: what it keeps means that there was one.
  if (!step) return 1;
  return step->is_tensor() ? step->to_tensor().item<int64_t>()
                           : static_cast<int64_t>(step->to_double());
}

Optimizer::State state_of(const Value& value, const std::vector<std::string>& names) {
  Optimizer::State state;
  state.step = step_of(value);
  for (size_t i = 0;; ++i) {
    const Value* moment = value.find(moment_name(names, i));
    if (!moment || moment->is_none()) return state;
    state.moments.push_back(moment->to_tensor());
  }
}

/// "betas.1" as "betas" and 1; other names as they are.
std::pair<std::string, std::optional<size_t>> split(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == name.npos) return {name, std::nullopt};
  return {name.substr(0, dot), std::stoul(name.substr(dot + 1))};
}

Value group_value(Optimizer& optimizer, size_t first, size_t count) {
  const Value group = Value::dict();
  std::map<std::string, Value::Items> tuples;
  for (const auto& [name, pointer] : optimizer.hyperparameters()) {
    const Value value = std::visit([](auto* p) { return Value(*p); }, pointer);
    const auto [key, index] = split(name);
    if (index) {
      tuples[key].push_back(value);
      group.set_item(key, Value::tuple(tuples[key]));
    } else {
      group.set_item(key, value);
    }
  }
  const Value params = Value::list();
  for (size_t i = first; i < first + count; ++i) params.append(static_cast<int64_t>(i));
  group.set_item("params", params);
  return group;
}

void set_hyperparameters(Optimizer& optimizer, const Value& group) {
  for (const auto& [name, pointer] : optimizer.hyperparameters()) {
    const auto [key, index] = split(name);
    const Value* found = group.find(key);
    if (!found) continue;
    const Value value = index ? (*found)[*index] : *found;
    if (auto* const* flag = std::get_if<bool*>(&pointer)) {
      **flag = value.to_bool();
    } else {
      *std::get<double*>(pointer) = value.to_double();
    }
  }
}

}  // namespace

Value optimizer_state_dict(Optimizer& optimizer) {
  const Value states = Value::dict(), groups = Value::list();
  const std::vector<std::string> names = optimizer.moment_names();
  int64_t i = 0;
  for (const optim::ParamGroup& group : optimizer.param_groups()) {
    groups.append(group_value(optimizer, static_cast<size_t>(i), group.params().size()));
    for (const Tensor& p : group.params()) {
      if (const Optimizer::State* state = optimizer.state_of(p))
        states.set_item(i, state_value(*state, names));
      ++i;
    }
  }
  return Value::dict({{"state", states}, {"param_groups", groups}});
}

void load_optimizer_state_dict(Optimizer& optimizer, const Value& state) {
  const Value& groups = state.at("param_groups");
  const size_t expected = optimizer.param_groups().size();
  TENON_CHECK_VALUE(groups.size() == expected, "[optim] expected ", expected,
                    " parameter groups, got ", groups.size());
  const std::vector<std::string> names = optimizer.moment_names();
  std::vector<Optimizer::State> states;
  for (size_t g = 0; g < expected; ++g) {
    const Value& params = groups[g].at("params");
    const size_t count = optimizer.param_groups()[g].params().size();
    TENON_CHECK_VALUE(params.size() == count, "[optim] expected ", count, " parameters in group ",
                      g, ", got ", params.size());
    for (size_t i = 0; i < count; ++i) {
      const Value* found = state.at("state").find(params[i]);
      states.push_back(found ? state_of(*found, names) : Optimizer::State());
    }
  }
  optimizer.set_states(states);
  if (expected > 0) set_hyperparameters(optimizer, groups[size_t{0}]);
}

}  // namespace tenon::serialization
