#include "aten/sparse/sparse_products.h"

#include <algorithm>
#include <vector>

#include "aten/common/opmath_type.h"
#include "aten/core/parallel.h"
#include "aten/iterator/plan.h"
#include "aten/sparse/sparse_tensor.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/to.h"
#include "tenon/ops/zeros.h"

namespace tenon::sparse {
namespace {

/// What products of this dtype are computed in.
ScalarType product_type(ScalarType dtype) {
  if (is_integral(dtype, true)) return kLong;
  return dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
}

#define TENON_DISPATCH_PRODUCT(type, name, ...)                       \
  TENON_DISPATCH_SWITCH(type, name,                                   \
                        TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)    \
                            TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE) \
                                TENON_DISPATCH_CASE(int64_t, Long),   \
                        __VA_ARGS__)

}  // namespace

Rows rows_of(const Tensor& t) {
  TENON_CHECK(t.dim() == 2 && content_of(t).sparse_dim == 2 && content_of(t).dense_dim == 0,
              "expected a sparse matrix, got a tensor of ", content_of(t).sparse_dim,
              " sparse and ", content_of(t).dense_dim, " dense dimensions");
  const Tensor csr = t.layout() == kSparseCsr ? t : Tensor(t.to_sparse_csr());
  Rows rows = {compressed_of(csr).to(kLong).contiguous(), plain_of(csr).to(kLong).contiguous(),
               values_of(csr).contiguous()};
  // Indices can be changed in place, and these lead to memory.
  const auto* const start = rows.starts.const_data_ptr<int64_t>();
  const auto* const column = rows.columns.const_data_ptr<int64_t>();
  const int64_t nnz = rows.columns.numel(), width = t.size(1);
  bool valid = start[0] == 0 && start[t.size(0)] == nnz;
  for (int64_t r = 0; r < t.size(0); ++r) valid &= start[r] <= start[r + 1];
  for (int64_t i = 0; i < nnz; ++i) valid &= column[i] >= 0 && column[i] < width;
  TENON_CHECK(valid, "a sparse matrix of sizes ", t.sizes(), " has indices that lead out of it");
  return rows;
}

Tensor multiply(const Rows& a, int64_t num_rows, const Tensor& b) {
  const ScalarType dtype = b.scalar_type(), type = product_type(dtype);
  const Tensor values = a.values.to(type), dense = b.to(type).contiguous();
  const int64_t width = dense.size(1);
  const Tensor out = tenon::zeros({num_rows, width}, type);
  const auto* const start = a.starts.const_data_ptr<int64_t>();
  const auto* const column = a.columns.const_data_ptr<int64_t>();
  TENON_DISPATCH_PRODUCT(type, "mm", {
    const auto* const value = values.const_data_ptr<scalar_t>();
    const auto* const from = dense.const_data_ptr<scalar_t>();
    auto* const to = out.mutable_data_ptr<scalar_t>();
    const int64_t work = 1 + values.numel() * width / std::max<int64_t>(num_rows, 1);
    parallel_for(0, num_rows, 1 + 32768 / work, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        scalar_t* __restrict const row = to + r * width;
        if (width == 1) {
          scalar_t sum = 0;
          for (int64_t i = start[r]; i < start[r + 1]; ++i) sum += value[i] * from[column[i]];
          row[0] = sum;
          continue;
        }
        for (int64_t i = start[r]; i < start[r + 1]; ++i) {
          const scalar_t factor = value[i];
          const scalar_t* __restrict const other = from + column[i] * width;
          for (int64_t c = 0; c < width; ++c) row[c] += factor * other[c];
        }
      }
    });
  });
  return out.to(dtype);
}

