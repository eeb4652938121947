#include "aten/generated_support/filled_parts.h"

#include <algorithm>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/core/thread_state.h"
#include "aten/iterator/new_memory.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/narrow.h"

namespace tenon {
namespace {

/// For each thread: what several parts read stays in its cache.
constexpr int64_t kBytesAtATime = 512 << 10;

/// Of a part: its operands have one floating dtype, besides conditions.
ScalarType dtype_of(const native::PartOperands& operands) {
  for (const Tensor& one : operands) {
    if (one.scalar_type() != kBool) return one.scalar_type();
  }
  return kBool;
}

}  // namespace

bool native::can_fill_parts(std::initializer_list<PartOperands> parts) {
  constexpr uint8_t kProfiler = DispatchKeySet(DispatchLayer::Profiler).layers;
  if (thread_state.enabled_layers & ~kProfiler) return false;
  for (const PartOperands& operands : parts) {
    if (dtype_of(operands) != dtype_of(*parts.begin())) return false;
    for (const Tensor& one : operands) {
      const DispatchKeySet keys = one.key_set();
      if (keys.has(DispatchLayer::Batched) || keys.has(DispatchLayer::Python) ||
          (GradMode::is_enabled() && one.requires_grad()))
        return false;
    }
  }
  return true;
}

Tensor native::filled_parts(std::initializer_list<PartOperands> parts, int64_t dim,
                            const FillPart& fill) {
  std::vector<DimVector> shapes;
  for (const PartOperands& operands : parts) {
    DimVector& shape = shapes.emplace_back();
    for (const Tensor& one : operands) {
      const IntArrayRef sizes = one.sizes();
      while (shape.size() < sizes.size()) shape.insert(shape.begin(), 1);
      // The guards of the kernels have found that they fit.
      for (size_t i = 0; i < sizes.size(); ++i) {
        int64_t& size = shape[shape.size() - sizes.size() + i];
        if (size == 1) size = sizes[i];
      }
    }
  }
  DimVector whole = shapes[0];
  const auto rank = static_cast<int64_t>(whole.size());
  TENON_CHECK_INDEX(dim >= -rank && dim < rank,
                    "Dimension out of range (expected to be in range of [", -rank, ", ", rank - 1,
                    "], but got ", dim, ")");
  const auto along = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  for (size_t i = 1; i < shapes.size(); ++i) {
    TENON_CHECK(shapes[i].size() == whole.size(),
                "Tensors must have same number of dimensions: got ", rank, " and ",
                shapes[i].size());
    for (size_t d = 0; d < whole.size(); ++d) {
      TENON_CHECK(d == along || shapes[i][d] == whole[d],
                  "Sizes of tensors must match except in dimension ", along, ". Expected size ",
                  whole[d], " but got size ", shapes[i][d], " for tensor number ", i,
                  " in the list.");
    }
    whole[along] += shapes[i][along];
  }
  const Tensor& first = parts.begin()->begin()->get();
  const Tensor made = tenon::empty(
      IntArrayRef(whole), TensorOptions().dtype(dtype_of(*parts.begin())).device(first.device()));
  const int64_t bytes = made.numel() * made.itemsize();
  const NewMemory scope(bytes);
  const int64_t rows = along == 0 ? 1 : whole[0];
  const int64_t at_a_time = along == 0
                                ? 1
                                : std::max<int64_t>(1, kBytesAtATime * get_num_threads() * rows /
                                                           std::max<int64_t>(bytes, 1));
  for (int64_t row = 0; row < rows; row += at_a_time) {
    const int64_t count = std::min(at_a_time, rows - row);
    const auto of_rows = [&](const Tensor& t) {
      const bool has_rows = along != 0 && t.dim() == rank && t.size(0) != 1 && count < rows;
      return has_rows ? tenon::narrow(t, 0, row, count) : t;
    };
    const Tensor place = of_rows(made);
    int64_t start = 0;
    for (size_t i = 0; i < shapes.size(); ++i) {
      std::vector<Tensor> in;
      for (const Tensor& one : parts.begin()[i]) in.push_back(of_rows(one));
      Tensor part = tenon::narrow(place, static_cast<int64_t>(along), start, shapes[i][along]);
      fill(i, part, in.data());
      start += shapes[i][along];
    }
  }
  return made;
}

}  // namespace tenon
