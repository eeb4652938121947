#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "aten/batching/batched_tensor.h"
#include "aten/dispatch/registration.h"

namespace tenon::batching {

/// A call of an operator with arguments that are batched at `level`, and at none above it.
class Call {
 public:
  Call(const OperatorEntry& op, const schema::FunctionSchema& schema, Value* arguments, Level level)
      : op_(op), schema_(schema), arguments_(arguments), level_(std::move(level)) {}

  const OperatorEntry& op() const { return op_; }
  const schema::FunctionSchema& schema() const { return schema_; }
  const Level& level() const { return level_; }
  int64_t batch() const { return level_->size; }
  size_t count() const { return schema_.args.size(); }
  Value& at(size_t i) const { return arguments_[i]; }
  /// The argument of this name, which the schema has.
  Value& operator[](std::string_view name) const { return arguments_[index(name)]; }
  size_t index(std::string_view name) const;
  bool has(std::string_view name) const;
  /// "sum" of "aten::sum.dim_IntList", for messages.
  std::string name() const;

  bool is_batched(const TensorBase& t) const { return is_batched_at(t, *level_); }
  bool is_batched(std::string_view name) const { return is_batched((*this)[name].to_tensor()); }
  Tensor tensor(std::string_view name) const { return Tensor((*this)[name].to_tensor()); }
  /// The value of a batched tensor, else the tensor itself.
  Tensor value(std::string_view name) const { return value(tensor(name)); }
  Tensor value(const Tensor& t) const { return is_batched(t) ? value_of(t) : t; }
  /// With the batch in front, batched or not; an undefined tensor stays one.
  Tensor in_front(std::string_view name) const { return in_front(tensor(name)); }
  Tensor in_front(const Tensor& t) const { return t.defined() ? batch_in_front(t, *level_) : t; }
  /// The value, with ones behind the batch up to `rank` dimensions of an example: so it broadcasts
  /// with others as its examples do.
  Tensor aligned(const Tensor& t, int64_t rank) const;
  /// The most dimensions that an example of an argument has.
  int64_t rank() const;

  int64_t integer(std::string_view name) const { return (*this)[name].to_int(); }
  /// The dimension of an example, wrapped, as one of the value: one more.
  int64_t dim(std::string_view name, int64_t rank) const {
    return wrap_dim(integer(name), rank) + 1;
  }
  std::vector<int64_t> dims(std::string_view name, int64_t rank) const;

  /// Calls the operator, or another one, with these arguments.
  std::vector<Value> call(std::vector<Value> arguments) const {
    return call(op_, std::move(arguments));
  }
  std::vector<Value> call(const OperatorEntry& op, std::vector<Value> arguments) const;
  /// A copy of the arguments.
  std::vector<Value> arguments() const {
    return std::vector<Value>(arguments_, arguments_ + count());
  }

 private:
  const OperatorEntry& op_;
  const schema::FunctionSchema& schema_;
  Value* arguments_;
  Level level_;
};

using Values = std::vector<Value>;
/// Gives the results with the batch in front of each.
using Rule = Values (*)(const Call& call);
/// The rule, with the operators that it calls at the levels below the call's.
template <Rule rule>
Values below(const Call& call) {
  const BelowLevel below(*call.level());
  return rule(call);
}

/// A rule by hand for the operator "aten::mm", null if there is none.
Rule find_rule(const std::string& qualified_name);
using RuleTable = std::unordered_map<std::string, Rule>;
/// The rules of each file.
void add_view_rules(RuleTable& table);
void add_product_rules(RuleTable& table);
void add_dimension_rules(RuleTable& table);
void add_index_rules(RuleTable& table);
void add_layer_rules(RuleTable& table);
void add_loss_rules(RuleTable& table);
void add_factory_rules(RuleTable& table);

// The rules that follow from what an entry says.
std::vector<Value> run_elements(const Call& call, const std::vector<std::string>& promoting);
struct RowNames {
  std::vector<std::string> dims, rows, columns;
};
std::vector<Value> run_rows(const Call& call, const RowNames& names);
/// Aligned, the dimensions of these names behind the batch, then the operator itself.
std::vector<Value> run_shifted(const Call& call, const std::vector<std::string>& dims);
/// Another operator with the same arguments, in front of all of which is the batch.
Values run_other(const Call& call, const OperatorEntry& other);
/// One example after another.
std::vector<Value> run_loop(const Call& call);

}  // namespace tenon::batching
