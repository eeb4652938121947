#include <algorithm>
#include <utility>

#include "aten/core/thread_state.h"
#include "aten/iterator/number_fits.h"
#include "aten/meta/checks.h"
#include "tenon/native/addbmm.h"
#include "tenon/native/addmv.h"
#include "tenon/native/addr.h"
#include "tenon/native/chain_matmul.h"
#include "tenon/native/kron.h"
#include "tenon/native/linalg_multi_dot.h"
#include "tenon/native/tensordot.h"
#include "tenon/ops/ones.h"

namespace tenon {
namespace {

void check_vector(const char* op, const char* name, const Tensor& tensor) {
  TENON_CHECK(tensor.dim() == 1, "[", op, "] Expected 1-D argument ", name, ", but got ",
              tensor.dim(), "-D");
}

/// Zeros that still give `tensor` its gradient, which is zero, where one is asked for.
Tensor without_values(const Tensor& tensor) {
  return tensor.masked_fill(ones({}, tensor.options().dtype(kBool)), 0);
}

/// beta self + alpha product. A beta of 0 keeps what is not a number in self from the result, and
/// so does an alpha of 0 with the product where `alpha_skips`.
Tensor accumulated(const char* op, const Tensor& self, const Tensor& product, const Scalar& beta,
                   const Scalar& alpha, bool alpha_skips) {
  meta::check_expandable(op, "self", self.sizes(), product.sizes());
  const ScalarType type = promote_types(self.scalar_type(), product.scalar_type());
  native::check_number_fits(op, beta, type);
  native::check_number_fits(op, alpha, type);
  // Factors of integers lose their fractions.
  const auto factor = [&](const Scalar& s) {
    return type == kBool ? Scalar(!s.equal(0)) : is_integral(type, false) ? Scalar(s.toLong()) : s;
  };
  const Scalar of_self = factor(beta), of_product = factor(alpha);
  const bool no_self = of_self.equal(0), no_product = alpha_skips && of_product.equal(0);
  const Tensor scaled = no_product            ? without_values(product)
                        : of_product.equal(1) ? product
                                              : product * of_product;
  if (no_self && !(GradMode::is_enabled() && self.requires_grad())) return scaled;
  return (no_self ? without_values(self) : of_self.equal(1) ? self : self * of_self) + scaled;
}

/// Those of the `count` dimensions that are not in `chosen`.
DimVector others(IntArrayRef chosen, int64_t count) {
  DimVector rest;
  for (int64_t d = 0; d < count; ++d) {
    if (std::find(chosen.begin(), chosen.end(), d) == chosen.end()) rest.push_back(d);
  }
  return rest;
}

int64_t sizes_of(const Tensor& tensor, IntArrayRef dims, DimVector* sizes = nullptr) {
  int64_t count = 1;
  for (const int64_t d : dims) {
    count *= tensor.size(d);
    if (sizes) sizes->push_back(tensor.size(d));
  }
  return count;
}

}  // namespace

/// beta self + alpha vec1 vec2^T.
Tensor native::addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                    const Scalar& alpha) {
  check_vector("addr", "vec1", vec1);
  check_vector("addr", "vec2", vec2);
  const ScalarType type =
      promote_types(self.scalar_type(), promote_types(vec1.scalar_type(), vec2.scalar_type()));
  for (const auto& [number, name] : {std::pair(beta, "beta"), std::pair(alpha, "alpha")}) {
    TENON_CHECK(!is_integral(type, true) || number.is_integral(true),
                "[addr] For integral input tensors, argument ", name,
                " must not be a floating point number.");
    TENON_CHECK(!number.is_boolean() || type == kBool, "[addr] Boolean ", name,
                " only supported for Boolean results.");
  }
  return accumulated("addr", self, vec1.unsqueeze(1) * vec2, beta, alpha, false);
}

