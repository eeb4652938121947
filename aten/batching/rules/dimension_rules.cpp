// Operators over all dimensions, along some, and of shapes, that their entries do not say.

#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/median.h"
#include "tenon/ops/nanmedian.h"
#include "tenon/ops/prod.h"
#include "tenon/ops/repeat.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/roll.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon::batching {
namespace {

Values along_dim(const Call& call) { return run_shifted(call, {"dim"}); }
/// An operator over all dimensions, by the one over these: `name` has a list of dimensions.
template <const char* const& name>
Values over_all(const Call& call) {
  static const OperatorEntry& op = get_operator(name);
  static const auto schema = schema_of(op);
  Values arguments;
  for (const auto& parameter : schema->args) {
    if (call.has(parameter.name)) {
      arguments.push_back(call[parameter.name]);
    } else if (parameter.type.is_list() || parameter.name == "dim") {
      arguments.push_back(Value::Ints{});
    } else {
      arguments.push_back(false);  // keepdim
    }
  }
  return run_shifted(Call(op, *schema, arguments.data(), call.level()), {"dim"});
}

constexpr const char* kSum = "aten::sum.dim_IntList";
constexpr const char* kMean = "aten::mean.dim";
constexpr const char* kAny = "aten::any.dims";
constexpr const char* kAll = "aten::all.dims";
constexpr const char* kAmax = "aten::amax";
constexpr const char* kAmin = "aten::amin";

/// The elements of each example, as [batch, elements].
Tensor elements(const Call& call) {
  const Tensor value = call.value("self");
  return call.tensor("self").dim() == 0 ? value.unsqueeze(1) : value.flatten(1);
}

Values prod_rule(const Call& call) {
  const Value& dtype = call["dtype"];
  return {elements(call).prod(
      1, false, dtype.is_none() ? std::nullopt : std::optional(dtype.to_enum<ScalarType>()))};
}
Values median_rule(const Call& call) { return {std::get<0>(elements(call).median(1))}; }
Values nanmedian_rule(const Call& call) { return {std::get<0>(elements(call).nanmedian(1))}; }

Values flip_rule(const Call& call) {
  if (call["dims"].to_ints().empty()) return {call.value("self").clone()};
  return run_shifted(call, {"dims"});
}

Values roll_rule(const Call& call) {
  if (!call["dims"].to_ints().empty()) return run_shifted(call, {"dims"});
  const Tensor value = call.value("self");
  return {elements(call).roll(call["shifts"].to_ints(), 1).reshape(value.sizes())};
}

Values repeat_rule(const Call& call) {
  const Value::Ints given = call["repeats"].to_ints();
  Value::Ints repeats(1, 1);
  repeats.insert(repeats.end(), given.begin(), given.end());
  const auto rank = static_cast<int64_t>(given.size());
  TENON_CHECK(rank >= call.tensor("self").dim(),
              "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
              "tensor");
  return {call.aligned(call.tensor("self"), rank).repeat(repeats)};
}

Values cat_rule(const Call& call) {
  Value::Tensors list = call["tensors"].to_tensors();
  int64_t rank = 0;
  for (const TensorBase& t : list) rank = std::max(rank, t.dim());
  // A tensor of size [0] goes with any others.
  if (rank > 1)
    std::erase_if(list, [](const TensorBase& t) { return t.dim() == 1 && t.numel() == 0; });
  for (TensorBase& t : list) t = call.in_front(Tensor(t));
  TENON_CHECK(rank > 0, "zero-dimensional tensor (at position 0) cannot be concatenated");
  return call.call({std::move(list), call.dim("dim", rank)});
}

constexpr const char* kInputSizes = "input_sizes";
/// An operator that puts a gradient into zeros of `input_sizes`.
template <const char* const& name>
Values into_sizes(const Call& call) {
  Values arguments = call.arguments();
  Value::Ints sizes = call[name].to_ints();
  const auto rank = static_cast<int64_t>(sizes.size());
  sizes.insert(sizes.begin(), call.batch());
  arguments[call.index(name)] = sizes;
  for (const char* dim : {"dim", "dim1", "dim2"}) {
    if (call.has(dim)) arguments[call.index(dim)] = call.dim(dim, rank);
  }
  arguments[0] = call.in_front(Tensor(arguments[0].to_tensor()));
  return call.call(std::move(arguments));
}

/// The same of unfold, which takes a tensor without dimensions.
Values unfold_backward_rule(const Call& call) {
  if (!call["input_sizes"].to_ints().empty()) return into_sizes<kInputSizes>(call);
  Values arguments = call.arguments();
  arguments[0] = call.in_front("grad_in").unsqueeze(1);
  arguments[1] = Value::Ints{call.batch(), 1};
  arguments[2] = 1;
  return {Tensor(call.call(std::move(arguments)).at(0).to_tensor()).reshape({call.batch()})};
}

/// Matrices and what goes with them, whose batches broadcast: `vectors` names those of one
/// dimension less.
Values of_matrices(const Call& call, std::string_view vectors) {
  Values arguments = call.arguments();
  const auto own = [&](size_t i) { return call.schema().args[i].name == vectors ? 1 : 2; };
  int64_t lead = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_tensor()) lead = std::max(lead, arguments[i].to_tensor().dim() - own(i));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_tensor()) continue;
    const Tensor front = call.in_front(Tensor(arguments[i].to_tensor()));
    DimVector sizes(front.sizes());
    while (static_cast<int64_t>(sizes.size()) < 1 + lead + own(i))
      sizes.insert(sizes.begin() + 1, 1);
    arguments[i] = front.reshape(sizes);
  }
  return call.call(std::move(arguments));
}

