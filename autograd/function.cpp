#include "autograd/function.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "aten/dispatch/exclude_layers.h"
#include "autograd/forward/forward_ad.h"
#include "autograd/generated_support/generated_support.h"
#include "autograd/messages.h"
#include "autograd/views/view_history.h"
#include "tenon/ops/zeros.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {
namespace {

bool contains(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& other) { return other.is_same(t); });
}

}  // namespace

variable_list AutogradContext::get_saved_variables() const {
  if (in_jvp_) return for_forward_;
  variable_list tensors;
  tensors.reserve(saved_.size());
  // The function's own results have their history, also if backward() is not recorded: it may
  // differentiate them within.
  const AutoGradMode with_history(true);
  for (const SavedVariable& s : saved_) tensors.push_back(s.unpack(*node_));
  return tensors;
}

bool AutogradContext::needs_input_grad(size_t i) const {
  return node_->task_should_compute_output(i);
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [begin, end] : ranges) {
    for (size_t i = begin; i < end; ++i) {
      if (needs_input_grad(i)) return true;
    }
  }
  return false;
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
  TensorImpl& impl = *output.unsafe_impl();
  if (!differentiable) {
    add_input_metadata(output);
    // A view that forward made requires grad as its base does, like one that is made without
    // recording.
    if (!is_dirty && (is_input || !impl.base) && needs_grad(output)) output = output.detach();
    return;
  }
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

/// Of a tensor that is at an earlier place of the outputs, too.
void FunctionNode::record_again(const Tensor& output) {
  const AutogradMeta* meta = output.unsafe_impl()->autograd_meta;
  if (meta && meta->grad_fn.get() == this) {
    set_history(output, IntrusivePtr<Node>::share(this));
  } else {
    add_input_metadata(output);
  }
}

void FunctionNode::record(variable_list& outputs) {
  recorded_ = !InferenceMode::is_enabled() && compute_requires_grad(TensorList(inputs_));
  for (const Tensor& t : context_.dirty_) {
    TENON_CHECK(contains(inputs_, t), "[", function_name(),
                "] mark_dirty() takes inputs of forward only");
    TENON_CHECK(contains(outputs, t), messages::kDirtyNotReturned);
    t.unsafe_impl()->check_may_change();
    check_inplace(t, recorded_);
    if (!t.is_inference()) t.unsafe_impl()->bump_version();
  }
  const variable_list returned = outputs;
  const auto count = static_cast<size_t>(
      std::count_if(outputs.begin(), outputs.end(), [](const Tensor& t) { return t.defined(); }));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) {
      add_input_metadata(Tensor());
      continue;
    }
    // One tensor returned several times stays one tensor, whose gradient is that of the last place.
    const auto first =
        static_cast<size_t>(std::find_if(returned.begin(), returned.end(),
                                         [&](const Tensor& t) { return t.is_same(returned[i]); }) -
                            returned.begin());
    if (first < i) {
      outputs[i] = outputs[first];
      record_again(outputs[i]);
    } else {
      record_output(outputs[i], count);
    }
  }
  if (recorded_) save(outputs);
  if (TENON_UNLIKELY(forward_ad::DualLevel::is_active())) push_tangents(returned, outputs);
  context_.to_save_.clear();
  context_.for_forward_.clear();
  context_.dirty_.clear();
  context_.non_differentiable_.clear();
  inputs_.clear();
}

/// `tangent`: what jvp gave for an output that is an input, changed in place.
void FunctionNode::check_tangent_of_change(const Tensor& output, const Tensor& tangent,
                                           const variable_list& tangents,
                                           const std::vector<uint32_t>& versions) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].is_same(output)) continue;
    TENON_CHECK(tangents[i].unsafe_impl()->version() != versions[i], messages::kJvpNotInPlace);
    TENON_CHECK(tangent.is_same(tangents[i]), messages::kJvpNotAsIs);
  }
}