/// beta self + alpha mat vec.
Tensor native::addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                     const Scalar& alpha) {
  TENON_CHECK(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1,
              "[addmv] vector + matrix @ vector expected, got ", self.dim(), ", ", mat.dim(), ", ",
              vec.dim());
  TENON_CHECK(mat.size(1) == vec.size(0), "[addmv] size mismatch, got input (", mat.size(0),
              "), mat (", mat.size(0), "x", mat.size(1), "), vec (", vec.size(0), ")");
  TENON_CHECK(self.scalar_type() == mat.scalar_type() && mat.scalar_type() == vec.scalar_type(),
              "addmv input tensors must have the same dtype, but got ", self.scalar_type(), ", ",
              mat.scalar_type(), ", and ", vec.scalar_type());
  return accumulated("addmv", self, mat.mv(vec), beta, alpha, true);
}

/// beta self + alpha (the sum of batch1[i] batch2[i] over i), which is one product of the matrices
/// laid side by side.
Tensor native::addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                      const Scalar& beta, const Scalar& alpha) {
  batch1.size(1), batch2.size(2);  // IndexErrors of fewer dimensions, as PyTorch's
  TENON_CHECK(batch1.dim() == 3 && batch2.dim() == 3,
              "[addbmm] batch1 and batch2 must be 3D tensors, got shapes ", batch1.sizes(), " and ",
              batch2.sizes());
  TENON_CHECK(batch1.size(0) == batch2.size(0),
              "[addbmm] batch1 and batch2 must have same number of batches, got ", batch1.size(0),
              " and ", batch2.size(0));
  TENON_CHECK(batch1.size(2) == batch2.size(1), "[addbmm] Incompatible matrix sizes for bmm (",
              batch1.size(1), "x", batch1.size(2), " and ", batch2.size(1), "x", batch2.size(2),
              ")");
  for (const Tensor* t : {&batch1, &batch2}) {
    TENON_CHECK(self.scalar_type() == t->scalar_type(),
                "self and mat2 must have the same dtype, but got ", self.scalar_type(), " and ",
                t->scalar_type());
  }
  const int64_t inside = batch1.size(0) * batch1.size(2);
  const Tensor wide = batch1.permute({1, 0, 2}).reshape({batch1.size(1), inside});
  return accumulated("addbmm", self, wide.mm(batch2.reshape({inside, batch2.size(2)})), beta, alpha,
                     true);
}

/// The sum over pairs of dimensions, dims_self[i] of self and dims_other[i] of other; the result
/// has self's other dimensions, then other's. A dimension of one element meets any.
Tensor native::tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                         IntArrayRef dims_other) {
  TENON_CHECK(dims_self.size() == dims_other.size(),
              "[tensordot] both dimension lists should have same length, got ", dims_self, " and ",
              dims_other);
  TENON_CHECK(self.scalar_type() == other.scalar_type(),
              "[tensordot] both inputs should have same dtype, got ", self.scalar_type(), " and ",
              other.scalar_type());
  Tensor a = self, b = other;
  DimVector of_a, of_b;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t x = wrap_dim(dims_self[i], self.dim()), y = wrap_dim(dims_other[i], other.dim());
    TENON_CHECK(std::find(of_a.begin(), of_a.end(), x) == of_a.end() &&
                    std::find(of_b.begin(), of_b.end(), y) == of_b.end(),
                "[tensordot] a dimension appears twice in the list of dims, got ", dims_self,
                " and ", dims_other);
    of_a.push_back(x);
    of_b.push_back(y);
    const int64_t m = a.size(x), n = b.size(y);
    if (m != n && n == 1) {
      a = a.sum({x}, true, a.scalar_type());
    } else if (m != n && m == 1) {
      b = b.sum({y}, true, b.scalar_type());
    } else {
      TENON_CHECK(m == n, "[tensordot] contracted dimensions need to match, but first has size ", m,
                  " in dim ", x, " and second has size ", n, " in dim ", y);
    }
  }
  const DimVector rest_a = others(of_a, a.dim()), rest_b = others(of_b, b.dim());
  DimVector out, order_a(rest_a), order_b(of_b);
  order_a.append(of_a.begin(), of_a.end());
  order_b.append(rest_b.begin(), rest_b.end());
  const int64_t m = sizes_of(a, rest_a, &out), k = sizes_of(a, of_a), n = sizes_of(b, rest_b, &out);
  return a.permute(order_a).reshape({m, k}).mm(b.permute(order_b).reshape({k, n})).reshape(out);
}

