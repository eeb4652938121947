// Tensors that are made like a batched one, and random numbers.

#include "aten/batching/rules/random_calls.h"
#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/native_dropout.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/select.h"

namespace tenon::batching {
namespace {

/// Of the values: what is made is batched, so that it can be written to.
Values like(const Call& call) {
  Values arguments = call.arguments();
  arguments[0] = call.value("self");
  // The formats of images are those of as many dimensions as an example has.
  Value& format = arguments[call.index("memory_format")];
  if (!format.is_none() && format.to_enum<MemoryFormat>() > MemoryFormat::Preserve)
    format = Value();
  return call.call(std::move(arguments));
}

Values with_size(const Call& call) {
  Values arguments = call.arguments();
  arguments[0] = call.value("self");
  Value::Ints sizes = call["size"].to_ints();
  sizes.insert(sizes.begin(), call.batch());
  if (call.has("stride")) {
    Value::Ints strides = call["stride"].to_ints();
    int64_t extent = 1;
    for (size_t i = 0; i < strides.size(); ++i) extent += strides[i] * (sizes[i + 1] - 1);
    strides.insert(strides.begin(), extent);
    arguments[call.index("stride")] = strides;
  }
  arguments[call.index("size")] = sizes;
  return call.call(std::move(arguments));
}

/// The same numbers for all examples, or others.
Values random_like(const Call& call) {
  if (call.level()->randomness != BatchRandomness::Same) {
    check_randomness(call);
    return like(call);
  }
  Values arguments = call.arguments();
  arguments[0] = call.value("self").select(0, 0);
  Values results = call.call(std::move(arguments));
  results[0] = batch_in_front(Tensor(results[0].to_tensor()), *call.level());
  return results;
}

Values native_dropout_rule(const Call& call) {
  if (call.level()->randomness != BatchRandomness::Same) {
    check_randomness(call);
    Values arguments = call.arguments();
    arguments[0] = call.value("input");
    return call.call(std::move(arguments));
  }
  const Tensor input = call.value("input");
  Values arguments = call.arguments();
  arguments[0] = ones_like(input.select(0, 0).detach());
  Values results = call.call(std::move(arguments));
  const Tensor factor(results[0].to_tensor());
  return {input * factor, batch_in_front(Tensor(results[1].to_tensor()), *call.level())};
}

bool has_batched_parameters(const Call& call) {
  for (size_t i = 1; i < call.count(); ++i) {
    if (call.at(i).is_tensor() && call.is_batched(call.at(i).to_tensor())) return true;
  }
  return false;
}

/// Of the values, each of which is drawn from.
Values draw(const Call& call) {
  check_randomness(call);
  Values arguments = call.arguments();
  arguments[0] = call.value("self");
  return call.call(std::move(arguments));
}

/// The elements decide how many numbers are drawn.
Values draw_one_by_one(const Call& call) {
  check_randomness(call);
  return run_loop(call);
}

/// Drawn into the values.
Values draw_in_place(const Call& call) {
  if (call.level()->randomness == BatchRandomness::Same && !has_batched_parameters(call)) {
    // Drawn once, and copied to every example.
    Values arguments = call.arguments();
    const Tensor self = call.value("self");
    const Tensor drawn = self.detach().select(0, 0).clone();
    arguments[0] = drawn;
    call.call(std::move(arguments));
    Tensor(self).copy_(drawn);
    return {};
  }
  check_randomness(call);
  Values arguments = call.arguments();
  for (Value& argument : arguments) {
    if (argument.is_tensor())
      argument = call.aligned(Tensor(argument.to_tensor()), call.tensor("self").dim());
  }
  return call.call(std::move(arguments));
}

}  // namespace

void add_factory_rules(RuleTable& table) {
  for (const char* name : {"empty_like", "zeros_like", "ones_like", "full_like"})
    table.emplace(std::string("aten::") + name, below<like>);
  for (const char* name : {"new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros"})
    table.emplace(std::string("aten::") + name, below<with_size>);
  for (const char* name : {"rand_like", "randn_like", "randint_like", "randint_like.low_dtype"})
    table.emplace(std::string("aten::") + name, below<random_like>);
  for (const char* name :
       {"bernoulli_.Tensor", "bernoulli_.float", "normal_", "uniform_", "random_", "random_.from",
        "random_.to", "cauchy_", "exponential_", "geometric_", "log_normal_"})
    table.emplace(std::string("aten::") + name, below<draw_in_place>);
  for (const char* name : {"bernoulli", "bernoulli.p"})
    table.emplace(std::string("aten::") + name, below<draw>);
  table.emplace("aten::rrelu", draw_one_by_one);
  table.emplace("aten::native_dropout", below<native_dropout_rule>);
}

}  // namespace tenon::batching
