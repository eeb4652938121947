#include "tenon/native/segment_reduce.h"

#include <cmath>
#include <limits>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/combine.h"
#include "aten/meta/segment_reduce.h"
#include "tenon/native/_segment_reduce_backward.h"

namespace tenon {
namespace {

enum class SegmentReduction { Max, Mean, Min, Sum, Prod };

SegmentReduction reduction_of(std::string_view reduce) {
  if (reduce == "max" || reduce == "amax") return SegmentReduction::Max;
  if (reduce == "min" || reduce == "amin") return SegmentReduction::Min;
  if (reduce == "mean") return SegmentReduction::Mean;
  if (reduce == "sum") return SegmentReduction::Sum;
  return SegmentReduction::Prod;
}

/// What a segment begins with.
double identity(SegmentReduction reduction) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
  case SegmentReduction::Max: return -kInfinity;
  case SegmentReduction::Min: return kInfinity;
  case SegmentReduction::Prod: return 1;
  default: return 0;
  }
}

/// Where segments lie: of data [outer, length, inner] each row of `outer` has `count` of them.
struct Segments {
  int64_t outer = 1, count = 0, length = 0, inner = 1;
  std::vector<int64_t> begins, ends;  // [outer, count]

  Segments(const Tensor& data, const std::optional<Tensor>& lengths,
           const std::optional<Tensor>& offsets, int64_t axis, bool unsafe) {
    const native::SegmentAxis along(data, lengths, offsets, axis);
    const Tensor& given = offsets ? *offsets : *lengths;
    const native::DimSplit split(data.sizes(), along.dim);
    outer = split.outer;
    length = split.length;
    inner = split.inner;
    count = along.count;
    const int64_t entries = count + (offsets ? 1 : 0);
    const TensorBase numbers = native::contiguous(given, kLong);
    const auto* number = static_cast<const int64_t*>(numbers.const_data_ptr());
    begins.reserve(static_cast<size_t>(outer * count));
    ends.reserve(static_cast<size_t>(outer * count));
    for (int64_t o = 0; o < outer; ++o, number += entries) {
      int64_t end = offsets ? number[0] : 0;
      for (int64_t k = 0; k < count; ++k) {
        const int64_t begin = end;
        TENON_CHECK(offsets || number[k] >= 0,
                    "[segment_reduce] lengths contains negative value! got ", number[k]);
        end = offsets ? number[k + 1] : end + number[k];
        TENON_CHECK(0 <= begin && begin <= end && (end <= length || (!offsets && !unsafe)),
                    "[segment_reduce] Expected segments within ", length, " elements, got one of ",
                    begin, " to ", end);
        begins.push_back(begin);
        ends.push_back(end);
      }
      TENON_CHECK(unsafe || offsets || end == length,
                  "[segment_reduce] Expected all rows of lengths along axis to sum to "
                  "data.size(lengths.dim()-1) when !unsafe.");
    }
  }

  /// f(segment, its first element in data, its elements), on several threads.
  template <class F>
  void for_each(F&& f) const {
    const int64_t work = std::max<int64_t>(1, length * inner / std::max<int64_t>(1, count));
    parallel_for(0, outer * count, 1 + 32768 / work, [&](int64_t first, int64_t last) {
      for (int64_t s = first; s < last; ++s) {
        const auto at = static_cast<size_t>(s);
        f(s, (s / count * length + begins[at]) * inner, ends[at] - begins[at]);
      }
    });
  }
};

/// Several partial reductions at a time, put together in their order.
template <class T, class W, class F>
W reduced(const T* x, int64_t n, W begin, W identity, F combine) {
  constexpr int64_t kParts = 8;
  W parts[kParts];
  std::fill_n(parts, kParts, identity);
  int64_t k = 0;
  for (; k + kParts <= n; k += kParts) {
    for (int64_t i = 0; i < kParts; ++i) parts[i] = combine(parts[i], static_cast<W>(x[k + i]));
  }
  for (const W part : parts) begin = combine(begin, part);
  for (; k < n; ++k) begin = combine(begin, static_cast<W>(x[k]));
  return begin;
}

template <class T, class F>
void reduce_segments(const Segments& segments, SegmentReduction reduction, const T* data, T* out,
                     const std::optional<Scalar>& initial, F combine) {
  using W = opmath_type<T>;
  const int64_t inner = segments.inner;
  const auto neutral = static_cast<W>(identity(reduction));
  const W begin = initial ? static_cast<W>(initial->toDouble()) : neutral;
  const bool mean = reduction == SegmentReduction::Mean;
  const auto finished = [&](W value, int64_t n) {
    if (!mean) return static_cast<T>(value);
    if (n == 0)
      return initial ? static_cast<T>(value) : static_cast<T>(std::numeric_limits<W>::quiet_NaN());
    return static_cast<T>(value / static_cast<W>(n));
  };
  segments.for_each([&](int64_t s, int64_t first, int64_t n) {
    if (inner == 1) {
      out[s] = finished(reduced(data + first, n, begin, neutral, combine), n);
      return;
    }
    std::vector<W> sums(static_cast<size_t>(inner), begin);
    W* sum = sums.data();
    for (int64_t k = 0; k < n; ++k) {
      const T* row = data + first + k * inner;
      for (int64_t j = 0; j < inner; ++j) sum[j] = combine(sum[j], static_cast<W>(row[j]));
    }
    for (int64_t j = 0; j < inner; ++j) out[s * inner + j] = finished(sum[j], n);
  });
}