/// The same for an output that is a view: where it is one of an input that has a tangent, what jvp
/// gave must be a view of that.
void FunctionNode::check_tangent_of_view(const Tensor& output, const Tensor& tangent) const {
  const Tensor base = output._base();
  for (const Tensor& input : inputs_) {
    if (!input.defined() || !(input.is_view() ? input._base() : input).is_same(base)) continue;
    const Tensor of_input = forward_ad::tangent_of(input);
    if (!of_input.defined()) continue;
    TENON_CHECK(tangent.defined() && tangent.is_view(), messages::kJvpNoView);
    TENON_CHECK(tangent.is_alias_of(of_input), messages::kJvpViewOfAnother);
  }
}

/// Gives the outputs the tangents that jvp computes from those of the inputs.
/// `returned`: the outputs as forward gave them.
void FunctionNode::push_tangents(const variable_list& returned, const variable_list& outputs) {
  variable_list tangents, given;
  std::vector<uint32_t> versions;
  bool found = false;
  for (const Tensor& input : inputs_) {
    tangents.push_back(forward_ad::tangent_of(input));
    versions.push_back(tangents.back().defined() ? tangents.back().unsafe_impl()->version() : 0);
    found = found || tangents.back().defined();
  }
  if (!found) return;
  TENON_CHECK_AS(NotImplementedError, jvp_,
                 "You must implement the jvp function for custom autograd.Function to use it with "
                 "forward mode AD, got ",
                 function_name(), " without one");
  size_t at = 0;
  for (const bool is_tensor : is_tensor_) {
    const size_t i = at;
    at += is_tensor;
    const bool zero = is_tensor && !tangents[i].defined() && inputs_[i].defined() &&
                      context_.materialize_grads_ && is_differentiable(inputs_[i].scalar_type());
    given.push_back(zero ? zeros_like(inputs_[i].detach()) : is_tensor ? tangents[i] : Tensor());
  }
  variable_list results;
  {
    const forward_ad::SuspendedLevel level;
    struct InJvp {
      bool& flag;
      ~InJvp() { flag = false; }
    } const scope{context_.in_jvp_ = true};
    results = jvp_(&context_, std::move(given));
  }
  TENON_CHECK(results.size() == outputs.size(), "function ", function_name(),
              ": Function's jvp returned an invalid number of forward gradients (expected ",
              outputs.size(), " but got ", results.size(), ")");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    const bool differentiable = output.defined() && is_differentiable(output.scalar_type()) &&
                                !contains(context_.non_differentiable_, returned[i]);
    TENON_CHECK(differentiable || !results[i].defined(), "function ", function_name(),
                ": Function's jvp returned a gradient at position ", i,
                ", but the corresponding forward output is not a differentiable Tensor. You should "
                "return None at that position instead.");
    if (!differentiable) continue;
    if (results[i].defined()) forward_ad::check_tangent_sizes(output, results[i]);
    if (contains(context_.dirty_, returned[i])) {
      const Tensor before = forward_ad::tangent_of(output);
      if (before.defined()) {
        check_tangent_of_change(output, results[i], tangents, versions);
      } else {
        const ExcludeLayers below(DispatchLayer::ForwardGrad);
        forward_ad::write_tangent(output, before, results[i]);
      }
      continue;
    }
    if (output.is_view()) check_tangent_of_view(output, results[i]);
    if (results[i].defined()) forward_ad::set_tangent_of(output, results[i]);
  }
  if (recorded_) {
    forward_ad::set_tangents_of_saved_results(*this, {outputs.begin(), outputs.end()},
                                              {results.begin(), results.end()});
  }
}

void FunctionNode::save(const variable_list& outputs) {
  for (const Tensor& t : context_.to_save_) {
    const AutogradMeta* meta = t.defined() ? t.unsafe_impl()->autograd_meta.load() : nullptr;
    const bool own = meta && (meta->grad_fn.get() == this ||
                              (contains(context_.dirty_, t) && contains(outputs, t)));
    context_.saved_.push_back(own ? SavedVariable(t, *this) : SavedVariable(t));
  }
}

}  // namespace tenon::autograd
