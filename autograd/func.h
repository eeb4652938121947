#pragma once

#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "aten/batching/batch.h"
#include "tenon/tensor.h"

/// Functions of functions: vmap, derivatives, Jacobians. docs/transforms.md.
///
///     auto loss = [&](const Tensor& weight, const Tensor& x) { return (x.matmul(weight)).sum(); };
///     // The gradient of each example:
///     Tensor grads = func::vmap(func::grad(loss), {.in_dims = {std::nullopt, 0}})(weight, xs);
///
/// A function takes tensors and returns a Tensor, a std::tuple of them or a std::vector<Tensor>.
/// Transforms nest in any order.
namespace tenon::func {

using Tensors = std::vector<Tensor>;
using ListFunction = std::function<Tensors(const Tensors&)>;

struct VmapOptions {
  /// For each input the dimension of the batch, none for one that all examples share; empty: 0 for
  /// all inputs.
  std::vector<std::optional<int64_t>> in_dims = {};
  /// For each result the dimension that the batch gets; one number: of all results.
  std::vector<int64_t> out_dims = {0};
  /// What random operators do. Error: they raise an error.
  BatchRandomness randomness = BatchRandomness::Error;
};

namespace detail {

TENON_API Tensors vmap(const ListFunction& f, const Tensors& inputs, const VmapOptions& options);
TENON_API std::pair<Tensors, Tensors> value_and_grads(const ListFunction& f, const Tensors& inputs,
                                                      const std::vector<size_t>& argnums);
TENON_API std::pair<Tensors, ListFunction> vjp(const ListFunction& f, const Tensors& inputs);
TENON_API std::pair<Tensors, Tensors> jvp(const ListFunction& f, const Tensors& primals,
                                          const Tensors& tangents);
TENON_API Tensor jacrev(const ListFunction& f, const Tensors& inputs, size_t argnum);
TENON_API Tensor jacfwd(const ListFunction& f, const Tensors& inputs, size_t argnum);

inline Tensors to_list(Tensor t) { return {std::move(t)}; }
inline Tensors to_list(Tensors list) { return list; }
template <class... T>
Tensors to_list(const std::tuple<T...>& results) {
  return std::apply([](const auto&... one) { return Tensors{one...}; }, results);
}

/// Results as the function has them.
template <class R>
struct FromList;
template <>
struct FromList<Tensor> {
  static Tensor from(const Tensors& list) { return list.at(0); }
};
template <>
struct FromList<Tensors> {
  static Tensors from(const Tensors& list) { return list; }
};
template <class... T>
struct FromList<std::tuple<T...>> {
  static std::tuple<T...> from(const Tensors& list) {
    return [&]<size_t... i>(std::index_sequence<i...>) { return std::tuple<T...>(list.at(i)...); }
    (std::index_sequence_for<T...>());
  }
};

template <class F, size_t... i>
auto call_with(const F& f, const Tensors& inputs, std::index_sequence<i...>) {
  return f(inputs[i]...);
}
/// f of n tensors as a function of lists.
template <size_t n, class F>
ListFunction of_lists(F f) {
  return [f = std::move(f)](const Tensors& inputs) {
    return to_list(call_with(f, inputs, std::make_index_sequence<n>()));
  };
}
template <class F, class... T>
using ResultOf = std::decay_t<std::invoke_result_t<const F&, const T&...>>;

}  // namespace detail

/// A function of batches: f of each example, with the results stacked. f sees tensors without the
/// batch's dimension. ValueError: no input is batched, sizes of the batch differ, a dimension out
/// of range. RuntimeError: f needs the value of a tensor, as item() does, or changes a tensor in
/// place that is not batched.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return [f = std::move(f), options = std::move(options)](const auto&... inputs) {
    using R = detail::ResultOf<F, decltype(inputs)...>;
    constexpr size_t n = sizeof...(inputs);
    return detail::FromList<R>::from(
        detail::vmap(detail::of_lists<n>(f), {Tensor(inputs)...}, options));
  };
}

/// The gradient of f, whose result is one number, with respect to input `argnum`.
template <class F>
auto grad(F f, size_t argnum = 0) {
  return [f = std::move(f), argnum](const auto&... inputs) {
    return detail::value_and_grads(detail::of_lists<sizeof...(inputs)>(f), {Tensor(inputs)...},
                                   {argnum})
        .second[0];
  };
}
/// The gradients with respect to several inputs.
template <class F>
auto grad(F f, std::vector<size_t> argnums) {
  return [f = std::move(f), argnums = std::move(argnums)](const auto&... inputs) {
    return detail::value_and_grads(detail::of_lists<sizeof...(inputs)>(f), {Tensor(inputs)...},
                                   argnums)
        .second;
  };
}
/// The gradient and f's result.
template <class F>
auto grad_and_value(F f, size_t argnum = 0) {
  return [f = std::move(f), argnum](const auto&... inputs) {
    auto [values, grads] = detail::value_and_grads(detail::of_lists<sizeof...(inputs)>(f),
                                                   {Tensor(inputs)...}, {argnum});
    return std::tuple<Tensor, Tensor>(grads[0], values[0]);
  };
}

/// f's results, and the function that gives v^T J for a list of v, one for each result. It may be
/// called several times.
template <class F, class... T>
std::pair<detail::ResultOf<F, T...>, ListFunction> vjp(const F& f, const T&... inputs) {
  auto [values, product] = detail::vjp(detail::of_lists<sizeof...(T)>(f), {Tensor(inputs)...});
  return {detail::FromList<detail::ResultOf<F, T...>>::from(values), std::move(product)};
}

/// f's results and their derivatives along the tangents, one for each primal.
template <class F>
std::pair<Tensors, Tensors>
jvp(const F& f, const Tensors& primals,
    const Tensors& tangents) requires std::is_invocable_r_v<Tensors, const F&, const Tensors&> {
  return detail::jvp(f, primals, tangents);
}
/// The same of a function of one tensor.
template <class F>
std::pair<Tensor, Tensor> jvp(const F& f, const Tensor& primal, const Tensor& tangent) {
  auto [values, products] = detail::jvp(detail::of_lists<1>(f), {primal}, {tangent});
  return {values[0], products[0]};
}

/// The derivative of each element of the result by each of input `argnum`, [result, input], by
/// reverse mode: vmap of vjp.
template <class F>
auto jacrev(F f, size_t argnum = 0) {
  return [f = std::move(f), argnum](const auto&... inputs) {
    return detail::jacrev(detail::of_lists<sizeof...(inputs)>(f), {Tensor(inputs)...}, argnum);
  };
}
/// The same by forward mode: vmap of jvp.
template <class F>
auto jacfwd(F f, size_t argnum = 0) {
  return [f = std::move(f), argnum](const auto&... inputs) {
    return detail::jacfwd(detail::of_lists<sizeof...(inputs)>(f), {Tensor(inputs)...}, argnum);
  };
}
/// The second derivatives of f, whose result is one number: jacfwd(jacrev(f)).
template <class F>
auto hessian(F f, size_t argnum = 0) {
  return jacfwd(jacrev(std::move(f), argnum), argnum);
}

}  // namespace tenon::func