/// The gradient of a segment's elements, `step` apart.
template <class T, class W>
void segment_gradient(SegmentReduction reduction, const T* data, T* to, int64_t n, int64_t step,
                      W grad, W output, W begin) {
  const auto at = [&](int64_t k) { return static_cast<W>(data[k * step]); };
  const auto set = [&](int64_t k, W value) { to[k * step] = static_cast<T>(value); };
  if (reduction == SegmentReduction::Sum || reduction == SegmentReduction::Mean) {
    const W each = reduction == SegmentReduction::Sum ? grad : grad / static_cast<W>(n);
    for (int64_t k = 0; k < n; ++k) set(k, each);
  } else if (reduction == SegmentReduction::Prod) {
    // The product of the others: of those before an element, and of those behind it.
    std::vector<W> before(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) {
      before[static_cast<size_t>(k)] = begin;
      begin *= at(k);
    }
    W behind = grad;
    for (int64_t k = n; k-- > 0;) {
      set(k, before[static_cast<size_t>(k)] * behind);
      behind *= at(k);
    }
  } else {
    // A stored output has been rounded as the elements are.
    const auto is_extreme = [&](int64_t k) { return std::isnan(at(k)) || at(k) == output; };
    int64_t ties = 0;
    for (int64_t k = 0; k < n; ++k) ties += is_extreme(k);
    for (int64_t k = 0; k < n; ++k) set(k, is_extreme(k) ? grad / static_cast<W>(ties) : W(0));
  }
}

}  // namespace

/// out[..., s, ...] is the reduction of the elements of segment s along axis and of `initial`.
void native::segment_reduce_cpu(const Tensor& data, std::string_view reduce,
                                const std::optional<Tensor>& lengths, const std::optional<Tensor>&,
                                const std::optional<Tensor>& offsets, int64_t axis, bool unsafe,
                                const std::optional<Scalar>& initial, const Tensor& out) {
  const SegmentReduction reduction = reduction_of(reduce);
  const Segments segments(data, lengths, offsets, axis, unsafe);
  const ContiguousOutput result(out);
  const TensorBase in = contiguous(data);
  TENON_DISPATCH_FLOATING_AND_REDUCED(data.scalar_type(), "segment_reduce", {
    const auto run = [&](auto combine) {
      reduce_segments(segments, reduction, static_cast<const scalar_t*>(in.const_data_ptr()),
                      result.data<scalar_t>(), initial, combine);
    };
    switch (reduction) {
    case SegmentReduction::Max: run(Largest()); break;
    case SegmentReduction::Min: run(Smallest()); break;
    case SegmentReduction::Prod: run(Product()); break;
    default: run(Sum());
    }
  });
  result.copy_back();
}

/// Elements equal to an extreme share its gradient; `initial` has none.
void native::_segment_reduce_backward_cpu(const Tensor& grad_output, const Tensor& output,
                                          const Tensor& data, std::string_view reduce,
                                          const std::optional<Tensor>& lengths,
                                          const std::optional<Tensor>& offsets, int64_t axis,
                                          const std::optional<Scalar>& initial, const Tensor& out) {
  const SegmentReduction reduction = reduction_of(reduce);
  const Segments segments(data, lengths, offsets, axis, true);
  const ContiguousOutput result(out);
  const TensorBase in = contiguous(data), grads = contiguous(grad_output),
                   outputs = contiguous(output);
  TENON_DISPATCH_FLOATING_AND_REDUCED(data.scalar_type(), "_segment_reduce_backward", {
    using W = opmath_type<scalar_t>;
    const auto* x = static_cast<const scalar_t*>(in.const_data_ptr());
    const auto* g = static_cast<const scalar_t*>(grads.const_data_ptr());
    const auto* y = static_cast<const scalar_t*>(outputs.const_data_ptr());
    auto* to = result.data<scalar_t>();
    std::fill_n(to, out.numel(), scalar_t(0));
    const auto begin = static_cast<W>(initial ? initial->toDouble() : identity(reduction));
    segments.for_each([&](int64_t s, int64_t first, int64_t n) {
      for (int64_t j = 0; j < segments.inner; ++j) {
        const int64_t at = s * segments.inner + j;
        segment_gradient(reduction, x + first + j, to + first + j, n, segments.inner,
                         static_cast<W>(g[at]), static_cast<W>(y[at]), begin);
      }
    });
  });
  result.copy_back();
}

}  // namespace tenon
