#include "tenon/native/embedding.h"
#include "tenon/native/embedding_dense_backward.h"
#include "tenon/native/nll_loss_backward.h"
#include "tenon/native/nll_loss_forward.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/cpu/reference.h"

using namespace tenon;
using namespace tenon::test;

namespace {

Tensor leaf(const Tensor& t) { return Tensor(t.detach()).requires_grad_(); }

}  // namespace

TEST_CASE("nll_loss with every reduction, weights and ignored targets") {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (int64_t reduction = 0; reduction < 3; ++reduction) {
      for (const bool weighted : {false, true}) {
        const Tensor x = random_strided({6, 4}, dtype),
                     t = tensor_of(6, kLong, {0, 3, -100, 1, 1, 2});
        std::optional<Tensor> w;
        if (weighted) w = tensor_of(4, dtype, {0.5, 1, 2, 0.25});
        const auto specs = native::nll_loss_forward_meta(x, t, w, reduction, -100);
        const Tensor out = empty(specs[0].sizes, dtype, kCPU),
                     total = empty(specs[1].sizes, dtype, kCPU);
        native::nll_loss_forward_cpu(x, t, w, reduction, -100, out, total);
        const Values xv = values(x), tv = values(t), wv = weighted ? values(*w) : Values(4, 1);
        Values each(6, 0), dx(24, 0);
        double sum = 0, weights = 0;
        for (int i = 0; i < 6; ++i) {
          if (tv[i] < 0) continue;
          const int k = static_cast<int>(tv[i]);
          each[i] = -wv[k] * xv[i * 4 + k];
          sum += each[i];
          weights += wv[k];
        }
        const double tolerance = dtype == kBFloat16 ? 2e-2 : 1e-6;
        const Tensor g = random_tensor(out.sizes(), dtype);
        for (int i = 0; i < 6; ++i) {
          if (tv[i] < 0) continue;
          const int k = static_cast<int>(tv[i]);
          dx[i * 4 + k] =
              -wv[k] * values(g)[reduction == 0 ? i : 0] / (reduction == 1 ? weights : 1);
        }
        require_close(out, reduction == 0 ? each : Values{reduction == 1 ? sum / weights : sum},
                      tolerance);
        if (reduction != 0) require_close(total, {weights}, tolerance);
        const Tensor grad = empty(
            native::nll_loss_backward_meta(g, x, t, w, reduction, -100, total).sizes, dtype, kCPU);
        native::nll_loss_backward_cpu(g, x, t, w, reduction, -100, total, grad);
        require_close(grad, dx, tolerance);
      }
    }
  }
}

TEST_CASE("nll_loss of one sample, of none, and of ignored ones only") {
  const Tensor out = empty(IntArrayRef(), kFloat, kCPU), total = empty(IntArrayRef(), kFloat, kCPU);
  native::nll_loss_forward_cpu(tensor_of(3, kFloat, {1, 2, 3}),
                               tensor_of(IntArrayRef(), kLong, {1}), {}, 1, -100, out, total);
  require_close(out, {-2});
  native::nll_loss_forward_cpu(random_tensor({0, 3}), empty(0, kLong, kCPU), {}, 1, -100, out,
                               total);
  require_close(out, {std::nan("")});
  native::nll_loss_forward_cpu(random_tensor({0, 3}), empty(0, kLong, kCPU), {}, 2, -100, out,
                               total);
  require_close(out, {0});
  native::nll_loss_forward_cpu(random_tensor({2, 3}), tensor_of(2, kLong, {1, 1}), {}, 1, 1, out,
                               total);
  require_close(out, {std::nan("")});
}

TEST_CASE("nll_loss names what does not fit") {
  const Tensor x = random_tensor({2, 3}), out = empty(IntArrayRef(), kFloat, kCPU);
  const auto meta = [](const Tensor& a, const Tensor& t, std::optional<Tensor> w) {
    native::nll_loss_forward_meta(a, t, w, 1, -100);
  };
  require_error(
      [&] {
        native::nll_loss_forward_cpu(x, tensor_of(2, kLong, {0, 3}), {}, 1, -100, out, out);
      },
      "[nll_loss] Target 3 is out of bounds: row 1 has 3 elements");
  require_error(
      [&] {
        native::nll_loss_forward_cpu(x, tensor_of(2, kLong, {0, -1}), {}, 1, -100, out, out);
      },
      "Target -1 is out of bounds: row 1 has 3 elements");
  require_error([&] { meta(x, random_tensor(3, kLong), {}); },
                "size mismatch (got input: [2, 3], target: [3])");
  require_error(
      [&] {
        meta(random_tensor({2, 3, 4}), random_tensor(2, kLong), {});
      },
      "input tensor should be 1D or 2D");
  require_error(
      [&] {
        meta(x, random_tensor({2, 1}, kLong), {});
      },
      "0D or 1D target tensor expected");
  require_error([&] { meta(x, random_tensor(2), {}); },
                "expected scalar type Long but found Float");
  require_error([&] { meta(x, random_tensor(2, kLong), random_tensor(2)); },
                "weight tensor should be defined either for all 3 classes or no classes but got "
                "weight tensor of shape: [2]");
}

