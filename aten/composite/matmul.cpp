#include "tenon/native/matmul.h"

#include <algorithm>

#include "tenon/ops/bmm.h"
#include "tenon/ops/dot.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/mm.h"
#include "tenon/ops/mv.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon {
namespace {

/// The common shape of two lists of batch dimensions.
DimVector broadcast(IntArrayRef a, IntArrayRef b) {
  const size_t dims = std::max(a.size(), b.size());
  DimVector out(dims, 1);
  for (size_t i = 1; i <= dims; ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    TENON_CHECK(x == y || x == 1 || y == 1, "[matmul] The size of tensor a (", x,
                ") must match the size of tensor b (", y, ") at non-singleton dimension ",
                dims - i);
    out[dims - i] = x == 1 ? y : x;
  }
  return out;
}

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

/// Batches of matrices, broadcast against each other.
Tensor batched(const Tensor& self, const Tensor& other) {
  const int64_t m = self.size(-2), k = self.size(-1), n = other.size(-1);
  TENON_CHECK(other.size(-2) == k, "[matmul] mat1 and mat2 shapes cannot be multiplied (",
              self.sizes(), " and ", other.sizes(), ")");
  DimVector out =
      broadcast(self.sizes().slice(0, self.dim() - 2), other.sizes().slice(0, other.dim() - 2));
  const int64_t batch = product(out);
  DimVector left(out), right(out);
  left.push_back(m);
  left.push_back(k);
  right.push_back(k);
  right.push_back(n);
  out.push_back(m);
  out.push_back(n);
  const Tensor a = reshape(expand(self, left), {batch, m, k});
  const Tensor b = reshape(expand(other, right), {batch, k, n});
  return reshape(bmm(a, b), out);
}

}  // namespace

/// PyTorch's rule: vectors give dot and mv; a vector beside a matrix is a row or a column that is
/// dropped again; a batch times one matrix is a single product; the rest is a broadcast bmm.
Tensor native::matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  TENON_CHECK(a > 0 && b > 0,
              "[matmul] both arguments to matmul need to be at least 1D, but they are ", a,
              "D and ", b, "D");
  if (a == 1 && b == 1) return tenon::dot(self, other);
  if (a == 2 && b == 2) return mm(self, other);
  if (a == 2 && b == 1) return mv(self, other);
  if (a == 1 && b == 2) return squeeze(mm(unsqueeze(self, 0), other), 0);
  if (b <= 2) {
    const int64_t k = self.size(-1);
    DimVector out(self.sizes());
    out.pop_back();
    const Tensor rows = reshape(self, {product(out), k});
    if (b == 1) return reshape(mv(rows, other), out);
    out.push_back(other.size(1));
    return reshape(mm(rows, other), out);
  }
  if (a == 1) return squeeze(batched(unsqueeze(self, 0), other), -2);
  return batched(self, other);
}

}  // namespace tenon
