#include "autograd/autocast.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/kernel.h"
#include "aten/dispatch/registration.h"
#include "tenon/ops/to.h"

namespace tenon::autocast {
namespace {

enum class Policy {
  Shorter,      ///< to the device's dtype
  Float,        ///< to float32
  FloatResult,  ///< the same by `dtype=float32`, unless the caller gives a dtype
  Widest,       ///< to the widest dtype among the arguments
};

struct Rule {
  std::string_view name;
  std::optional<Policy> cpu, cuda;
};

constexpr auto kNothing = std::nullopt;
using enum Policy;
constexpr Rule kRules[] = {
    {"mm", Shorter, Shorter},
    {"bmm", Shorter, Shorter},
    {"addmm", Shorter, Shorter},
    {"baddbmm", Shorter, Shorter},
    {"mv", kNothing, Shorter},
    {"addbmm", Shorter, Shorter},
    {"linalg_vecdot", Shorter, Shorter},
    {"scaled_dot_product_attention", Shorter, Shorter},
    {"prelu", Shorter, Shorter},
    {"lstm", Shorter, kNothing},
    {"matmul", Shorter, Shorter},
    {"linear", Shorter, Shorter},
    {"convolution", Shorter, Shorter},
    {"conv1d", Shorter, Shorter},
    {"conv2d", Shorter, Shorter},
    {"conv3d", Shorter, Shorter},
    {"conv_transpose1d", Shorter, Shorter},
    {"conv_transpose2d", Shorter, Shorter},
    {"mse_loss", Float, Float},
    {"nll_loss", Float, Float},
    {"nll_loss_nd", Float, Float},
    {"cross_entropy_loss", Float, Float},
    {"l1_loss", Float, Float},
    {"smooth_l1_loss", Float, Float},
    {"huber_loss", Float, Float},
    {"binary_cross_entropy", Float, kNothing},
    {"binary_cross_entropy_with_logits", Float, Float},
    {"kl_div", Float, Float},
    {"poisson_nll_loss", Float, Float},
    {"hinge_embedding_loss", Float, Float},
    {"soft_margin_loss", Float, Float},
    {"multi_margin_loss", Float, Float},
    {"margin_ranking_loss", Float, Float},
    {"triplet_margin_loss", Float, Float},
    {"cosine_embedding_loss", Float, Float},
    {"cdist", Float, Float},
    {"trace", Float, kNothing},
    {"quantile", Float, kNothing},
    {"nanquantile", Float, kNothing},
    {"avg_pool3d", Float, kNothing},
    {"linalg_svd", Float, kNothing},
    {"_linalg_svd", Float, kNothing},
    {"geqrf", Float, kNothing},
    {"linalg_cond", Float, kNothing},
    {"linalg_eig", Float, kNothing},
    {"linalg_eigh", Float, kNothing},
    {"linalg_eigvals", Float, kNothing},
    {"linalg_eigvalsh", Float, kNothing},
    {"linalg_lstsq", Float, kNothing},
    {"linalg_matrix_rank", Float, kNothing},
    {"linalg_matrix_sqrth", Float, kNothing},
    {"linalg_qr", Float, kNothing},
    {"linalg_svdvals", Float, kNothing},
    {"linalg_tensorinv", Float, kNothing},
    {"linalg_tensorsolve", Float, kNothing},
    {"orgqr", Float, kNothing},
    {"ormqr", Float, kNothing},
    {"pinverse", Float, kNothing},
    {"svd", Float, kNothing},
    {"cosine_similarity", kNothing, Float},
    {"dist", kNothing, Float},
    {"group_norm", kNothing, Float},
    {"renorm", kNothing, Float},
    {"acos", kNothing, Float},
    {"asin", kNothing, Float},
    {"cosh", kNothing, Float},
    {"erfinv", kNothing, Float},
    {"exp", kNothing, Float},
    {"expm1", kNothing, Float},
    {"log", kNothing, Float},
    {"log10", kNothing, Float},
    {"log2", kNothing, Float},
    {"log1p", kNothing, Float},
    {"reciprocal", kNothing, Float},
    {"rsqrt", kNothing, Float},
    {"sinh", kNothing, Float},
    {"tan", kNothing, Float},
    {"pow", kNothing, Float},
    {"softplus", kNothing, Float},
    {"layer_norm", kNothing, Float},
    {"norm", kNothing, Float},
    {"logsumexp", kNothing, Float},
    {"prod", Float, FloatResult},
    {"softmax", kNothing, FloatResult},
    {"log_softmax", kNothing, FloatResult},
    {"cumsum", kNothing, FloatResult},
    {"cumprod", kNothing, FloatResult},
    {"sum", kNothing, FloatResult},
    {"cat", Widest, Widest},
    {"stack", Widest, Widest},
    {"addcdiv", kNothing, Widest},
    {"addcmul", kNothing, Widest},
    {"atan2", kNothing, Widest},
    {"dot", kNothing, Widest},
    {"bilinear", kNothing, Widest},
    {"cross", kNothing, Widest},
    {"index_put", kNothing, Widest},
    {"scatter_add", kNothing, Widest},
};

/// A leaf's cast, which is recorded once for all uses of the leaf.
struct CachedCast {
  Tensor leaf;  ///< keeps the key from being another tensor's
  Tensor cast;
  int64_t version;
};

struct Thread {
  AutocastState state;
  int depth = 0;
  std::unordered_map<const TensorImpl*, CachedCast> casts;
};

Thread& thread() {
  static thread_local Thread instance;
  return instance;
}

void apply(const AutocastState& state) {
  thread().state = state;
  const uint8_t bit = DispatchKeySet(DispatchLayer::Autocast).layers;
  uint8_t& enabled = thread_state.enabled_layers;
  enabled = static_cast<uint8_t>(state.cpu || state.cuda ? enabled | bit : enabled & ~bit);
  thread_state.refresh();
}

void check_device(DeviceType device) {
  TENON_CHECK_VALUE(device == kCPU || device == kCUDA,
                    "autocast: the device must be cpu or cuda, got ", Device(device));
}

bool is_eligible(const TensorBase& t, DeviceType device) {
  return t.defined() && t.device().type() == device && is_floating_point(t.scalar_type()) &&
         t.scalar_type() != kDouble;
}

ScalarType widest(const Stack& stack, size_t first, DeviceType device) {
  ScalarType found = dtype(device);
  const auto see = [&](const TensorBase& t) {
    if (is_eligible(t, device)) found = promote_types(found, t.scalar_type());
  };
  for (size_t i = first; i < stack.size(); ++i) {
    if (stack[i].is_tensor()) see(stack[i].to_tensor());
    if (!stack[i].is_tensor_list()) continue;
    for (const TensorBase& t : stack[i].to_tensors()) see(t);
  }
  return found;
}

void cast_arguments(Stack& stack, size_t first, ScalarType to, DeviceType device) {
  for (size_t i = first; i < stack.size(); ++i) {
    if (stack[i].is_tensor()) {
      stack[i] = Value(cached_cast(to, Tensor(stack[i].to_tensor()), device));
    } else if (stack[i].is_tensor_list()) {
      Value::Tensors list = stack[i].to_tensors();
      for (TensorBase& t : list) t = cached_cast(to, Tensor(t), device);
      stack[i] = Value(std::move(list));
    }
  }
}

/// Sets `dtype` to float32 where the first argument would be cast and the caller gives none.
void ask_for_float(const schema::FunctionSchema& schema, Stack& stack, size_t first,
                   DeviceType device) {
  if (!is_eligible(stack[first].to_tensor(), device)) return;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    Value& value = stack[first + i];
    if (schema.args[i].name == "dtype" && value.is_none()) value = Value(kFloat);
  }
}

void run(const Rule& rule, const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  const ExcludeLayers below(DispatchLayer::Autocast);
  const DeviceType device = keys.has(Backend::CUDA) ? kCUDA : kCPU;
  const std::optional<Policy> policy = device == kCUDA ? rule.cuda : rule.cpu;
  if (policy && is_enabled(device) && (keys.has(Backend::CUDA) || keys.has(Backend::CPU))) {
    const auto schema = schema_of(op);
    const size_t first = stack.size() - schema->args.size();
    switch (*policy) {
    case Shorter: cast_arguments(stack, first, dtype(device), device); break;
    case Float: cast_arguments(stack, first, kFloat, device); break;
    case FloatResult: ask_for_float(*schema, stack, first, device); break;
    case Widest: cast_arguments(stack, first, widest(stack, first, device), device); break;
    }
  }
  op.call_boxed(stack);
}

bool changes_arguments(const OperatorEntry& op) {
  const auto schema = schema_of(op);
  return std::any_of(schema->args.begin(), schema->args.end(),
                     [](const auto& argument) { return argument.is_mutable(); });
}

bool register_rules() {
  for (OperatorEntry* op : all_operators()) {
    const std::string name = op->qualified_name();
    if (!name.starts_with("aten::") || !op->boxed) continue;
    const std::string_view base = std::string_view(name).substr(6);
    const std::string_view stem = base.substr(0, base.find('.'));
    const auto rule = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const Rule& one) { return one.name == stem; });
    if (rule == std::end(kRules) || changes_arguments(*op)) continue;
    Kernel kernel;
    kernel.boxed = std::make_shared<const BoxedKernel>(
        [rule](const OperatorEntry& entry, DispatchKeySet keys, Stack& stack) {
          run(*rule, entry, keys, stack);
        });
    detail::add_kernel(*op, DispatchKey::Autocast, std::move(kernel), "autograd/autocast.cpp");
  }
  return true;
}

