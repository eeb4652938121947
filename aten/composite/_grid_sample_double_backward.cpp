#include "tenon/native/_grid_sample_double_backward.h"

#include "tenon/native/_grid_sample_along.h"
#include "tenon/ops/_grid_sample.h"
#include "tenon/ops/_grid_sample_along.h"
#include "tenon/ops/_grid_sample_backward.h"
#include "tenon/ops/add.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/select.h"
#include "tenon/ops/unsqueeze.h"

// With s_k(x, g) the k-th derivative of the values by the coordinates, k an order for each of them
// and e_i the order 1 of coordinate i alone: s_k is linear in x, and its derivative by coordinate i
// is s_{k + e_i}. So these operators are closed under differentiation.
namespace tenon {
namespace {

/// Component i of [N, ..., dims], over the channels: [N, 1, ...].
Tensor component(const Tensor& of_grid, int64_t i) { return unsqueeze(select(of_grid, -1, i), 1); }

DimVector next_order(IntArrayRef order, int64_t i) {
  DimVector next(order);
  ++next[static_cast<size_t>(i)];
  return next;
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : add(a, b);
}

}  // namespace

/// sum_i direction_i s_{order + e_i}(input, grid)
Tensor native::_grid_sample_along(const Tensor& input, const Tensor& grid, const Tensor& direction,
                                  int64_t interpolation_mode, int64_t padding_mode,
                                  bool align_corners, IntArrayRef order) {
  Tensor sum;
  for (int64_t i = 0; i < static_cast<int64_t>(order.size()); ++i) {
    sum = sum_of(sum, mul(tenon::_grid_sample(input, grid, interpolation_mode, padding_mode,
                                              align_corners, next_order(order, i)),
                          component(direction, i)));
  }
  return sum;
}

/// The gradients of <grad_output, s_order(ggI, grid) + sum_i ggG_i s_{order + e_i}(input, grid)>.
std::tuple<Tensor, Tensor, Tensor> native::_grid_sample_double_backward(
    const std::optional<Tensor>& ggI, const std::optional<Tensor>& ggG, const Tensor& grad_output,
    const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
    bool align_corners, IntArrayRef order, std::array<bool, 3> output_mask) {
  const bool has_input = ggI && ggI->defined(), has_grid = ggG && ggG->defined();
  Tensor grad_grad, grad_input, grad_grid;
  if (output_mask[0]) {
    if (has_input) {
      grad_grad =
          tenon::_grid_sample(*ggI, grid, interpolation_mode, padding_mode, align_corners, order);
    }
    if (has_grid) {
      grad_grad = sum_of(grad_grad, tenon::_grid_sample_along(input, grid, *ggG, interpolation_mode,
                                                              padding_mode, align_corners, order));
    }
  }
  const auto backward = [&](const Tensor& grad, const Tensor& x, IntArrayRef of_order,
                            std::array<bool, 2> mask) {
    const auto [by_input, by_grid] = tenon::_grid_sample_backward(
        grad, x, grid, interpolation_mode, padding_mode, align_corners, of_order, mask);
    if (mask[0]) grad_input = sum_of(grad_input, by_input);
    if (mask[1]) grad_grid = sum_of(grad_grid, by_grid);
  };
  if (output_mask[2] && has_input) backward(grad_output, *ggI, order, {false, true});
  if ((output_mask[1] || output_mask[2]) && has_grid) {
    for (int64_t i = 0; i < static_cast<int64_t>(order.size()); ++i) {
      backward(mul(grad_output, component(*ggG, i)), input, next_order(order, i),
               {output_mask[1], output_mask[2]});
    }
  }
  return {grad_grad, grad_input, grad_grid};
}

}  // namespace tenon
