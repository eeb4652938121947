#pragma once

#include <functional>
#include <vector>

#include "aten/dispatch/value.h"
#include "codegen/schema/function_schema.h"
#include "tests/ops/cells.h"
#include "tests/ops/sample.h"

namespace tenon {
struct OperatorEntry;
}

namespace tenon::ops_test {

/// A sample's arguments in the order of its operator's schema, defaults filled in.
class Call {
 public:
  Call(const Sample& sample, const schema::FunctionSchema& schema);

  /// The defined tensors among the arguments, lists included, in order; a recipe for each.
  size_t num_tensors() const { return places_.size(); }
  const Recipe& recipe(size_t i) const { return recipes_[i]; }
  TensorBase tensor(size_t i) const;
  /// How many tensors self is: those of a list are the first.
  size_t num_selfs() const;
  void set_tensor(size_t i, const TensorBase& tensor);
  void set_argument(size_t i, Value value) { arguments_[i] = std::move(value); }
  /// The same call with every tensor replaced.
  Call mapped(const std::function<TensorBase(const TensorBase&)>& f) const;

  const Stack& arguments() const { return arguments_; }
  /// Seeds the generators as the sample says and calls the operator boxed.
  Stack run(const OperatorEntry& op) const;
  /// With more arguments behind: the tensors that an out form writes.
  Stack run(const OperatorEntry& op, const std::vector<TensorBase>& outs) const;

 private:
  Value parse(const YAML::Node& node, const schema::Type& type);
  Value parse_tensor(const YAML::Node& node);

  struct Place {
    size_t argument;
    int64_t element;  // of a list, else -1
  };
  std::string dtype_;
  int64_t seed_;
  Stack arguments_;
  std::vector<std::pair<size_t, uint64_t>> generators_;  // argument and seed
  std::vector<Place> places_;
  std::vector<Recipe> recipes_;
};

/// Arguments and behind them the tensors that an out form writes: one list where it writes a list.
Stack with_outs(Stack arguments, const OperatorEntry& out_form,
                const std::vector<TensorBase>& outs);

/// The tensors among results, lists flattened.
std::vector<TensorBase> tensors_of(const Stack& results);

}  // namespace tenon::ops_test