/// Registers the rules for what the library has, when autocast is first used: who does not use it
/// pays nothing.
void need_rules() {
  // No std::call_once: its variables are the C++ library's thread-local ones, which a program that
  // loads both later, as Python does, has no place for.
  [[maybe_unused]] static const bool registered = register_rules();
}

}  // namespace

bool is_enabled(DeviceType device) {
  const AutocastState& s = thread().state;
  return device == kCPU ? s.cpu : device == kCUDA && s.cuda;
}

ScalarType dtype(DeviceType device) {
  check_device(device);
  return device == kCPU ? thread().state.cpu_dtype : thread().state.cuda_dtype;
}

bool is_cache_enabled() { return thread().state.cache; }
void clear_cache() { thread().casts.clear(); }
AutocastState state() { return thread().state; }

AutocastGuard::AutocastGuard(DeviceType device, std::optional<ScalarType> dtype, bool enabled,
                             bool cache_enabled) {
  check_device(device);
  TENON_CHECK_VALUE(!dtype || *dtype == kBFloat16 || *dtype == kHalf,
                    "autocast: the dtype must be bfloat16 or float16, got ", *dtype);
  AutocastState state = autocast::state();
  (device == kCPU ? state.cpu : state.cuda) = enabled;
  if (dtype) (device == kCPU ? state.cpu_dtype : state.cuda_dtype) = *dtype;
  state.cache = cache_enabled;
  enter(state);
}

