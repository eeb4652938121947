// Functions as compositions and the operators between them.

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "aten/dispatch/load_library.h"
#include "runtime/fusion/build.h"
#include "runtime/fusion/composition_text.h"
#include "runtime/fusion/trace.h"

namespace tenon::fusion {
namespace {

/// Operators that update running statistics without a sign of it in their schema.
bool updates_statistics(const FunctionSchema& schema, const Stack& stack, size_t first) {
  constexpr std::array<std::string_view, 3> kNames = {"batch_norm", "native_batch_norm",
                                                      "instance_norm"};
  if (std::find(kNames.begin(), kNames.end(), schema.name) == kNames.end()) return false;
  bool has_statistics = false, trains = false;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const std::string& name = schema.args[i].name;
    const Value& value = stack[first + i];
    if (name.starts_with("running_")) has_statistics |= value.is_tensor();
    if (name == "training" || name == "use_input_stats") trains = value.to_bool();
  }
  return has_statistics && trains;
}

bool is_complex_number(const TensorBase& t) {
  return t.defined() && t.is_wrapped_number() && is_complex(t.scalar_type());
}

/// Calls f with each tensor of a value.
template <class F>
void for_tensors(const Value& value, const F& f) {
  if (value.is_tensor()) f(value.to_tensor());
  if (!value.is_tensor_list()) return;
  for (const TensorBase& one : value.to_tensors()) {
    if (one.defined()) f(one);
  }
}

/// The value with these tensors in the place of its own, `next` of which have been taken.
Value with_tensors(const Value& value, const func::Tensors& tensors, size_t& next) {
  const auto changed = [&](const TensorBase& t) -> TensorBase {
    return !t.defined() || t.is_wrapped_number() ? t : TensorBase(tensors[next++]);
  };
  if (value.is_tensor()) return Value(changed(value.to_tensor()));
  if (!value.is_tensor_list()) return value;
  Value::Tensors list = value.to_tensors();
  for (TensorBase& one : list) one = changed(one);
  return Value(std::move(list));
}

}  // namespace

bool can_be_written(const FunctionSchema& schema, const Stack& stack, size_t first) {
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const Value& value = stack[first + i];
    bool fits = true;
    for_tensors(value, [&](const TensorBase& t) { fits &= !is_complex_number(t); });
    const auto is_number = [&](const Scalar& one) { return !one.is_complex(); };
    if (const Scalar* one = std::get_if<Scalar>(&value.variant())) fits &= is_number(*one);
    if (const auto* all = std::get_if<Value::Scalars>(&value.variant()))
      fits &= std::all_of(all->begin(), all->end(), is_number);
    const auto no_text = [](const TensorBase&) { return std::string(); };
    if (!fits || !value_text(value, schema.args[i].type, no_text)) return false;
  }
  return true;
}

bool Trace::writes_to_given(const FunctionSchema& schema, const Stack& stack, size_t first) const {
  if (updates_statistics(schema, stack, first)) return true;
  bool found = false;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (!schema.args[i].is_mutable()) continue;
    for_tensors(stack[first + i],
                [&](const TensorBase& t) { found |= fixed_.contains(t.unsafe_impl()); });
  }
  return found;
}

/// The tensor's text, which is a name.
std::string Trace::name_of(const TensorBase& t) {
  std::string text = text_of(t);
  if (sizes_.contains(text)) return text;
  text = add_local(std::move(text));
  sizes_[text] = t.sizes().vec();
  return text;
}

void Trace::call_between(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack,
                         size_t first) {
  Between made;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const bool writes = schema.args[i].is_mutable();
    for_tensors(stack[first + i], [&](const TensorBase& t) {
      if (t.is_wrapped_number()) return;
      if (writes) check_is_alone(op, t);
      made.arguments.push_back(name_of(t));
    });
  }
  made.num_locals = locals_.size();
  made.step.op = &op;
  made.step.arguments.assign(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
  made.step.records_gradients = !is_hidden();
  for (Value& value : made.step.arguments) {
    const Device* const device = std::get_if<Device>(&value.variant());
    if (device && device->is_meta()) value = Value(device_);
  }
  op.call_boxed(stack);
  forget_views();
  for (size_t i = first; i < stack.size(); ++i) {
    for_tensors(stack[i], [&](const TensorBase& t) {
      made.results.push_back("w" + std::to_string(between_.size()) + "_" +
                             std::to_string(made.results.size()));
      // A result that is an argument has its text.
      if (!texts_.contains(t.unsafe_impl())) note_result(t, made.results.back());
    });
  }
  made.step.num_results = made.results.size();
  between_.push_back(std::move(made));
}

/// Of the locals [begin, end): `arguments` gets the names of its tensors.
TracedStep Trace::composition(const std::vector<std::string>& results, size_t begin, size_t end,
                              std::vector<std::string>& arguments) const {
  std::string last;
  for (const std::string& one : results) last += (last.empty() ? "" : ", ") + one;
  if (results.size() > 1) last = "std::make_tuple(" + last + ")";
  const std::vector<std::pair<std::string, std::string>> own(
      locals_.begin() + static_cast<ptrdiff_t>(begin),
      locals_.begin() + static_cast<ptrdiff_t>(end));
  const Lines lines = needed_lines(own, last);
  std::vector<Argument> schema;
  const auto add = [&](const std::string& name) {
    if (!lines.names.contains(name)) return;
    arguments.push_back(name);
    schema.push_back({name, sizes_.at(name)});
  };
  for (size_t i = 0; i < inputs_.size(); ++i) add("a" + std::to_string(i));
  for (size_t i = 0; i < captured_.size(); ++i) add("c" + std::to_string(i));
  for (size_t i = 0; i < begin; ++i) {
    if (sizes_.contains(locals_[i].first)) add(locals_[i].first);
  }
  for (const Between& one : between_) {
    for (const std::string& name : one.results) {
      if (sizes_.contains(name)) add(name);
    }
  }
  TENON_CHECK(!schema.empty(), "[fuse] the results depend on no tensor");
  TracedStep made;
  made.num_results = results.size();
  std::tie(made.operator_name, made.yaml) = entry_text(schema, lines, results.size(), dtypes_);
  return made;
}

