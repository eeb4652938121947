#include "tenon/native/native_batch_norm.h"
#include "tenon/native/native_batch_norm_backward.h"
#include "tenon/ops/native_layer_norm.h"
#include "tenon/ops/native_layer_norm_backward.h"
#include "tests/aten/cpu/reference.h"

using namespace tenon;
using namespace tenon::test;

namespace {

/// In more precision than the kernels': far from zero, sums in double are what is inexact.
struct Stats {
  long double mean = 0, var = 0, rstd = 0;
};

Stats stats_of(const Values& x, const std::vector<size_t>& at, double eps) {
  Stats s;
  for (const size_t i : at) s.mean += x[i] / at.size();
  for (const size_t i : at) s.var += (x[i] - s.mean) * (x[i] - s.mean) / at.size();
  s.rstd = 1 / std::sqrt(s.var + eps);
  return s;
}

/// dx of y = (x - mean) rstd w over the elements `at`, by the chain rule written out.
void add_dx(Values& dx, const Values& x, const Values& wg, const std::vector<size_t>& at,
            const Stats& s) {
  double sum = 0, dot = 0;
  for (const size_t i : at) {
    sum += wg[i];
    dot += wg[i] * (x[i] - s.mean) * s.rstd;
  }
  const double n = at.size();
  for (const size_t i : at) dx[i] = s.rstd * (wg[i] - sum / n - (x[i] - s.mean) * s.rstd * dot / n);
}

double tolerance_of(ScalarType t) {
  return t == kBFloat16 ? 4e-2 : t == kHalf ? 5e-3 : t == kFloat ? 5e-5 : 1e-10;
}

void check_layer_norm(ScalarType dtype, int64_t rows, int64_t n, bool affine, bool strided,
                      double offset) {
  INFO(dtype << " " << rows << "x" << n << " affine " << affine << " strided " << strided);
  const Tensor x = strided ? random_strided({rows, n}, dtype) : random_tensor({rows, n}, dtype);
  Values xv = values(x);
  for (double& v : xv) v += offset;
  fill(x, xv);
  xv = values(x);
  std::optional<Tensor> w, b;
  if (affine) w = random_tensor(n, dtype), b = random_tensor(n, dtype);
  const auto leaf = [](const Tensor& t) { return Tensor(t.detach()).requires_grad_(); };
  const Tensor input = leaf(x);
  if (affine) w = leaf(*w), b = leaf(*b);
  const auto [y, mean, rstd] = native_layer_norm(input, n, w, b, 1e-5);
  REQUIRE(mean.sizes() == IntArrayRef({rows, 1}));
  const Tensor grad = random_tensor({rows, n}, dtype);
  const Values wv = affine ? values(*w) : Values(n, 1), bv = affine ? values(*b) : Values(n, 0),
               g = values(grad);
  Values wanted(rows * n), means(rows), rstds(rows), wg(rows * n), dx(rows * n), dw(n, 0), db(n, 0);
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<size_t> at(n);
    for (int64_t i = 0; i < n; ++i) at[i] = r * n + i;
    const Stats s = stats_of(xv, at, 1e-5);
    means[r] = s.mean;
    rstds[r] = s.rstd;
    for (int64_t i = 0; i < n; ++i) {
      const double h = (xv[at[i]] - s.mean) * s.rstd;
      wanted[at[i]] = h * wv[i] + bv[i];
      wg[at[i]] = g[at[i]] * wv[i];
      dw[i] += g[at[i]] * h;
      db[i] += g[at[i]];
    }
    add_dx(dx, xv, wg, at, s);
  }
  const double scale = offset == 0 ? 1 : 20;
  require_close(y, wanted, scale * tolerance_of(dtype));
  require_close(mean, means, tolerance_of(dtype));
  require_close(rstd, rstds, tolerance_of(dtype));
  for (int mask = 0; mask < 8; ++mask) {
    const auto [gx, gw, gb] =
        native_layer_norm_backward(grad, x, n, mean.detach(), rstd.detach(), w, b,
                                   {bool(mask & 1), bool(mask & 2), bool(mask & 4)});
    REQUIRE((gx.defined() == bool(mask & 1) && gw.defined() == bool(mask & 2) &&
             gb.defined() == bool(mask & 4)));
    const double loose = 4 * scale * tolerance_of(dtype);
    if (gx.defined()) require_close(gx, dx, loose);
    if (gw.defined()) require_close(gw, dw, loose * std::sqrt(rows + 1.0));
    if (gb.defined()) require_close(gb, db, loose * std::sqrt(rows + 1.0));
  }
  y.backward(grad);
  const double loose = 4 * scale * tolerance_of(dtype);
  require_close(input.grad(), dx, loose);
  if (affine) require_close(w->grad(), dw, loose * std::sqrt(rows + 1.0));
  if (affine) require_close(b->grad(), db, loose * std::sqrt(rows + 1.0));
}

