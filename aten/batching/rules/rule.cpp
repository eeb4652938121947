#include "aten/batching/rules/rule.h"

#include "aten/core/error.h"
#include "tenon/ops/reshape.h"

namespace tenon::batching {

size_t Call::index(std::string_view name) const {
  for (size_t i = 0; i < schema_.args.size(); ++i) {
    if (schema_.args[i].name == name) return i;
  }
  TENON_ASSERT(false, op_.qualified_name(), " has no argument ", name);
}

bool Call::has(std::string_view name) const {
  for (const auto& argument : schema_.args) {
    if (argument.name == name) return true;
  }
  return false;
}

std::string Call::name() const {
  const std::string_view full = op_.info->name;
  return std::string(full.starts_with("aten::") ? full.substr(6) : full);
}

Tensor Call::aligned(const Tensor& t, int64_t rank) const {
  if (!t.defined() || !is_batched(t)) return t;
  Tensor value = value_of(t);
  const int64_t missing = rank - t.dim();
  if (missing <= 0) return value;
  DimVector sizes;
  sizes.push_back(value.size(0));
  for (int64_t i = 0; i < missing; ++i) sizes.push_back(1);
  for (const int64_t size : t.sizes()) sizes.push_back(size);
  return value.reshape(sizes);
}

int64_t Call::rank() const {
  int64_t rank = 0;
  for (size_t i = 0; i < count(); ++i) {
    if (arguments_[i].is_tensor()) rank = std::max(rank, arguments_[i].to_tensor().dim());
    if (arguments_[i].is_tensor_list()) {
      for (const TensorBase& t : arguments_[i].to_tensors())
        if (t.defined()) rank = std::max(rank, t.dim());
    }
  }
  return rank;
}

std::vector<int64_t> Call::dims(std::string_view name, int64_t rank) const {
  std::vector<int64_t> dims = (*this)[name].to_ints();
  for (int64_t& d : dims) d = wrap_dim(d, rank) + 1;
  return dims;
}

std::vector<Value> Call::call(const OperatorEntry& op, std::vector<Value> arguments) const {
  const BelowLevel below(*level_);
  op.call_boxed(arguments);
  return arguments;
}

Rule find_rule(const std::string& qualified_name) {
  static const RuleTable table = [] {
    RuleTable rules;
    add_view_rules(rules);
    add_product_rules(rules);
    add_dimension_rules(rules);
    add_index_rules(rules);
    add_layer_rules(rules);
    add_loss_rules(rules);
    add_factory_rules(rules);
    return rules;
  }();
  const auto found = table.find(qualified_name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tenon::batching
