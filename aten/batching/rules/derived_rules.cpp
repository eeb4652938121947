// The rules that follow from an entry: of elements, of rows, and of operators along dimensions.

#include <algorithm>

#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "aten/core/thread_state.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/to.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon::batching {
namespace {

/// bool, integers, floats, complex numbers.
int category(ScalarType type) {
  if (is_complex(type)) return 3;
  if (is_floating_point(type)) return 2;
  return type == kBool ? 0 : 1;
}

/// An example without dimensions gives way in dtype to those with dimensions, though its value has
/// one: what it would be cast to is done here.
void promote_as_examples(const Call& call, const std::vector<std::string>& promoting,
                         std::vector<Value>& arguments) {
  ScalarType common = ScalarType::Undefined;
  bool some_without = false;
  for (const std::string& name : promoting) {
    if (!call.has(name)) continue;
    const Tensor t = call.tensor(name);
    if (!t.defined()) continue;
    if (t.dim() == 0) {
      some_without |= call.is_batched(t);
    } else {
      common = common == ScalarType::Undefined ? t.scalar_type()
                                               : promote_types(common, t.scalar_type());
    }
  }
  if (!some_without || common == ScalarType::Undefined) return;
  for (const std::string& name : promoting) {
    if (!call.has(name)) continue;
    const Tensor t = call.tensor(name);
    if (!t.defined() || t.dim() > 0 || !call.is_batched(t) || t.scalar_type() == common) continue;
    if (category(t.scalar_type()) > category(common)) continue;
    Value& argument = arguments[call.index(name)];
    argument = Tensor(argument.to_tensor()).to(common);
  }
}

/// Of `promoting` tensors one without dimensions is as good as a batch of such.
std::vector<Value> aligned_arguments(const Call& call, const std::vector<std::string>& promoting) {
  std::vector<Value> arguments = call.arguments();
  const int64_t rank = call.rank();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_tensor()) continue;
    const Tensor t(arguments[i].to_tensor());
    if (call.is_batched(t)) {
      arguments[i] = call.aligned(t, rank);
    } else if (rank == 0 && !t.is_wrapped_number() &&
               std::find(promoting.begin(), promoting.end(), call.schema().args[i].name) !=
                   promoting.end()) {
      arguments[i] = t.reshape({1});
    }
  }
  return arguments;
}

}  // namespace

std::vector<Value> run_elements(const Call& call, const std::vector<std::string>& promoting) {
  const BelowLevel below(*call.level());
  std::vector<Value> arguments = aligned_arguments(call, promoting);
  promote_as_examples(call, promoting, arguments);
  return call.call(std::move(arguments));
}

std::vector<Value> run_shifted(const Call& call, const std::vector<std::string>& dims) {
  const BelowLevel below(*call.level());
  const int64_t rank = std::max<int64_t>(call.rank(), 1);
  const bool no_dims = call.rank() == 0;
  // gather and scatter take tensors without dimensions as ones of one element.
  const bool of_positions = call.has("index") && call["index"].is_tensor();
  std::vector<Value> arguments = call.arguments();
  for (Value& argument : arguments) {
    if (!argument.is_tensor()) continue;
    Tensor t = call.in_front(Tensor(argument.to_tensor()));
    if (t.dim() == 1 && (no_dims || of_positions)) t = t.unsqueeze(1);
    argument = t;
  }
  for (const std::string& name : dims) {
    Value& dim = arguments[call.index(name)];
    if (std::holds_alternative<int64_t>(dim.variant())) {
      dim = call.dim(name, rank);
    } else if (!dim.is_none() && !dim.to_ints().empty()) {
      dim = call.dims(name, rank);
    } else {
      Value::Ints all;
      for (int64_t d = 1; d <= rank; ++d) all.push_back(d);
      dim = std::move(all);
    }
  }
  std::vector<Value> results = call.call(std::move(arguments));
  // gather(self, 0, index) has the shape of the index, scatter that of self.
  const bool of_index = call.has("index") && !call.has("src") && !call.has("value");
  const bool drops =
      no_dims || (!of_index && call.at(0).is_tensor() && call.at(0).to_tensor().dim() == 0);
  if (!drops) return results;
  for (Value& result : results) {
    if (result.is_tensor()) result = Tensor(result.to_tensor()).reshape({call.batch()});
  }
  return results;
}

Values run_other(const Call& call, const OperatorEntry& other) {
  const BelowLevel below(*call.level());
  std::vector<Value> arguments = call.arguments();
  for (Value& argument : arguments) {
    if (argument.is_tensor()) {
      argument = call.in_front(Tensor(argument.to_tensor()));
    } else if (argument.is_tensor_list()) {
      Value::Tensors list = argument.to_tensors();
      for (TensorBase& t : list) t = call.in_front(Tensor(t));
      argument = std::move(list);
    }
  }
  return call.call(other, std::move(arguments));
}

std::vector<Value> run_rows(const Call& call, const RowNames& names) {
  const BelowLevel below(*call.level());
  const auto is = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const std::string& name : names.columns) {
    if (call.is_batched(name)) return run_loop(call);
  }
  const auto& parameters = call.schema().args;
  int64_t rank = 0;
  bool some_batched = false;
  for (size_t i = 0; i < call.count(); ++i) {
    if (!call.at(i).is_tensor() || is(names.rows, parameters[i].name) ||
        is(names.columns, parameters[i].name))
      continue;
    const Tensor t(call.at(i).to_tensor());
    rank = std::max(rank, t.dim());
    some_batched |= call.is_batched(t);
  }
  const bool no_dims = rank == 0;
  std::vector<Value> arguments = call.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = parameters[i].name;
    if (!arguments[i].is_tensor() || is(names.columns, name)) continue;
    const Tensor t(arguments[i].to_tensor());
    const bool row_value = is(names.rows, name);
    const bool in_front = row_value || !some_batched || t.dim() == rank;
    Tensor value = in_front ? call.in_front(t) : call.aligned(t, rank);
    if (no_dims && !row_value) value = value.unsqueeze(1);
    arguments[i] = value;
  }
  for (const std::string& name : names.dims) {
    Value& dim = arguments[call.index(name)];
    const int64_t of = std::max<int64_t>(rank, 1);
    if (dim.is_none()) continue;
    if (std::holds_alternative<int64_t>(dim.variant())) {
      dim = call.dim(name, of);
    } else {
      dim = call.dims(name, of);
    }
  }
  const uint8_t before = thread_state.batch_dims;
  thread_state.batch_dims = static_cast<uint8_t>(before + 1);
  std::vector<Value> results;
  try {
    results = call.call(std::move(arguments));
  } catch (...) {
    thread_state.batch_dims = before;
    throw;
  }
  thread_state.batch_dims = before;
  if (!no_dims) return results;
  for (Value& result : results) {
    if (result.is_tensor()) result = Tensor(result.to_tensor()).reshape({call.batch()});
  }
  return results;
}

}  // namespace tenon::batching
