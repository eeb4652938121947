#include "runtime/serialization/training/optimizer_state.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "aten/core/thread_state.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/full.h"
#include "tenon/ops/item.h"
#include "tenon/ops/to.h"

namespace tenon::serialization {
namespace {

using optim::Field;
using optim::Optimizer;
using optim::OptimizerOptions;
using optim::OptimizerParamGroup;
using optim::OptimizerParamState;

/// Whole numbers up to here are floats, and up to there doubles.
constexpr int64_t kLargestFloat = int64_t{1} << 24;
constexpr auto kLargestDouble = static_cast<double>(int64_t{1} << 53);

// ---- fields as values: nothing for what a state dict leaves out ----

using Written = std::optional<Value>;

Written value_of(const double& v, bool) { return Value(v); }
Written value_of(const bool& v, bool) { return Value(v); }
Written value_of(const std::tuple<double, double>& v, bool) {
  return Value::tuple({std::get<0>(v), std::get<1>(v)});
}
Written value_of(const std::optional<int64_t>& v, bool) { return v ? Value(*v) : Value(); }
Written value_of(const std::optional<std::string>& v, bool) { return v ? Value(*v) : Value(); }

Written value_of(const int64_t& v, bool is_step) {
  if (!is_step) return Value(v);
  return full({}, v, TensorOptions(v <= kLargestFloat ? kFloat : kDouble));
}

Written value_of(const Tensor& v, bool) { return v.defined() ? Written(Value(v)) : Written(); }

template <class List>
Value list_of(const List& tensors) {
  const Value list = Value::list();
  for (const Tensor& t : tensors) list.append(t.defined() ? Value(t) : Value());
  return list;
}

Written value_of(const std::deque<Tensor>& v, bool) { return list_of(v); }
/// Scratch, which each step fills anew.
Written value_of(const std::optional<std::vector<Tensor>>&, bool) { return std::nullopt; }

Value dict_of(const optim::Fields& fields) {
  const Value dict = Value::dict();
  for (const Field& field : fields) {
    const Written value =
        std::visit([&](auto* v) { return value_of(*v, field.name == "step"); }, field.value);
    if (value) dict.set_item(std::string(field.name), *value);
  }
  return dict;
}

// ---- values into fields ----

double number_of(const Value& value) {
  return value.is_tensor() ? value.to_tensor().item<double>() : value.to_double();
}

/// Reads what is kept of one parameter, or, without a parameter, options.
class FieldReader {
 public:
  FieldReader(const Value& dict, size_t place, const Tensor& p)
      : dict_(dict), place_(place), p_(p) {}

  void read(const Field& field) {
    const std::string name(field.name);
    const bool required = p_.defined() && (field.kind == Field::Kind::kNumber ||
                                           std::holds_alternative<int64_t*>(field.value));
    const Value* value = required ? &dict_.at(name) : dict_.find(name);
    if (!value) return;
    kind_ = field.kind;
    is_step_ = name == "step";
    std::visit([&](auto* v) { set(*v, *value); }, field.value);
  }

 private:
  void set(double& v, const Value& value) const { v = number_of(value); }
  void set(bool& v, const Value& value) const { v = value.to_bool(); }
  void set(std::tuple<double, double>& v, const Value& value) const {
    v = {number_of(value[0]), number_of(value[1])};
  }
  void set(std::optional<int64_t>& v, const Value& value) const {
    v = value.is_none() ? std::nullopt : std::optional<int64_t>(value.to_int());
  }
  void set(std::optional<std::string>& v, const Value& value) const {
    v = value.is_none() ? std::nullopt : std::optional<std::string>(value.to_string());
  }

  void set(int64_t& v, const Value& value) const {
    if (!is_step_) {
      v = value.to_int();
      return;
    }
    const double step = number_of(value);
    TENON_CHECK_VALUE(step >= 0 && step <= kLargestDouble && step == std::floor(step),
                      "[optim] a step must be a whole number from 0 to 2^53, got ", step);
    v = static_cast<int64_t>(step);
  }