Values ldl_solve_rule(const Call& call) { return of_matrices(call, "pivots"); }

Values lstsq_rule(const Call& call) {
  const bool vectors = call.tensor("b").dim() < call.tensor("self").dim();
  return vectors ? run_loop(call) : of_matrices(call, "");
}

/// The tolerances are one for each matrix.
Values pinv_rule(const Call& call) {
  Values arguments = call.arguments();
  const Tensor self = call.in_front("self");
  arguments[0] = self;
  for (const char* name : {"atol", "rtol"}) {
    const Tensor t = call.tensor(name);
    if (t.defined()) arguments[call.index(name)] = call.aligned(t, self.dim() - 3);
  }
  return call.call(std::move(arguments));
}

}  // namespace

void add_dimension_rules(RuleTable& table) {
  for (const char* name : {"kthvalue", "median.dim", "nanmedian.dim", "cummax", "cummin"})
    table.emplace(std::string("aten::") + name, below<along_dim>);
  table.insert({
      {"aten::sum", below<over_all<kSum>>},
      {"aten::mean", below<over_all<kMean>>},
      {"aten::any", below<over_all<kAny>>},
      {"aten::all", below<over_all<kAll>>},
      {"aten::max", below<over_all<kAmax>>},
      {"aten::min", below<over_all<kAmin>>},
      {"aten::prod", below<prod_rule>},
      {"aten::median", below<median_rule>},
      {"aten::nanmedian", below<nanmedian_rule>},
      {"aten::flip", below<flip_rule>},
      {"aten::roll", below<roll_rule>},
      {"aten::repeat", below<repeat_rule>},
      {"aten::cat", below<cat_rule>},
      {"aten::select_backward", below<into_sizes<kInputSizes>>},
      {"aten::slice_backward", below<into_sizes<kInputSizes>>},
      {"aten::diagonal_backward", below<into_sizes<kInputSizes>>},
      {"aten::unfold_backward", below<unfold_backward_rule>},
      {"aten::linalg_ldl_solve", below<ldl_solve_rule>},
      {"aten::linalg_lstsq", below<lstsq_rule>},
      {"aten::linalg_pinv.atol_rtol_tensor", below<pinv_rule>},
  });
}

}  // namespace tenon::batching
