#include "runtime/serialization/training/optimizer_state.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "tenon/ops/full.h"
#include "tenon/ops/item.h"

namespace tenon::serialization {
namespace {

using optim::Optimizer;

/// Whole numbers up to here are floats, and up to there doubles.
constexpr int64_t kLargestFloat = int64_t{1} << 24;
constexpr auto kLargestDouble = static_cast<double>(int64_t{1} << 53);

std::string moment_name(const std::vector<std::string>& names, size_t i) {
  return i < names.size() ? names[i] : std::string("moment_").append(std::to_string(i));
}

/// What an optimizer calls the parts of a state.
struct Names {
  std::vector<std::string> moments, numbers;
  explicit Names(const Optimizer& o) : moments(o.moment_names()), numbers(o.number_names()) {}
};

Value state_value(const Optimizer::State& state, const Names& names) {
  const ScalarType dtype = state.step <= kLargestFloat ? kFloat : kDouble;
  const Value value = Value::dict({{"step", full({}, state.step, TensorOptions(dtype))}});
  for (size_t i = 0; i < state.numbers.size(); ++i)
    value.set_item(names.numbers.at(i), full({}, state.numbers[i], TensorOptions(kDouble)));
  for (size_t i = 0; i < state.moments.size(); ++i)
    value.set_item(moment_name(names.moments, i), state.moments[i]);
  return value;
}

double number_of(const Value& value) {
  return value.is_tensor() ? value.to_tensor().item<double>() : value.to_double();
}

int64_t step_of(const Value& state) {
  const Value* found = state.find("step");
  // PyTorch's SGD counts no steps: what it keeps means that there was one.
  if (!found) return 1;
  const double step = number_of(*found);
  TENON_CHECK_VALUE(step >= 0 && step <= kLargestDouble && step == std::floor(step),
                    "[optim] a step must be a whole number from 0 to 2^53, got ", step);
  return static_cast<int64_t>(step);
}

Optimizer::State state_of(const Value& value, const Names& names) {
  Optimizer::State state;
  state.step = step_of(value);
  for (const std::string& name : names.numbers) state.numbers.push_back(number_of(value.at(name)));
  for (size_t i = 0;; ++i) {
    const Value* moment = value.find(moment_name(names.moments, i));
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

/// A hyperparameter and the value that it is going to have.
struct Assignment {
  std::variant<double*, bool*> place;
  double value;
};

std::vector<Assignment> assignments_of(Optimizer& optimizer, const Value& group) {
  std::vector<Assignment> all;
  for (const auto& [name, place] : optimizer.hyperparameters()) {
    const auto [key, index] = split(name);
    const Value* found = group.find(key);
    if (!found) continue;
    const Value value = index ? (*found)[*index] : *found;
    all.push_back(
        {place, std::holds_alternative<bool*>(place) ? value.to_bool() : value.to_double()});
  }
  return all;
}

/// The hyperparameter takes the value, which becomes what it was.
void exchange(Assignment& with) {
  if (auto* const* flag = std::get_if<bool*>(&with.place)) {
    with.value = std::exchange(**flag, with.value != 0);
  } else {
    std::swap(*std::get<double*>(with.place), with.value);
  }
}

std::vector<Optimizer::State> states_of(const Optimizer& optimizer, const Value& state) {
  const Value& groups = state.at("param_groups");
  const Names names(optimizer);
  std::vector<Optimizer::State> states;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Value& params = groups[g].at("params");
    const size_t count = optimizer.param_groups()[g].params().size();
    TENON_CHECK_VALUE(params.size() == count, "[optim] expected ", count, " parameters in group ",
                      g, ", got ", params.size());
    for (size_t i = 0; i < count; ++i) {
      const Value* found = state.at("state").find(params[i]);
      states.push_back(found ? state_of(*found, names) : Optimizer::State());
    }
  }
  return states;
}

}  // namespace

Value optimizer_state_dict(Optimizer& optimizer) {
  const Value states = Value::dict(), groups = Value::list();
  const Names names(optimizer);
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
  std::vector<Assignment> assignments =
      assignments_of(optimizer, expected > 0 ? groups[size_t{0}] : Value::dict());
  // First, since which moments there are may depend on them; back where the states do not fit.
  for (Assignment& assignment : assignments) exchange(assignment);
  try {
    optimizer.set_states(states_of(optimizer, state));
  } catch (...) {
    for (Assignment& assignment : assignments) exchange(assignment);
    throw;
  }
}

}  // namespace tenon::serialization
