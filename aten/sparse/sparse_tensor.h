#pragma once

#include "aten/core/sparse/sparse_value.h"
#include "tenon/tensor.h"

/// What the kernels of sparse layouts share. Tensors that these functions return are new ones, and
/// are made of others without copies.
namespace tenon::sparse {

inline bool is_compressed(Layout layout) { return layout != kStrided && layout != kSparse; }
/// CSR and BSR: rows are compressed; otherwise columns are.
inline bool compresses_rows(Layout layout) { return layout == kSparseCsr || layout == kSparseBsr; }
inline bool has_blocks(Layout layout) { return layout == kSparseBsr || layout == kSparseBsc; }

/// "Strided", "Sparse", "SparseCsr", as errors of PyTorch spell it.
const char* name_of(Layout layout);

inline SparseValue& content_of(const TensorBase& t) {
  TENON_CHECK(t.layout() != kStrided, "expected a sparse tensor, got a strided one of sizes ",
              t.sizes());
  return *t.unsafe_impl()->sparse;
}

/// The tensors that a sparse one consists of. They share its memory, and have no history.
Tensor indices_of(const TensorBase& coo);
Tensor compressed_of(const TensorBase& t);
Tensor plain_of(const TensorBase& t);
Tensor values_of(const TensorBase& t);

/// A COO tensor; nothing is checked.
Tensor make_coo(IntArrayRef sizes, int64_t sparse_dim, const Tensor& indices, const Tensor& values,
                bool coalesced);
/// A compressed tensor; nothing is checked.
Tensor make_compressed(Layout layout, IntArrayRef sizes, const Tensor& compressed,
                       const Tensor& plain, const Tensor& values);
/// The same places with other elements.
Tensor with_values(const TensorBase& t, const Tensor& values);
/// Without elements, with the layout and the dimensions of `like`.
Tensor empty_like_layout(const TensorBase& like, IntArrayRef sizes, ScalarType dtype);
/// Of any layout; a compressed one needs two dimensions at least.
Tensor empty_of_layout(Layout layout, IntArrayRef sizes, ScalarType dtype, Device device);
/// From now on `self` is what `other` is.
void become(const TensorBase& self, const TensorBase& other);

/// indices [n, nnz] as positions in a row-major tensor of these n sizes: int64 [nnz].
Tensor flat_positions(const Tensor& indices, IntArrayRef sizes);
/// The other way.
Tensor indices_at(const Tensor& positions, IntArrayRef sizes);

/// Equal keys as one: the ascending keys without duplicates, and for each given key which of them
/// it is.
struct Groups {
  Tensor keys;   ///< int64 [count]
  Tensor group;  ///< int64 [n]
};
Groups group_equal(const Tensor& keys);

/// zeros({count, ...}), to which row i of `rows` is added at group[i].
Tensor sum_groups(const Tensor& rows, const Tensor& group, int64_t count);

/// The COO tensor of the elements of a compressed one, in their order: [*batch, nnz, *block].
Tensor coo_of_compressed(const TensorBase& t);
/// Block sizes of BSR and BSC, {1, 1} otherwise.
std::array<int64_t, 2> block_of(const TensorBase& t);

/// The rows of t, strided or sparse, at the places of indices [n, nnz]: [nnz, *other sizes]. Made
/// of operators, and so differentiable.
Tensor elements_at(const Tensor& t, const Tensor& indices);

/// Makes the kernels of sparse layouts known to the dispatcher, once.
void register_kernels();

}  // namespace tenon::sparse
