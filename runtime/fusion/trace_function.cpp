#include "runtime/fusion/trace_function.h"

#include <algorithm>
#include <set>

#include "aten/dispatch/default_argument.h"
#include "runtime/fusion/composition_text.h"
#include "runtime/fusion/trace.h"
#include "tenon/ops/empty_strided.h"

namespace tenon::fusion {
namespace {

/// Operators whose results, or the shapes of these, depend on the elements.
bool reads_values(const FunctionSchema& schema) {
  static const std::set<std::string_view> names = {"item",       "_local_scalar_dense",
                                                   "equal",      "is_nonzero",
                                                   "nonzero",    "nonzero_numpy",
                                                   "argwhere",   "masked_select",
                                                   "allclose",   "unique_consecutive",
                                                   "_unique",    "_unique2",
                                                   "unique_dim", "bincount",
                                                   "to_sparse"};
  return names.contains(schema.name) || (schema.name == "where" && schema.args.size() == 1);
}

constinit thread_local bool tracing = false;

/// Whether the plain overload has a number in the place of a list: `var(x, {1})` means
/// `unbiased=true` for it. With all its arguments the call is of the other overload.
bool is_read_as_number(const FunctionSchema& schema, const std::vector<std::string>& arguments) {
  const OperatorEntry* const plain = find_operator("aten::" + schema.name, "");
  if (plain == nullptr || schema.overload.empty()) return false;
  const auto other = schema_of(*plain);
  for (size_t i = 0; i < std::min(arguments.size(), other->args.size()); ++i) {
    const schema::Type& type = other->args[i].type;
    using schema::BaseType;
    const bool is_number =
        !type.is_list() && (type.base == BaseType::kBool || type.base == BaseType::kInt ||
                            type.base == BaseType::kFloat || type.base == BaseType::kScalar);
    if (is_number && arguments[i].starts_with("{")) return true;
  }
  return false;
}

}  // namespace

Tensor on_meta(const TensorBase& t) {
  const auto options = TensorOptions().dtype(t.scalar_type()).device(kMeta);
  if (!t.has_storage())
    return tenon::empty_strided(t.sizes(), contiguous_strides(t.sizes()), options);
  return tenon::empty_strided(t.sizes(), t.strides(), options);
}

bool is_same_place(const TensorBase& a, const TensorBase& b) {
  return a.has_storage() && b.has_storage() && a.is_alias_of(b) && a.sizes() == b.sizes() &&
         a.strides() == b.strides() && a.storage_offset() == b.storage_offset() &&
         a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

Trace::Trace(const std::vector<Tensor>& inputs) {
  TENON_CHECK_TYPE(!inputs.empty(), "[fuse] a fused function takes tensors, got none");
  device_ = inputs[0].device();
  has_gradients_ = records_gradients(inputs);
  for (const Tensor& input : inputs) {
    inputs_.push_back(on_meta(input));
    know(inputs_.back(), {"a" + std::to_string(inputs_.size() - 1), false});
    fixed_.insert(inputs_.back().unsafe_impl());
    note_dtype(input);
  }
}

void Trace::know(const TensorBase& t, Written written) {
  kept_.push_back(t);
  sizes_[written.text] = t.sizes().vec();
  texts_[t.unsafe_impl()] = std::move(written);
}

void Trace::note_dtype(const TensorBase& t) {
  const ScalarType dtype = t.scalar_type();
  if (is_floating_point(dtype) && std::find(dtypes_.begin(), dtypes_.end(), dtype) == dtypes_.end())
    dtypes_.push_back(dtype);
}

std::string Trace::add_local(std::string text) {
  locals_.emplace_back("v" + std::to_string(locals_.size()), std::move(text));
  return locals_.back().first;
}

/// The tensor as this trace has it: a captured one on meta.
TensorBase Trace::traced(const TensorBase& t) {
  if (const auto found = stand_ins_.find(t.unsafe_impl()); found != stand_ins_.end())
    return found->second;
  if (!t.defined() || t.is_wrapped_number() || texts_.contains(t.unsafe_impl())) return t;
  for (const auto& [known, meta] : captured_) {
    if (known.is_same(t)) return meta;
  }
  if (t.is_meta()) {
    // x.detach() is no operator: it is another tensor in the same place.
    for (size_t i = kept_.size(); i-- > 0;) {
      const TensorBase& source = kept_[i];
      if (!is_same_place(source, t) || !texts_.contains(source.unsafe_impl())) continue;
      know(t, {add_local(texts_.at(source.unsafe_impl()).text + ".detach()"), false});
      return t;
    }
    tenon::detail::raise<Error>("[fuse] a tensor on meta has no values that a trace could read");
  }
  const Tensor meta = on_meta(t);
  know(meta, {"c" + std::to_string(captured_.size()), false});
  fixed_.insert(meta.unsafe_impl());
  if (t.dim() > 0) note_dtype(t);
  captured_.emplace_back(Tensor(t), meta);
  return meta;
}

std::string Trace::text_of(const TensorBase& t) {
  if (!t.defined()) return "{}";
  if (t.is_wrapped_number()) return number_text(wrapped_number(t), "Scalar");
  Written& written = texts_.at(t.unsafe_impl());
  if (written.is_hidden && !is_hidden() && is_differentiable(t.scalar_type()))
    written = {add_local(written.text + ".detach()"), false};
  sizes_[written.text] = t.sizes().vec();
  return written.text;
}

void Trace::replace_tensors(Value& value) {
  if (value.is_tensor()) value = Value(traced(value.to_tensor()));
  if (!value.is_tensor_list()) return;
  Value::Tensors list = value.to_tensors();
  for (TensorBase& one : list) one = traced(one);
  value = Value(std::move(list));
}

bool Trace::reads_traced(const Stack& stack, size_t first) const {
  const auto is_traced = [&](const TensorBase& t) {
    return t.defined() && !t.is_wrapped_number() && !constants_.contains(t.unsafe_impl());
  };
  return std::any_of(stack.begin() + static_cast<ptrdiff_t>(first), stack.end(),
                     [&](const Value& value) {
                       if (value.is_tensor()) return is_traced(value.to_tensor());
                       if (!value.is_tensor_list()) return false;
                       const auto& list = value.to_tensors();
                       return std::any_of(list.begin(), list.end(), is_traced);
                     });
}

std::string Trace::call_text(const OperatorEntry& op, const FunctionSchema& schema,
                             const Stack& stack, size_t first) {
  std::vector<std::string> arguments;
  size_t given = 0;  // without defaults at the end
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const schema::Argument& argument = schema.args[i];
    const Value& value = stack[first + i];
    const auto text = [&](const Value& one) {
      return value_text(one, argument.type, [&](const TensorBase& t) { return text_of(t); });
    };
    std::optional<std::string> written = text(value);
    TENON_CHECK(written, "[fuse] ", op.qualified_name(), ": argument '", argument.name,
                "' cannot be written in a composition, got a value of type ", value.type_name());
    const bool is_default =
        argument.default_value &&
        text(default_argument(*argument.default_value, argument.type)) == written;
    arguments.push_back(std::move(*written));
    if (!is_default) given = i + 1;
  }
  if (!is_read_as_number(schema, arguments)) arguments.resize(given);
  return operator_text(schema, arguments);
}

/// Of x.to(...), which stays on the device: whatever it was called with.
std::string Trace::conversion_text(const TensorBase& self, const TensorBase& made) {
  TENON_CHECK(made.is_meta(), "[fuse] aten::to copies to another device, ", made.device(),
              ": a fused function is of one");
  if (made.scalar_type() == self.scalar_type()) return "clone(" + text_of(self) + ")";
  return "to(" + text_of(self) + ", k" + to_string(made.scalar_type()) + ")";
}

void Trace::note_result(const TensorBase& result, const std::string& text) {
  note_dtype(result);
  know(result, {text, is_hidden()});
}

void Trace::note_results(const Stack& stack, size_t first, const FunctionSchema& schema,
                         const std::string& text) {
  const auto is_new = [&](const TensorBase& t) {
    return t.defined() && !texts_.contains(t.unsafe_impl());
  };
  const bool several = schema.returns.size() > 1;
  std::string local;
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const Value& value = stack[first + i];
    // A result that is an argument, as of x.to(x.dtype), has its text.
    if (value.is_tensor() && is_new(value.to_tensor())) {
      if (local.empty()) local = add_local(text);
      note_result(value.to_tensor(),
                  several ? add_local("std::get<" + std::to_string(i) + ">(" + local + ")")
                          : local);
    }
    if (!value.is_tensor_list()) continue;
    const Value::Tensors& list = value.to_tensors();
    for (size_t k = 0; k < list.size(); ++k) {
      if (is_new(list[k])) note_result(list[k], add_local(text + "[" + std::to_string(k) + "]"));
    }
  }
}

