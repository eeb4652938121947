#include "autograd/func.h"

#include <algorithm>

#include "aten/batching/batched_tensor.h"
#include "autograd/batched.h"
#include "autograd/forward/forward_ad.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::func::detail {
namespace {

using autograd::func::fresh_input;
using autograd::func::gradients;
using autograd::func::leave;

/// Until its end a level of this thread.
class LevelScope {
 public:
  LevelScope(int64_t size, BatchRandomness randomness) {
    batching::begin_level(size, randomness);
    level = batching::current_level();
  }
  ~LevelScope() { batching::end_level(); }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  batching::Level level;
};

void check_argnum(const char* name, size_t argnum, size_t count) {
  TENON_CHECK_INDEX(argnum < count, "[", name, "] the function has ", count,
                    " inputs, there is none of number ", argnum);
}

Tensor number_of(const char* name, const Tensors& results) {
  TENON_CHECK(results.size() == 1 && results[0].defined() && results[0].dim() == 0, "[", name,
              "] expected the function to return one tensor without dimensions, got ",
              results.size() == 1 && results[0].defined()
                  ? tenon::detail::concat("a tensor of shape ", results[0].sizes())
                  : tenon::detail::concat(results.size(), " results"));
  return results[0];
}

/// The rows of an identity, each as a tensor like `t`.
Tensor basis_of(const Tensor& t) {
  DimVector sizes;
  sizes.push_back(t.numel());
  for (const int64_t size : t.sizes()) sizes.push_back(size);
  return eye(t.numel(), t.options()).reshape(sizes);
}

DimVector joined(IntArrayRef a, IntArrayRef b) {
  DimVector sizes(a.begin(), a.end());
  for (const int64_t size : b) sizes.push_back(size);
  return sizes;
}

}  // namespace

Tensors vmap(const ListFunction& f, const Tensors& inputs, const VmapOptions& options) {
  auto in_dims = options.in_dims;
  if (in_dims.empty()) in_dims.assign(inputs.size(), 0);
  TENON_CHECK_VALUE(in_dims.size() == inputs.size(), "[vmap] in_dims has ", in_dims.size(),
                    " entries for ", inputs.size(), " inputs");
  std::optional<int64_t> size;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!in_dims[i]) continue;
    const int64_t rank = inputs[i].dim(), dim = *in_dims[i];
    TENON_CHECK_VALUE(dim >= -rank && dim < rank, "[vmap] in_dims[", i, "] is ", dim,
                      " for a tensor of ", rank, " dimensions");
    in_dims[i] = wrap_dim(dim, rank);
    const int64_t own = inputs[i].size(*in_dims[i]);
    TENON_CHECK_VALUE(!size || *size == own,
                      "vmap: Expected all tensors to have the same size in the mapped dimension, "
                      "got sizes ",
                      size.value_or(0), " and ", own, " for the mapped dimension");
    size = own;
  }
  TENON_CHECK_VALUE(size, "[vmap] no input is batched: in_dims names no dimension");
  const LevelScope scope(*size, options.randomness);
  Tensors examples;
  for (size_t i = 0; i < inputs.size(); ++i) {
    examples.push_back(in_dims[i] ? batching::add_batch_dim(inputs[i], *in_dims[i], scope.level)
                                  : inputs[i]);
  }
  Tensors results = f(examples);
  const std::vector<int64_t>& out = options.out_dims;
  TENON_CHECK_VALUE(out.size() == 1 || out.size() == results.size(), "[vmap] out_dims has ",
                    out.size(), " entries for ", results.size(), " results");
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = batching::remove_batch_dim(results[i], scope.level, out[out.size() == 1 ? 0 : i]);
  }
  return results;
}