/// Blocks self[i, j, ...] other, of the sizes multiplied dimension by dimension.
Tensor native::kron(const Tensor& self, const Tensor& other) {
  const int64_t dims = std::max(self.dim(), other.dim());
  DimVector left, right, out;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t a = d - (dims - self.dim()), b = d - (dims - other.dim());
    const int64_t m = a < 0 ? 1 : self.size(a), n = b < 0 ? 1 : other.size(b);
    left.push_back(m);
    left.push_back(1);
    right.push_back(1);
    right.push_back(n);
    out.push_back(m * n);
  }
  return (self.reshape(left) * other.reshape(right)).reshape(out);
}

/// The product of all matrices in the order that takes the fewest multiplications (dynamic
/// programming over where the last product is). The first and the last may be vectors.
Tensor native::linalg_multi_dot(TensorList tensors) {
  const auto n = static_cast<int64_t>(tensors.size());
  TENON_CHECK(n >= 2, "[linalg.multi_dot] expected at least 2 tensors but got ", n);
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  for (int64_t i = 0; i < n; ++i) {
    const bool end = i == 0 || i == n - 1;
    TENON_CHECK(matrices[i].dim() == 2 || (end && matrices[i].dim() == 1),
                "[linalg.multi_dot] tensor ", i, " must be 2D", end ? " or 1D" : "", " but got ",
                matrices[i].dim(), "D");
  }
  const bool row = matrices[0].dim() == 1, column = matrices[n - 1].dim() == 1;
  if (row) matrices[0] = matrices[0].unsqueeze(0);
  if (column) matrices[n - 1] = matrices[n - 1].unsqueeze(1);
  for (int64_t i = 1; i < n; ++i) {
    TENON_CHECK(matrices[i - 1].size(1) == matrices[i].size(0), "[linalg.multi_dot] tensors ",
                i - 1, " and ", i, " with shapes ", tensors[i - 1].sizes(), " and ",
                tensors[i].sizes(), " cannot be multiplied");
  }
  // cost[i][j] of the product of i to j, and after which matrix it is split.
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<int64_t>> split(n, std::vector<int64_t>(n, 0));
  for (int64_t length = 1; length < n; ++length) {
    for (int64_t i = 0; i + length < n; ++i) {
      const int64_t j = i + length;
      for (int64_t k = i; k < j; ++k) {
        const double c =
            cost[i][k] + cost[k + 1][j] +
            double(matrices[i].size(0)) * double(matrices[k].size(1)) * double(matrices[j].size(1));
        if (k == i || c < cost[i][j]) {
          cost[i][j] = c;
          split[i][j] = k;
        }
      }
    }
  }
  const auto product = [&](const auto& again, int64_t i, int64_t j) -> Tensor {
    if (i == j) return matrices[i];
    return again(again, i, split[i][j]).mm(again(again, split[i][j] + 1, j));
  };
  Tensor out = product(product, 0, n - 1);
  if (row) out = out.squeeze(0);
  return column ? out.squeeze(-1) : out;
}

/// The same of matrices alone, of which one is its own product.
Tensor native::chain_matmul(TensorList matrices) {
  TENON_CHECK(!matrices.empty(), "[chain_matmul] Expected one or more matrices");
  for (const Tensor& t : matrices) {
    TENON_CHECK(t.dim() == 2, "[chain_matmul] Tensor dimension is ", t.dim(),
                ", expected 2 instead.");
  }
  return matrices.size() == 1 ? matrices[0] : native::linalg_multi_dot(matrices);
}

}  // namespace tenon