  void set(Tensor& v, const Value& value) const {
    if (value.is_none()) return;
    const Tensor given =
        value.is_tensor() ? value.to_tensor() : full({}, value.to_double(), TensorOptions(kDouble));
    const bool is_moment = kind_ == Field::Kind::kMoment;
    TENON_CHECK_VALUE(!is_moment || given.sizes() == p_.sizes(), "[optim] the state of parameter ",
                      place_, " has shape ", given.sizes(), ", expected ", p_.sizes());
    v = is_moment ? empty_like(p_)
                  : empty_like(given, TensorOptions(p_.dtype()).device(p_.device()));
    v.copy_(given);
  }

  void set(std::deque<Tensor>& v, const Value& value) const {
    v.clear();
    for (const Value& item : value.items()) set(v.emplace_back(), item);
  }

  void set(std::optional<std::vector<Tensor>>&, const Value&) const {}

  const Value& dict_;
  const size_t place_;
  const Tensor p_;
  Field::Kind kind_ = Field::Kind::kOther;
  bool is_step_ = false;
};

// ---- groups and states ----

Value group_value(OptimizerParamGroup& group, size_t first) {
  const Value dict = dict_of(group.options().fields());
  const Value params = Value::list();
  for (size_t i = 0; i < group.params().size(); ++i) params.append(static_cast<int64_t>(first + i));
  dict.set_item("params", params);
  return dict;
}

std::unique_ptr<OptimizerOptions> options_of(const OptimizerParamGroup& group, const Value& dict) {
  std::unique_ptr<OptimizerOptions> options = group.options().clone();
  FieldReader reader(dict, 0, Tensor());
  for (const Field& field : options->fields()) reader.read(field);
  return options;
}

Optimizer::State states_of(const Optimizer& optimizer, const Value& state) {
  const Value& groups = state.at("param_groups");
  Optimizer::State states;
  size_t place = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Value& numbers = groups[g].at("params");
    const std::vector<Tensor>& params = optimizer.param_groups()[g].params();
    TENON_CHECK_VALUE(numbers.size() == params.size(), "[optim] expected ", params.size(),
                      " parameters in group ", g, ", got ", numbers.size());
    for (size_t i = 0; i < params.size(); ++i, ++place) {
      const Value* found = state.at("state").find(numbers[i]);
      if (!found) continue;
      std::unique_ptr<OptimizerParamState> kept = optimizer.new_state();
      FieldReader reader(*found, place, params[i]);
      for (const Field& field : kept->fields()) reader.read(field);
      states[params[i].unsafe_impl()] = std::move(kept);
    }
  }
  return states;
}

}  // namespace

Value optimizer_state_dict(Optimizer& optimizer) {
  const Value states = Value::dict(), groups = Value::list();
  size_t place = 0;
  for (OptimizerParamGroup& group : optimizer.param_groups()) {
    groups.append(group_value(group, place));
    for (const Tensor& p : group.params()) {
      const auto found = optimizer.state().find(p.unsafe_impl());
      if (found != optimizer.state().end()) {
        const Value kept = dict_of(found->second->fields());
        if (kept.size() > 0) states.set_item(static_cast<int64_t>(place), kept);
      }
      ++place;
    }
  }
  return Value::dict({{"state", states}, {"param_groups", groups}});
}

void load_optimizer_state_dict(Optimizer& optimizer, const Value& state) {
  NoGradGuard no_grad;
  const Value& groups = state.at("param_groups");
  std::vector<OptimizerParamGroup>& mine = optimizer.param_groups();
  TENON_CHECK_VALUE(groups.size() == mine.size(), "[optim] expected ", mine.size(),
                    " parameter groups, got ", groups.size());
  // All of it is read before any of it is taken.
  std::vector<std::unique_ptr<OptimizerOptions>> options;
  for (size_t g = 0; g < mine.size(); ++g) options.push_back(options_of(mine[g], groups[g]));
  Optimizer::State states = states_of(optimizer, state);
  for (size_t g = 0; g < mine.size(); ++g) mine[g].set_options(std::move(options[g]));
  optimizer.state() = std::move(states);
}

}  // namespace tenon::serialization