TEST_CASE("mse_loss: elements, sum, mean and gradients") {
  for (const int64_t n : {0, 1, 7, 64, 1000, 200001}) {
    const Tensor a = leaf(random_tensor(n)), b = leaf(random_tensor(n));
    const Values av = values(a), bv = values(b);
    Values each(n), da(n), db(n);
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      each[i] = (av[i] - bv[i]) * (av[i] - bv[i]);
      da[i] = 2 * (av[i] - bv[i]) / n;
      db[i] = -da[i];
      total += each[i];
    }
    require_close(mse_loss(a, b, 0), each);
    REQUIRE(values(mse_loss(a, b, 2))[0] == Approx(total).epsilon(1e-6));
    const Tensor mean = mse_loss(a, b, 1);
    require_close(mean, {total / static_cast<double>(n)});
    mean.backward();
    require_close(a.grad(), da, 1e-6);
    require_close(b.grad(), db, 1e-6);
  }
  require_error([] { mse_loss(random_tensor(2), random_tensor(2), 3); },
                "[mse_loss] reduction must be 0 (none), 1 (mean) or 2 (sum), got 3");
}

TEST_CASE("cross entropy of indices, its weights and its gradients") {
  // [batch, classes, places]
  constexpr int64_t kBatch = 3, kClasses = 5, kPlaces = 2;
  const Tensor x = leaf(random_tensor({kBatch, kClasses, kPlaces}, kDouble));
  const Tensor t = tensor_of({kBatch, kPlaces}, kLong, {0, 4, -100, 2, 2, 3});
  const Values xv = values(x), tv = values(t);
  for (const bool weighted : {false, true}) {
    std::optional<Tensor> w;
    if (weighted) w = tensor_of(kClasses, kDouble, {0.5, 1, 2, 0.25, 3});
    const Values wv = weighted ? values(*w) : Values(kClasses, 1);
    Values each(kBatch * kPlaces, 0), dx(xv.size(), 0);
    double total = 0, weights = 0;
    for (int64_t i = 0; i < kBatch; ++i) {
      for (int64_t p = 0; p < kPlaces; ++p) {
        const int64_t row = i * kPlaces + p, k = static_cast<int64_t>(tv[row]);
        if (k < 0) continue;
        double sum = 0;
        for (int64_t c = 0; c < kClasses; ++c)
          sum += std::exp(xv[(i * kClasses + c) * kPlaces + p]);
        each[row] = wv[k] * (std::log(sum) - xv[(i * kClasses + k) * kPlaces + p]);
        for (int64_t c = 0; c < kClasses; ++c) {
          const int64_t at = (i * kClasses + c) * kPlaces + p;
          dx[at] = wv[k] * (std::exp(xv[at]) / sum - (c == k));
        }
        total += each[row];
        weights += wv[k];
      }
    }
    for (double& d : dx) d /= weights;
    require_close(cross_entropy_loss(x, t, w, 0), each, 1e-12);
    require_close(cross_entropy_loss(x, t, w, 2), {total}, 1e-12);
    const Tensor loss = cross_entropy_loss(x, t, w, 1);
    require_close(loss, {total / weights}, 1e-12);
    if (x.grad().defined()) x.grad().zero_();
    loss.backward();
    require_close(x.grad(), dx, 1e-12);
  }
}

TEST_CASE("cross entropy of one sample, of none, of ignored ones, and of targets beyond float") {
  const Tensor one = random_tensor(3), at = tensor_of(1, kLong, {2});
  REQUIRE(cross_entropy_loss(one, at, {}, 0).dim() == 0);
  require_close(cross_entropy_loss(random_tensor({0, 3}), empty(0, kLong, kCPU)), {std::nan("")});
  require_close(cross_entropy_loss(random_tensor({0, 3}), empty(0, kLong, kCPU), {}, 2), {0});
  const Tensor x = random_tensor({2, 3});
  require_close(cross_entropy_loss(x, tensor_of(2, kLong, {1, 1}), {}, 1, 1), {std::nan("")});
  // No value of float is this one: the pass over rows could not tell it from its neighbours.
  const int64_t far = (int64_t{1} << 24) + 1;
  Tensor t = tensor_of(2, kLong, {1, 0});
  t.data_ptr<int64_t>()[0] = far;
  const Tensor second = Tensor(make_view(x, 3, 1, 3));
  require_close(cross_entropy_loss(x, t, {}, 1, far),
                values(cross_entropy_loss(second, tensor_of(1, kLong, {0}))), 1e-6);
}