void Trace::check_is_alone(const OperatorEntry& op, const TensorBase& self) const {
  const bool has_views = std::any_of(kept_.begin(), kept_.end(), [&](const TensorBase& one) {
    return one.unsafe_impl() != self.unsafe_impl() && one.has_storage() && one.is_alias_of(self);
  });
  TENON_CHECK(!has_views, "[fuse] ", op.qualified_name(),
              " writes to a tensor that shares memory with another one, which a trace cannot have");
}

/// x.mul_(y) of a tensor that the function has made is x = x.mul(y).
void Trace::write(const OperatorEntry& op, const FunctionSchema& schema, const TensorBase& self,
                  Stack& stack, size_t first) {
  const std::string name = schema.is_dunder() ? "" : schema.base_name();
  const OperatorEntry* const functional = find_operator("aten::" + name, schema.overload);
  const bool one_result =
      schema.kind() == schema::SchemaKind::kInplace && functional && self.defined();
  TENON_CHECK(one_result, "[fuse] ", op.qualified_name(),
              " writes to a tensor: a fused function gives new ones");
  // A captured tensor has its text under that of its meta tensor.
  const TensorImpl* const impl = self.unsafe_impl();
  const bool is_own =
      constants_.contains(impl) || stand_ins_.contains(impl) || texts_.contains(impl);
  TENON_CHECK(is_own, "[fuse] ", op.qualified_name(), " writes to a tensor that is not recorded");
  check_is_alone(op, self);
  const auto of_functional = schema_of(*functional);
  TENON_CHECK(of_functional->args.size() == schema.args.size(), "[fuse] ", op.qualified_name(),
              " writes to a tensor: a fused function gives new ones");
  std::string text = call_text(*functional, *of_functional, stack, first);
  Stack copy(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
  functional->call_boxed(copy);
  const TensorBase made = copy.at(0).to_tensor();
  TENON_CHECK(made.sizes() == self.sizes(), "[fuse] ", op.qualified_name(),
              " writes a result of shape ", made.sizes(), " to a tensor of shape ", self.sizes());
  if (made.scalar_type() != self.scalar_type())
    text = "to(" + text + ", k" + to_string(self.scalar_type()) + ")";
  note_dtype(made);
  const Written written = {add_local(std::move(text)), is_hidden()};
  forget_views();
  sizes_[written.text] = self.sizes().vec();
  if (self.is_meta()) {
    texts_[impl] = written;
  } else {
    // A constant becomes what a tensor on meta stands for.
    constants_.erase(impl);
    know(stand_ins_[impl] = on_meta(self), written);
  }
  stack.resize(first);
  stack.emplace_back(self);
}

void Trace::call(const OperatorEntry& op, Stack& stack) {
  const auto schema = schema_of(op);
  const size_t first = stack.size() - schema->args.size();
  const bool gives_tensors =
      std::any_of(schema->returns.begin(), schema->returns.end(),
                  [](const schema::Return& one) { return one.type.holds_tensors(); });
  const bool is_traced = reads_traced(stack, first);
  for (size_t i = first; i < stack.size(); ++i) {
    // The function sees meta tensors: x.device is meta.
    const Device* const device = std::get_if<Device>(&stack[i].variant());
    if (device && *device == (is_traced ? device_ : Device(kMeta)))
      stack[i] = Value(is_traced ? Device(kMeta) : device_);
  }
  if (!is_traced) {
    TENON_CHECK(!op.info->batching || !std::string_view(op.info->batching).ends_with(" random"),
                "[fuse] ", op.qualified_name(),
                " draws numbers for no tensor, which would be the same in each call: use the form "
                "that takes a tensor, such as rand_like");
    op.call_boxed(stack);
    for (size_t i = first; i < stack.size(); ++i) {
      if (!stack[i].is_tensor()) continue;
      kept_.push_back(stack[i].to_tensor());
      constants_.insert(kept_.back().unsafe_impl());
    }
    return;
  }
  TENON_CHECK(!reads_values(*schema), "[fuse] ", op.qualified_name(),
              " depends on the values of a tensor, which a trace does not have");
  const bool writes = schema->has_mutable_arg();
  const TensorBase written =
      writes && stack[first].is_tensor() ? stack[first].to_tensor() : TensorBase();
  for (size_t i = first; i < stack.size(); ++i) replace_tensors(stack[i]);
  // A constant that the function has made is captured by now.
  const bool is_constant = written.defined() && constants_.contains(written.unsafe_impl());
  const bool is_step = !std::string_view(op.info->name).starts_with("aten::") ||
                       (!is_constant && writes_to_given(*schema, stack, first)) ||
                       !can_be_written(*schema, stack, first);
  if (is_step) return call_between(op, *schema, stack, first);
  if (writes) return write(op, *schema, written, stack, first);
  if (!gives_tensors) return op.call_boxed(stack);
  const TensorBase self = stack[first].is_tensor() ? stack[first].to_tensor() : TensorBase();
  if (schema->name == "to") {
    op.call_boxed(stack);
    return note_results(stack, first, *schema, conversion_text(self, stack[first].to_tensor()));
  }
  if (call_before_view(op, *schema, stack, first) || call_on_pieces(op, *schema, stack, first))
    return;
  const std::string text = call_text(op, *schema, stack, first);
  const Stack given(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
  op.call_boxed(stack);
  note_results(stack, first, *schema, text);
  note_views(op, *schema, given, stack[first]);
}

bool records_gradients(const std::vector<Tensor>& inputs) {
  return GradMode::is_enabled() && std::any_of(inputs.begin(), inputs.end(),
                                               [](const Tensor& t) { return t.requires_grad(); });
}

bool is_tracing() { return tracing; }

TracedFunction trace(const func::ListFunction& f, const std::vector<Tensor>& inputs) {
  Trace trace(inputs);
  std::vector<Tensor> results;
  {
    struct Tracing {
      Tracing() { tracing = true; }
      ~Tracing() { tracing = false; }
    } const scope;
    const OperatorModeGuard traced(trace);
    results = f(trace.inputs());
  }
  return trace.finish(results);
}

}  // namespace tenon::fusion