TracedFunction Trace::finish(const std::vector<Tensor>& results) {
  TENON_CHECK_TYPE(!results.empty(), "[fuse] a fused function gives a tensor or several, got none");
  std::vector<std::string> texts;
  for (const Tensor& result : results) {
    TENON_CHECK_TYPE(result.defined(),
                     "[fuse] a fused function gives tensors, got an undefined one");
    texts.push_back(between_.empty() ? text_of(traced(result)) : name_of(traced(result)));
  }
  // From the last step backwards, each gives what later ones read.
  struct Named {
    TracedStep step;
    std::vector<std::string> arguments, results;
  };
  std::vector<Named> steps;
  std::set<std::string> needed(texts.begin(), texts.end());
  for (size_t s = between_.size() + 1; s-- > 0;) {
    const size_t begin = s == 0 ? 0 : between_[s - 1].num_locals;
    const size_t end = s == between_.size() ? locals_.size() : between_[s].num_locals;
    Named made;
    for (size_t i = begin; i < end; ++i) {
      if (needed.contains(locals_[i].first)) made.results.push_back(locals_[i].first);
    }
    if (between_.empty()) made.results = texts;
    if (!made.results.empty()) {
      made.step = composition(made.results, begin, end, made.arguments);
      needed.insert(made.arguments.begin(), made.arguments.end());
      steps.push_back(std::move(made));
    }
    if (s == 0) break;
    const Between& before = between_[s - 1];
    needed.insert(before.arguments.begin(), before.arguments.end());
    steps.push_back({before.step, before.arguments, before.results});
  }
  std::reverse(steps.begin(), steps.end());
  TracedFunction made;
  made.dtypes = dtypes_;
  made.num_inputs = inputs_.size();
  made.records_gradients = has_gradients_;
  made.depends_on_gradients = depends_on_gradients_;
  std::map<std::string, size_t> numbers;
  const auto number = [&](const std::string& name) {
    return numbers.emplace(name, numbers.size());
  };
  for (size_t i = 0; i < inputs_.size(); ++i) number("a" + std::to_string(i));
  for (size_t i = 0; i < captured_.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    if (!needed.contains(name)) continue;
    number(name);
    made.captured.push_back(captured_[i].first);
  }
  for (size_t s = 0; s < steps.size(); ++s) {
    Named& one = steps[s];
    for (const std::string& name : one.arguments) one.step.inputs.push_back(numbers.at(name));
    // The results of one composition have no names of their own.
    for (size_t i = 0; i < one.results.size(); ++i)
      number(between_.empty() ? "result" + std::to_string(i) : one.results[i]);
    made.steps.push_back(std::move(one.step));
  }
  for (size_t i = 0; i < texts.size(); ++i)
    made.results.push_back(numbers.at(between_.empty() ? "result" + std::to_string(i) : texts[i]));
  return made;
}

bool TracedFunction::is_one_operator() const {
  return steps.size() == 1 && !steps[0].yaml.empty() && steps[0].num_results == results.size() &&
         std::is_sorted(results.begin(), results.end()) &&
         results.front() == num_inputs + captured.size();
}

void build(TracedFunction& traced, const std::string& python) {
  for (TracedStep& step : traced.steps) {
    if (step.yaml.empty()) continue;
    load_library(build_library(step.yaml, traced.dtypes, python), SameName::Replace);
    step.op = &get_operator(step.operator_name);
  }
}

func::Tensors run(const TracedFunction& traced, const func::Tensors& inputs,
                  const func::Tensors& captured) {
  func::Tensors all = inputs;
  all.insert(all.end(), captured.begin(), captured.end());
  for (const TracedStep& step : traced.steps) {
    func::Tensors given;
    for (const size_t i : step.inputs) given.push_back(all[i]);
    Stack stack;
    if (!step.yaml.empty()) {
      for (Tensor& one : given) stack.emplace_back(std::move(one));
      step.op->call_boxed(stack);
    } else {
      size_t next = 0;
      for (const Value& value : step.arguments) stack.push_back(with_tensors(value, given, next));
      const AutoGradMode mode(GradMode::is_enabled() && step.records_gradients);
      step.op->call_boxed(stack);
    }
    const size_t before = all.size();
    for (const Value& value : stack)
      for_tensors(value, [&](const TensorBase& t) { all.emplace_back(t); });
    TENON_CHECK(all.size() - before == step.num_results, "[fuse] ", step.op->qualified_name(),
                " gives ", all.size() - before, " tensors, and gave ", step.num_results,
                " when the function was traced");
  }
  func::Tensors results;
  for (const size_t i : traced.results) results.push_back(all[i]);
  return results;
}

}  // namespace tenon::fusion