Rows multiply_rows(const Rows& a, int64_t num_rows, const Rows& b, int64_t num_columns) {
  const ScalarType dtype = a.values.scalar_type(), type = product_type(dtype);
  const Tensor a_values = a.values.to(type), b_values = b.values.to(type);
  const auto* const a_start = a.starts.const_data_ptr<int64_t>();
  const auto* const a_column = a.columns.const_data_ptr<int64_t>();
  const auto* const b_start = b.starts.const_data_ptr<int64_t>();
  const auto* const b_column = b.columns.const_data_ptr<int64_t>();
  Tensor starts = tenon::zeros({num_rows + 1}, kLong);
  auto* const start = starts.data_ptr<int64_t>();
  // Each part of the rows keeps its own results, which are joined in order.
  const int64_t parts = std::min<int64_t>(std::max<int64_t>(num_rows / 64, 1), 64);
  const int64_t per_part = (num_rows + parts - 1) / parts;
  std::vector<std::vector<int64_t>> columns(static_cast<size_t>(parts));
  return TENON_DISPATCH_PRODUCT(type, "mm", {
    const auto* const x = a_values.const_data_ptr<scalar_t>();
    const auto* const y = b_values.const_data_ptr<scalar_t>();
    std::vector<std::vector<scalar_t>> values(static_cast<size_t>(parts));
    parallel_for(0, parts, 1, [&](int64_t first, int64_t end) {
      std::vector<int64_t> last(static_cast<size_t>(num_columns), -1), touched;
      std::vector<scalar_t> sums(static_cast<size_t>(num_columns));
      for (int64_t r = first * per_part; r < std::min(end * per_part, num_rows); ++r) {
        touched.clear();
        for (int64_t i = a_start[r]; i < a_start[r + 1]; ++i) {
          for (int64_t j = b_start[a_column[i]]; j < b_start[a_column[i] + 1]; ++j) {
            const auto c = static_cast<size_t>(b_column[j]);
            if (last[c] != r) {
              last[c] = r;
              sums[c] = 0;
              touched.push_back(b_column[j]);
            }
            sums[c] += x[i] * y[j];
          }
        }
        std::sort(touched.begin(), touched.end());
        const auto part = static_cast<size_t>(r / per_part);
        for (const int64_t c : touched) {
          columns[part].push_back(c);
          values[part].push_back(sums[static_cast<size_t>(c)]);
        }
        start[r + 1] = static_cast<int64_t>(touched.size());
      }
    });
    for (int64_t r = 0; r < num_rows; ++r) start[r + 1] += start[r];
    const int64_t nnz = start[num_rows];
    const Tensor kept = tenon::empty({nnz}, kLong), products = tenon::empty({nnz}, type);
    auto* to_column = kept.mutable_data_ptr<int64_t>();
    auto* to_value = products.mutable_data_ptr<scalar_t>();
    for (size_t part = 0; part < columns.size(); ++part) {
      to_column = std::copy(columns[part].begin(), columns[part].end(), to_column);
      to_value = std::copy(values[part].begin(), values[part].end(), to_value);
    }
    return Rows{starts, kept, products.to(dtype)};
  });
}

Tensor sampled_product(const Tensor& indices, const Tensor& mat1, const Tensor& mat2) {
  const ScalarType dtype = mat1.scalar_type(), type = product_type(dtype);
  const Tensor a = mat1.to(type).contiguous(), b = mat2.to(type).t().contiguous();
  const int64_t nnz = indices.size(1), depth = a.size(1);
  const Tensor places = indices.contiguous(), out = tenon::empty({nnz}, type);
  const auto* const row = places.const_data_ptr<int64_t>();
  const int64_t* const column = row + nnz;
  TENON_DISPATCH_PRODUCT(type, "sampled_addmm", {
    const auto* const x = a.const_data_ptr<scalar_t>();
    const auto* const y = b.const_data_ptr<scalar_t>();
    auto* const to = out.mutable_data_ptr<scalar_t>();
    parallel_for(0, nnz, 1 + 32768 / (depth + 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const scalar_t* const left = x + row[i] * depth;
        const scalar_t* const right = y + column[i] * depth;
        scalar_t sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += left[k] * right[k];
        to[i] = sum;
      }
    });
  });
  return out.to(dtype);
}

}  // namespace tenon::sparse