std::pair<Tensors, Tensors> value_and_grads(const ListFunction& f, const Tensors& inputs,
                                            const std::vector<size_t>& argnums) {
  const AutoGradMode recorded(true);
  Tensors given = inputs, fresh;
  for (const size_t argnum : argnums) {
    check_argnum("grad", argnum, inputs.size());
    fresh.push_back(given[argnum] = fresh_input(inputs[argnum]));
  }
  const Tensor value = number_of("grad", f(given));
  return {leave({value}, fresh), gradients({value}, fresh, {}, {}, {})};
}

std::pair<Tensors, ListFunction> vjp(const ListFunction& f, const Tensors& inputs) {
  const AutoGradMode recorded(true);
  Tensors fresh;
  for (const Tensor& input : inputs) fresh.push_back(fresh_input(input));
  const Tensors results = f(fresh);
  return {leave(results, fresh), [results, fresh](const Tensors& cotangents) {
            TENON_CHECK(cotangents.size() == results.size(), "[vjp] expected ", results.size(),
                        " cotangents, got ", cotangents.size());
            return gradients(results, fresh, cotangents, {}, true);
          }};
}

std::pair<Tensors, Tensors> jvp(const ListFunction& f, const Tensors& primals,
                                const Tensors& tangents) {
  TENON_CHECK(primals.size() == tangents.size(), "[jvp] expected ", primals.size(),
              " tangents, one for each primal, got ", tangents.size());
  if (autograd::forward_ad::DualLevel::is_active()) {
    // Levels of forward mode do not nest: v -> v^T J is linear, and its own vjp gives J t.
    auto [values, product] = vjp(f, primals);
    Tensors zeros;
    for (const Tensor& value : values) zeros.push_back(zeros_like(value));
    auto [of_zeros, transposed] = vjp(product, zeros);
    return {std::move(values), transposed(tangents)};
  }
  const autograd::forward_ad::DualLevel level;
  Tensors duals;
  for (size_t i = 0; i < primals.size(); ++i) {
    duals.push_back(autograd::forward_ad::make_dual(batching::batched_everywhere(primals[i]),
                                                    batching::batched_everywhere(tangents[i])));
  }
  std::pair<Tensors, Tensors> results;
  for (const Tensor& result : f(duals)) {
    const auto [primal, tangent] = autograd::forward_ad::unpack_dual(result);
    results.first.push_back(primal);
    results.second.push_back(tangent.defined() ? tangent : zeros_like(primal));
  }
  return results;
}

Tensor jacrev(const ListFunction& f, const Tensors& inputs, size_t argnum) {
  check_argnum("jacrev", argnum, inputs.size());
  const AutoGradMode recorded(true);
  Tensors given = inputs;
  given[argnum] = fresh_input(inputs[argnum]);
  const Tensors results = f(given);
  TENON_CHECK(results.size() == 1, "[jacrev] expected the function to return one tensor, got ",
              results.size());
  const Tensors rows =
      vmap([&](const Tensors& v) { return gradients(results, {given[argnum]}, v, {}, true); },
           {basis_of(results[0])}, {});
  return rows[0].reshape(joined(results[0].sizes(), inputs[argnum].sizes()));
}

Tensor jacfwd(const ListFunction& f, const Tensors& inputs, size_t argnum) {
  check_argnum("jacfwd", argnum, inputs.size());
  const auto of_one = [&](const Tensors& input) {
    Tensors given = inputs;
    given[argnum] = input[0];
    return f(given);
  };
  const Tensors columns =
      vmap([&](const Tensors& tangent) { return jvp(of_one, {inputs[argnum]}, tangent).second; },
           {basis_of(inputs[argnum])}, VmapOptions{.out_dims = {-1}});
  TENON_CHECK(columns.size() == 1, "[jacfwd] expected the function to return one tensor, got ",
              columns.size());
  const IntArrayRef sizes = columns[0].sizes();
  return columns[0].reshape(joined(sizes.slice(0, sizes.size() - 1), inputs[argnum].sizes()));
}

}  // namespace tenon::func::detail
