#include "autograd/function.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "autograd/forward_ad.h"
#include "autograd/generated_support.h"
#include "autograd/messages.h"
#include "autograd/view.h"
#include "tenon/ops/zeros.h"

namespace tenon::autograd {
namespace {

bool contains(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& other) { return other.is_same(t); });
}

}  // namespace

variable_list AutogradContext::get_saved_variables() const {
  variable_list tensors;
  tensors.reserve(saved_.size());
  for (const SavedVariable& s : saved_) tensors.push_back(s.unpack(*node_));
  return tensors;
}

bool AutogradContext::needs_input_grad(size_t i) const {
  return node_->task_should_compute_output(i);
}

/// The type's name without the scopes it is in.
std::string FunctionNode::function_name() const {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type_.name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? demangled : type_.name();
  std::free(demangled);
  size_t start = 0;
  int depth = 0;  // scopes inside template or function arguments are not the type's
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(') ++depth;
    if (text[i] == '>' || text[i] == ')') --depth;
    if (depth == 0 && text[i] == ':' && text[i + 1] == ':') start = i + 2;
  }
  return text.substr(start);
}

std::string FunctionNode::name() const { return function_name() + "Backward"; }

void FunctionNode::add_input(const Tensor& t) {
  is_tensor_.push_back(true);
  inputs_.push_back(t);
  add_edge(*this, t);
}

variable_list FunctionNode::apply(variable_list&& grads) {
  if (context_.materialize_grads_) {
    for (size_t i = 0; i < grads.size(); ++i) {
      const InputMetadata& like = input_metadata(i);
      if (grads[i].defined() || !like.defined()) continue;
      grads[i] = zeros(like.sizes(), TensorOptions().dtype(like.dtype()).device(like.device()));
    }
  }
  variable_list results = backward_(&context_, std::move(grads));
  const size_t expected = is_tensor_.size();
  while (results.size() > expected && !results.back().defined()) results.pop_back();
  TENON_CHECK(results.size() == expected, "function ", name(),
              " returned an incorrect number of gradients (expected ", expected, ", got ",
              results.size(), ")");
  variable_list grad_inputs;
  for (size_t i = 0; i < expected; ++i) {
    if (is_tensor_[i]) {
      grad_inputs.push_back(std::move(results[i]));
      continue;
    }
    TENON_CHECK(!results[i].defined(), "function ", name(),
                " returned a gradient different than None at position ", i + 1,
                ", but the corresponding forward input was not a Tensor");
  }
  return grad_inputs;
}

void FunctionNode::record_output(Tensor& output, size_t differentiable_outputs) {
  const bool is_input = contains(inputs_, output);
  const bool is_dirty = contains(context_.dirty_, output);
  const bool differentiable = recorded_ && is_differentiable(output.scalar_type()) &&
                              !contains(context_.non_differentiable_, output);
  if (is_input && !is_dirty) {
    // The caller's tensor keeps its own history.
    output = Tensor(make_view(output, output.sizes(), output.strides(), output.storage_offset()));
  }
  const auto node = IntrusivePtr<Node>::share(this);
  if (!differentiable) {
    add_input_metadata(Tensor());
    if (!is_dirty && needs_grad(output)) output = output.detach();
    return;
  }
  TensorImpl& impl = *output.unsafe_impl();
  if (is_input && is_dirty) {
    if (impl.base) {
      TENON_CHECK(differentiable_outputs == 1, messages::kDirtyViewOfSeveral,
                  differentiable_outputs);
      // The gradient of the base goes through the node in the place of its first input's.
      const auto place = std::find_if(inputs_.begin(), inputs_.end(),
                                      [&](const Tensor& t) { return t.is_same(output); });
      TENON_CHECK(place == inputs_.begin(), "[", function_name(),
                  "] an input that is a view of another tensor can be changed in place only as the "
                  "first tensor of forward, got tensor ",
                  place - inputs_.begin());
    }
    rebase_history(output, node);
    return;
  }
  set_history(output, node);
  if (impl.base) {
    impl.creation_meta =
        differentiable_outputs > 1 ? CreationMeta::MultiOutput : CreationMeta::CustomFunction;
  }
}

void FunctionNode::record(variable_list& outputs) {
  if (TENON_UNLIKELY(forward_ad::DualLevel::is_active())) {
    for (const Tensor& t : inputs_) {
      if (!t.defined() || !forward_ad::tangent_of(t).defined()) continue;
      tenon::detail::raise<NotImplementedError>(
          "Trying to use forward AD with ", function_name(),
          " that does not support it because a custom Function has no jvp");
    }
  }
  recorded_ = !InferenceMode::is_enabled() && compute_requires_grad(TensorList(inputs_));
  for (const Tensor& t : context_.dirty_) {
    TENON_CHECK(contains(inputs_, t), "[", function_name(),
                "] mark_dirty() takes inputs of forward only");
    TENON_CHECK(contains(outputs, t), messages::kDirtyNotReturned);
    t.unsafe_impl()->check_may_change();
    check_inplace(t, recorded_);
  }
  const variable_list returned = outputs;
  const size_t count = outputs.size();
  for (size_t i = 0; i < count; ++i) {
    // One tensor returned twice stays one tensor.
    size_t first = 0;
    while (!returned[first].is_same(returned[i])) ++first;
    if (!outputs[i].defined() || first < i) {
      add_input_metadata(Tensor());
      outputs[i] = outputs[first];
      continue;
    }
    record_output(outputs[i], count);
  }
  if (recorded_) save(outputs);
  context_.to_save_.clear();
  context_.dirty_.clear();
  context_.non_differentiable_.clear();
  inputs_.clear();
}

void FunctionNode::save(const variable_list& outputs) {
  for (const Tensor& t : context_.to_save_) {
    const AutogradMeta* meta = t.defined() ? t.unsafe_impl()->autograd_meta : nullptr;
    const bool own = meta && (meta->grad_fn.get() == this ||
                              (contains(context_.dirty_, t) && contains(outputs, t)));
    context_.saved_.push_back(own ? SavedVariable(t, *this) : SavedVariable(t));
  }
}

}  // namespace tenon::autograd