TEST_CASE("cross entropy names what does not fit") {
  const Tensor x = random_tensor({2, 3});
  require_error(
      [&] {
        cross_entropy_loss(x, tensor_of(2, kLong, {0, 3}));
      },
      "[cross_entropy_loss] Target 3 is out of bounds: row 1 has 3 elements");
  // Of images each pixel is a row; threads meet the ones behind it first.
  const Tensor images = random_tensor({2, 3, 200, 200});
  Tensor classes = zeros({2, 200, 200}, TensorOptions(kLong));
  classes.data_ptr<int64_t>()[40000 + 200 + 2] = -1;
  require_error([&] { cross_entropy_loss(images, classes); },
                "[cross_entropy_loss] Target -1 is out of bounds: row 40202 has 3 elements");
  require_error(
      [&] {
        cross_entropy_loss(x, tensor_of(3, kLong, {0, 1, 2}));
      },
      "Expected input batch_size (2) to match target batch_size (3)");
  require_error(
      [&] {
        cross_entropy_loss(x, tensor_of(2, kInt, {0, 1}));
      },
      "expected scalar type Long but found Int");
  require_error(
      [&] {
        cross_entropy_loss(random_tensor({2, 3, 4}), tensor_of({2, 3}, kLong, {0, 1, 2, 0, 1, 2}));
      },
      "Expected target size [2, 4], got [2, 3]");
  require_error(
      [&] {
        cross_entropy_loss(x, tensor_of(2, kLong, {0, 1}), {}, 5);
      },
      "reduction must be 0 (none), 1 (mean) or 2 (sum), got 5");
}

TEST_CASE("embedding and its gradient") {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const ScalarType index : {kLong, kInt}) {
      const Tensor w = random_strided({5, 3}, dtype),
                   at = tensor_of({2, 3}, index, {4, 0, 1, 1, 4, 4});
      const Tensor out = empty(native::embedding_meta(w, at, -1, false, false).sizes, dtype, kCPU);
      native::embedding_cpu(w, at, -1, false, false, out);
      const Values wv = values(w), iv = values(at);
      Values wanted;
      for (const double i : iv)
        wanted.insert(wanted.end(), wv.begin() + 3 * int(i), wv.begin() + 3 * int(i) + 3);
      require_close(out, wanted, 0);
      const Tensor g = random_tensor({2, 3, 3}, dtype);
      for (const int64_t padding : {-1, 1}) {
        for (const bool by_frequency : {false, true}) {
          Values dw(15, 0), count(5, 0);
          for (const double i : iv) ++count[int(i)];
          for (int l = 0; l < 6; ++l) {
            if (int(iv[l]) == padding) continue;
            for (int j = 0; j < 3; ++j) {
              dw[int(iv[l]) * 3 + j] +=
                  values(g)[l * 3 + j] / (by_frequency ? count[int(iv[l])] : 1);
            }
          }
          const Tensor grad =
              empty(native::embedding_dense_backward_meta(g, at, 5, padding, by_frequency).sizes,
                    dtype, kCPU);
          native::embedding_dense_backward_cpu(g, at, 5, padding, by_frequency, grad);
          require_close(grad, dw, dtype == kBFloat16 ? 2e-2 : 1e-6);
        }
      }
    }
  }
  const Tensor w = random_tensor({5, 3}), out = empty({1, 3}, kFloat, kCPU);
  require_error([&] { native::embedding_cpu(w, tensor_of(1, kLong, {5}), -1, false, false, out); },
                "index out of range in self");
  require_error(
      [&] {
        native::embedding_dense_backward_cpu(out, tensor_of(1, kLong, {-1}), 5, -1, false, w);
      },
      "index out of range");
  require_error(
      [&] { native::embedding_meta(random_tensor(5), random_tensor(1, kLong), -1, false, false); },
      "'weight' must be 2-D");
  require_error([&] { native::embedding_meta(w, random_tensor(1), -1, false, false); },
                "but got Float instead");
}