/// Positions of every channel of [N, C, ...].
std::vector<std::vector<size_t>> channels_of(IntArrayRef sizes) {
  int64_t inner = 1;
  for (size_t d = 2; d < sizes.size(); ++d) inner *= sizes[d];
  std::vector<std::vector<size_t>> at(sizes[1]);
  for (int64_t i = 0; i < sizes[0] * sizes[1] * inner; ++i) at[i / inner % sizes[1]].push_back(i);
  return at;
}

void check_batch_norm(ScalarType dtype, IntArrayRef sizes, int layout, bool train, bool affine,
                      double offset) {
  INFO(dtype << " " << sizes << " layout " << layout << " train " << train << " affine " << affine);
  Tensor x = layout == 1 ? random_strided(sizes, dtype) : random_tensor(sizes, dtype);
  Values xv = values(x);
  for (double& v : xv) v += offset;
  fill(x, xv);
  if (layout == 2) x = channels_last(x);
  xv = values(x);
  const int64_t channels = sizes[1];
  std::optional<Tensor> w, b;
  if (affine) w = random_tensor(channels, dtype), b = random_tensor(channels, dtype);
  const Tensor rm = random_tensor(channels, dtype), rv = random_tensor(channels, dtype);
  Values rvv = values(rv), rmv = values(rm);
  for (double& v : rvv) v = v * v + 0.5;
  fill(rv, rvv);
  rvv = values(rv);
  const auto specs = native::native_batch_norm_meta(x, w, b, rm, rv, train, 0.1, 1e-5);
  const Tensor y = empty_strided(
      sizes, specs[0].strides.empty() ? contiguous_strides(sizes) : specs[0].strides, dtype, kCPU);
  const Tensor mean = empty(specs[1].sizes, dtype, kCPU),
               invstd = empty(specs[2].sizes, dtype, kCPU);
  native::native_batch_norm_cpu(x, w, b, rm, rv, train, 0.1, 1e-5, y, mean, invstd);

  const Tensor grad = layout == 1 ? random_strided(sizes, dtype) : random_tensor(sizes, dtype);
  const Values g = values(grad), wv = affine ? values(*w) : Values(channels, 1);
  const Values bv = affine ? values(*b) : Values(channels, 0);
  Values wanted(xv.size()), dx(xv.size()), wg(xv.size()), dw(channels, 0), db(channels, 0),
      means(channels), invstds(channels);
  const auto at = channels_of(sizes);
  for (int64_t c = 0; c < channels; ++c) {
    Stats s = stats_of(xv, at[c], 1e-5);
    const double n = at[c].size();
    if (train) {
      rmv[c] = 0.9 * rmv[c] + 0.1 * s.mean;
      rvv[c] = 0.9 * rvv[c] + 0.1 * s.var * n / (n - 1);
    } else {
      s = {rmv[c], rvv[c], 1 / std::sqrt(rvv[c] + 1e-5)};
    }
    means[c] = s.mean;
    invstds[c] = s.rstd;
    for (const size_t i : at[c]) {
      const double h = (xv[i] - s.mean) * s.rstd;
      wanted[i] = h * wv[c] + bv[c];
      wg[i] = g[i] * wv[c];
      dw[c] += g[i] * h;
      db[c] += g[i];
      dx[i] = s.rstd * wg[i];
    }
    if (train) add_dx(dx, xv, wg, at[c], s);
  }
  const double scale = (offset == 0 ? 1 : 30) * tolerance_of(dtype);
  require_close(y, wanted, scale);
  require_close(rm, rmv, scale);
  require_close(rv, rvv, scale);
  if (train) {
    require_close(mean, means, scale);
    require_close(invstd, invstds, scale);
  } else {
    REQUIRE(mean.numel() == 0);
  }
  for (int mask = 0; mask < 8; ++mask) {
    const auto [gx, gw, gb] =
        native::native_batch_norm_backward_cpu(grad, x, w, rm, rv, mean, invstd, train, 1e-5,
                                               {bool(mask & 1), bool(mask & 2), bool(mask & 4)});
    REQUIRE((gx.defined() == bool(mask & 1) && gw.defined() == bool(mask & 2) &&
             gb.defined() == bool(mask & 4)));
    if (gx.defined()) require_close(gx, dx, 4 * scale);
    if (gw.defined()) require_close(gw, dw, 20 * scale);
    if (gb.defined()) require_close(gb, db, 20 * scale);
  }
}

}  // namespace

