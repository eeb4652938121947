#include "bindings/python/src/calls/shown_operators.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "aten/core/python_object.h"
#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/registration.h"
#include "aten/registration/library.h"
#include "bindings/python/src/calls/dispatch_arguments.h"

namespace tenon::python {
namespace {

/// An operator of Tenon's that PyTorch knows under another name.
struct ShownAs {
  const char* name;  ///< Tenon's, without "aten::"
  const char* base;  ///< PyTorch's
  const char* overload;
  /// A string argument that it has besides, and its value.
  const char* keyword = nullptr;
  const char* value = nullptr;
};

constexpr ShownAs kShownAs[] = {
    {"_clamp_Tensor_min_max", "clamp", "Tensor"},
    {"_clamp_Tensor_min_max_", "clamp_", "Tensor"},
    {"_clamp_min_max", "clamp", ""},
    {"_clamp_min_max_", "clamp_", ""},
    {"_gelu_none", "gelu", ""},
    {"_gelu_none_", "gelu_", ""},
    {"_gelu_tanh", "gelu", "", "approximate", "tanh"},
    {"_gelu_tanh_", "gelu_", "", "approximate", "tanh"},
    {"_huber_loss.reduced", "huber_loss", ""},
    {"_logsumexp", "logsumexp", ""},
    {"_mse_loss", "mse_loss", ""},
    {"_nan_to_num", "nan_to_num", ""},
    {"_smooth_l1_loss.reduced", "smooth_l1_loss", ""},
    {"_soft_margin_loss", "soft_margin_loss", ""},
    {"_trunc_divide", "div", "Tensor_mode", "rounding_mode", "trunc"},
    {"_trunc_divide.Scalar", "div", "Tensor_mode", "rounding_mode", "trunc"},
    {"add.Scalar", "add", "Tensor"},
    {"add_.Scalar", "add_", "Tensor"},
    {"div.Scalar", "div", "Tensor"},
    {"div_.Scalar", "div_", "Tensor"},
    {"mul.Scalar", "mul", "Tensor"},
    {"mul_.Scalar", "mul_", "Tensor"},
    {"sub.Scalar", "sub", "Tensor"},
    {"sub_.Scalar", "sub_", "Tensor"},
};

/// Made of operators in Tenon, operators of their own in PyTorch, without a derivative: factories
/// and what counts or compares. Their overloads too.
constexpr std::string_view kWithoutDerivative[] = {
    "_unique2",
    "allclose",
    "arange",
    "bartlett_window",
    "bincount",
    "blackman_window",
    "bucketize",
    "count_nonzero",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "eye",
    "full",
    "full_like",
    "hamming_window",
    "hann_window",
    "histogram",
    "isin",
    "isneginf",
    "isposinf",
    "kaiser_window",
    "linspace",
    "logspace",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "nonzero_static",
    "normal",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "scalar_tensor",
    "searchsorted",
    "tril_indices",
    "triu_indices",
    "unique_consecutive",
    "unique_dim",
    "view",
    "zeros",
    "zeros_like",
};

/// Operators of their own in Tenon, made of operators where Python takes their calls: by the kernel
/// that serves devices of other libraries.
constexpr std::string_view kComposed[] = {
    "_adadelta_step_",
    "_adagrad_step_",
    "_adamax_step_",
    "_asgd_step_",
    "_cross_entropy_loss",
    "_kl_div",
    "_kl_div_log_target",
    "_l1_loss",
    "_nadam_step_",
    "_radam_step_",
    "_rmsprop_step_",
    "_rprop_step_",
    "adam_step_",
    "linear",
    "linear_backward",
    "sgd_step_",
    "_margin_ranking_loss",
    "_hinge_embedding_loss",
    "_poisson_nll_loss.reduced",
    "_log_softmax_gradient",
    "_moments",
    "_prod_gradient",
    "_rms_norm",
    "_scale_rows",
    "_softmax_gradient",
    "_std",
    "_std_mean",
    "_var",
    "_var_gradient",
    "_var_mean",
};

/// The slot of devices of other libraries, whose kernels are made of operators.
constexpr int kComposedSlot = 1 + static_cast<int>(Backend::PrivateUse1);

std::string_view plain_name(const OperatorEntry& op) {
  const std::string_view name = op.info->name;
  return name.starts_with("aten::") ? name.substr(6) : std::string_view();
}

bool is_composed(const OperatorEntry& op) {
  const std::string full = op.qualified_name();
  const std::string_view name = std::string_view(full).substr(std::min<size_t>(6, full.size()));
  return std::find(std::begin(kComposed), std::end(kComposed), name) != std::end(kComposed) &&
         op.kernels()[kComposedSlot];
}

const ShownAs* shown_as(const OperatorEntry& op) {
  static const auto& table = *[] {
    auto* made = new std::unordered_map<std::string_view, const ShownAs*>;
    for (const ShownAs& one : kShownAs) made->emplace(one.name, &one);
    return made;
  }();
  const std::string full = op.qualified_name();
  if (!full.starts_with("aten::")) return nullptr;
  const auto found = table.find(std::string_view(full).substr(6));
  return found == table.end() ? nullptr : found->second;
}

/// aten::detach and aten::lift_fresh, which are methods and no operators in C++.
Tensor detach_kernel(const Tensor& self) { return Tensor(make_detached(self)); }
Tensor lift_fresh_kernel(const Tensor& self) { return self; }
Tensor detach_above(DispatchKeySet keys, const Tensor& self) {
  static const auto op = get_operator("aten::detach").typed<Tensor(const Tensor&)>();
  const ExcludeLayers exclude(DispatchLayer::Autograd);
  return op.redispatch(keys.remove(DispatchLayer::Autograd), self);
}

}  // namespace

bool shown_to_python(const OperatorEntry& op) {
  if (is_composed(op)) return false;
  const bool differentiated = op.layer_mask & tenon::detail::kAutogradBit;
  const char* batching = op.info->batching;
  if (differentiated || !batching) return true;
  const std::string_view rule = batching;
  if (!rule.empty() && rule != " random") return true;
  const std::string_view name = plain_name(op);
  return std::find(std::begin(kWithoutDerivative), std::end(kWithoutDerivative), name) !=
         std::end(kWithoutDerivative);
}

std::pair<std::string, std::string> shown_name(const OperatorEntry& op) {
  if (const ShownAs* as = shown_as(op)) return {std::string("aten::") + as->base, as->overload};
  return {op.info->name, op.info->overload};
}

void add_shown_arguments(const OperatorEntry& op, nb::dict& keywords) {
  const ShownAs* as = shown_as(op);
  if (as && as->keyword) keywords[as->keyword] = nb::str(as->value);
}

void define_shown_operators() {
  static const Library& library = *new Library([] {
    Library made("aten", Library::FRAGMENT);
    made.def("detach(Tensor(a) self) -> Tensor(a)")
        .def("lift_fresh(Tensor(a) self) -> Tensor(a)")
        .impl("detach", DispatchKey::CompositeExplicit, TENON_FN(detach_kernel))
        .impl("detach", DispatchKey::Autograd, TENON_FN(detach_above))
        .impl("lift_fresh", DispatchKey::CompositeExplicit, TENON_FN(lift_fresh_kernel));
    return made;
  }());
  static_cast<void>(library);
}

void compose_operators() {
  for (const std::string_view name : kComposed) {
    OperatorEntry* const op = find_operator(std::string("aten::").append(name));
    if (!op) continue;
    const AnyFunction made_of_operators = op->kernels()[kComposedSlot];
    if (!made_of_operators) continue;
    for (const DispatchKey key : {DispatchKey::Python, DispatchKey::PythonMode}) {
      Kernel kernel;
      kernel.direct = made_of_operators;
      tenon::detail::add_kernel(*op, key, std::move(kernel), __FILE__);
    }
  }
}

}  // namespace tenon::python