AutocastGuard::AutocastGuard(const AutocastState& state) { enter(state); }

void AutocastGuard::enter(const AutocastState& state) {
  if (state.cpu || state.cuda) need_rules();
  previous_ = autocast::state();
  ++thread().depth;
  apply(state);
}

AutocastGuard::~AutocastGuard() {
  apply(previous_);
  if (--thread().depth == 0) clear_cache();
}

Tensor cached_cast(ScalarType to, const Tensor& tensor, DeviceType device) {
  if (!is_eligible(tensor, device) || tensor.scalar_type() == to) return tensor;
  const bool keep = is_cache_enabled() && thread().depth > 0 && GradMode::is_enabled() &&
                    !InferenceMode::is_enabled() && !tensor.is_inference() &&
                    tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view() &&
                    tensor.scalar_type() == kFloat && to == dtype(device);
  const ExcludeLayers below(DispatchLayer::Autocast);
  if (!keep) return tensor.to(to);
  const int64_t version = tensor._version();
  CachedCast& cached = thread().casts[tensor.unsafe_impl()];
  if (!cached.cast.defined() || cached.version != version || cached.cast.scalar_type() != to) {
    cached = {tensor, tensor.to(to), version};
  }
  return cached.cast;
}

}  // namespace tenon::autocast