TEST_CASE("layer_norm and its gradients") {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
    for (const auto& [rows, n] :
         {std::array<int64_t, 2>{3, 5}, {1, 64}, {17, 100}, {5, 1}, {200, 257}}) {
      for (const bool affine : {false, true}) {
        check_layer_norm(dtype, rows, n, affine, false, 0);
        check_layer_norm(dtype, rows, n, affine, true, 0);
      }
    }
  }
}

TEST_CASE("layer_norm of values far from zero keeps its precision") {
  check_layer_norm(kFloat, 4, 300, true, false, 1000);
  check_layer_norm(kDouble, 4, 300, true, false, 1e6);
}

TEST_CASE("layer_norm over several dimensions and of nothing") {
  const Tensor x = random_tensor({2, 3, 4});
  const auto [y, mean, rstd] = native_layer_norm(x, {3, 4}, {}, {}, 1e-5);
  REQUIRE((mean.sizes() == IntArrayRef({2, 1, 1}) && rstd.sizes() == IntArrayRef({2, 1, 1})));
  const Tensor flat = Tensor(make_view(x, {2, 12}, {12, 1}, 0));
  require_close(y, values(std::get<0>(native_layer_norm(flat, 12, {}, {}, 1e-5))));
  const Tensor none = empty({0, 4}, kFloat, kCPU);
  REQUIRE(std::get<1>(native_layer_norm(none, 4, {}, {}, 1e-5)).sizes() == IntArrayRef({0, 1}));
}

TEST_CASE("layer_norm of half types with parameters in Float") {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor x = Tensor(random_tensor({6, 5}, dtype).detach()).requires_grad_();
    const Tensor w = Tensor(random_tensor(5).detach()).requires_grad_(), b = random_tensor(5);
    const auto [y, mean, rstd] = native_layer_norm(x, 5, w, b, 1e-5);
    REQUIRE((y.scalar_type() == dtype && mean.scalar_type() == dtype));
    const Values xv = values(x), wv = values(w), bv = values(b);
    Values wanted(30), dw(5, 0);
    const Tensor grad = random_tensor({6, 5}, dtype);
    for (size_t r = 0; r < 6; ++r) {
      const std::vector<size_t> at = {5 * r, 5 * r + 1, 5 * r + 2, 5 * r + 3, 5 * r + 4};
      const Stats s = stats_of(xv, at, 1e-5);
      for (size_t i = 0; i < 5; ++i) {
        const double h = (xv[at[i]] - s.mean) * s.rstd;
        wanted[at[i]] = h * wv[i] + bv[i];
        dw[i] += values(grad)[at[i]] * h;
      }
    }
    require_close(y, wanted, tolerance_of(dtype));
    y.backward(grad);
    REQUIRE((x.grad().scalar_type() == dtype && w.grad().scalar_type() == kFloat));
    require_close(w.grad(), dw, 4 * tolerance_of(dtype));
  }
}

TEST_CASE("batch_norm and its gradients") {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const bool train : {true, false}) {
      for (const bool affine : {true, false}) {
        for (int layout = 0; layout < 3; ++layout)
          check_batch_norm(dtype, {3, 5, 7, 9}, layout, train, affine, 0);
        check_batch_norm(dtype, {40, 70}, 0, train, affine, 0);
        check_batch_norm(dtype, {2, 3, 4, 3, 5}, 1, train, affine, 0);
        check_batch_norm(dtype, {4, 1, 33}, 0, train, affine, 0);
      }
    }
  }
}

TEST_CASE("batch_norm of values far from zero keeps its precision") {
  check_batch_norm(kFloat, {4, 3, 20, 20}, 0, true, true, 1000);
  check_batch_norm(kFloat, {4, 3, 20, 20}, 2, true, true, 1000);
}

TEST_CASE("normalisations name what does not fit") {
  require_error(
      [] {
        native_layer_norm(random_tensor({2, 3}), 4, {}, {}, 1e-5);
      },
      "Given normalized_shape=[4], expected input with shape [*, [4]], but got input of size [2, "
      "3]");
  require_error(
      [] {
        native_layer_norm(random_tensor({2, 3}), 3, random_tensor(2), {}, 1e-5);
      },
      "Expected weight to be of same shape as normalized_shape");
  require_error(
      [] {
        native::native_batch_norm_meta(random_tensor({2, 3}), random_tensor(4), {}, {}, {}, true,
                                       0.1, 1e-5);
      },
      "[batch_norm] weight should contain 3 elements not 4");
  require_error(
      [] {
        native::native_batch_norm_meta(random_tensor({2, 3}), {}, {}, {}, {}, false, 0.1, 1e-5);
      },
      "running_mean and running_var must be defined in evaluation mode");
  require_error(
      [] { native::native_batch_norm_meta(random_tensor(3), {}, {}, {}, {}, true, 0.1, 1e-5); },
      "at least 2 dimensions");
}
