#include "aten/cpu/grid_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/grid_lanes.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "aten/cpu/vec/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A lane is a point of the grid.
template <class T>
using GridTag = hn::ScalableTag<T>;
template <class T>
using Values = hn::Vec<GridTag<T>>;
template <class T>
using OffsetTag = hn::RebindToSigned<GridTag<T>>;
template <class T>
using Offsets = hn::Vec<OffsetTag<T>>;
template <class T>
using Offset = hn::TFromD<OffsetTag<T>>;
template <class T>
inline constexpr int64_t kGridLanes = static_cast<int64_t>(HWY_MAX_BYTES / sizeof(T));

constexpr int power(int base, int exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/// The neighbours of places along one dimension. An offset below 0 is outside of the input.
template <class T, int kTaps>
struct AxisTaps {
  Values<T> weight[kTaps], next[kTaps];
  Offsets<T> offset[kTaps];
};

/// Places moved into the input, and `factor` multiplied by their derivative by the places.
template <class T>
HWY_INLINE Values<T> padded(Values<T> place, const GridAxis<T>& axis, GridPadding padding,
                            Values<T>& factor) {
  const GridTag<T> d;
  const auto zero = hn::Zero(d), last = hn::Set(d, static_cast<T>(axis.size - 1));
  if (padding == GridPadding::Zeros) return place;
  if (padding == GridPadding::Reflection) {
    if (axis.span <= 0) {
      factor = zero;
      return zero;
    }
    const auto mirror = hn::Set(d, axis.mirror), period = hn::Set(d, 2 * axis.span);
    const auto from = hn::Sub(place, mirror), distance = hn::Abs(from);
    const auto periods = hn::Trunc(hn::Div(distance, period));
    const auto part = hn::Sub(distance, hn::Mul(periods, period));
    const auto back = hn::Gt(part, hn::Set(d, axis.span)), before = hn::Lt(from, zero);
    place = hn::Add(hn::IfThenElse(back, hn::Sub(period, part), part), mirror);
    factor = hn::IfThenElse(hn::Xor(back, before), hn::Neg(factor), factor);
  }
  factor = hn::IfThenElseZero(hn::And(hn::Gt(place, zero), hn::Lt(place, last)), factor);
  const auto number = hn::Min(hn::Max(place, zero), last);
  return hn::IfThenElse(hn::IsNaN(place), hn::Set(d, axis.instead_of_nan), number);
}

/// What rounding took from place = (coordinate + 1) scale + shift. Without it the distance of a
/// place from its element would be as coarse as the place, which gradients would multiply by scale.
template <class T>
HWY_INLINE Values<T> rest_of(Values<T> coordinate, Values<T> place, const GridAxis<T>& axis) {
  const GridTag<T> d;
  const auto scale = hn::Set(d, axis.scale), middle = hn::Set(d, axis.scale + axis.shift);
  const auto difference = hn::Sub(middle, place), taken = hn::Sub(difference, middle);
  const auto lost = hn::Sub(hn::Sub(middle, hn::Sub(difference, taken)), hn::Add(place, taken));
  const auto rest = hn::Add(hn::MulAdd(coordinate, scale, difference), lost);
  // Far outside, where a unit in the last place is more than an element, it would say nothing.
  return hn::IfThenElseZero(hn::Lt(hn::Abs(rest), hn::Set(d, T(0.25))), rest);
}

/// sum_i coefficients[i] t^i * slope^order.
template <int kTaps, class T>
HWY_INLINE Values<T> polynomial(const T* coefficients, Values<T> t, Values<T> slope,
                                int64_t order) {
  const GridTag<T> d;
  auto sum = hn::Set(d, coefficients[kTaps - 1]);
  for (int i = kTaps - 2; i >= 0; --i) sum = hn::MulAdd(sum, t, hn::Set(d, coefficients[i]));
  if constexpr (kTaps > 1) {
    for (int64_t i = 0; i < order; ++i) sum = hn::Mul(sum, slope);
  }
  return sum;
}

/// index * stride of positions within the input.
template <class T>
HWY_INLINE Offsets<T> offsets_of(Values<T> index, int64_t stride) {
  const OffsetTag<T> di;
  if constexpr (sizeof(T) == sizeof(double)) {
    return hn::ConvertTo(di, hn::Mul(index, hn::Set(GridTag<T>(), static_cast<T>(stride))));
  } else {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    // Highway's conversion looks for what int32 does not hold.
    const Offsets<T> whole{_mm512_cvttps_epi32(index.raw)};
#else
    const auto whole = hn::ConvertTo(di, index);
#endif
    return hn::Mul(whole, hn::Set(di, static_cast<Offset<T>>(stride)));
  }
}

template <bool kNext, class T, int kTaps>
HWY_INLINE void find_taps(const GridSampler<T>& s, const GridAxis<T>& axis, Values<T> coordinate,
                          AxisTaps<T, kTaps>& taps) {
  const GridTag<T> d;
  const OffsetTag<T> di;
  const auto zero = hn::Zero(d), one = hn::Set(d, T(1)),
             size = hn::Set(d, static_cast<T>(axis.size));
  const auto scale = hn::Set(d, axis.scale);
  auto place = hn::Add(hn::Mul(hn::Add(coordinate, one), scale), hn::Set(d, axis.shift));
  auto rest = zero, factor = one;
  if constexpr (sizeof(T) == sizeof(float) && kTaps > 1) rest = rest_of(coordinate, place, axis);
  if (s.finite_only) place = hn::IfThenElse(hn::IsFinite(place), place, hn::Set(d, T(-2)));
  if constexpr (kTaps < 4) place = padded(place, axis, s.padding, factor);
  const auto slope = hn::Mul(scale, factor);
  const auto first = kTaps == 1 ? hn::Round(place) : hn::Floor(place);
  const auto t = hn::MulAdd(rest, factor, hn::Sub(place, first));
  const auto outside = hn::Set(di, std::numeric_limits<Offset<T>>::min());
  for (int k = 0; k < kTaps; ++k) {
    taps.weight[k] = polynomial<kTaps>(axis.weights[k], t, slope, axis.order);
    if constexpr (kNext) {
      taps.next[k] = polynomial<kTaps>(axis.next[k], t, slope, axis.order + 1);
    }
    auto at = hn::Add(first, hn::Set(d, static_cast<T>(kTaps == 4 ? k - 1 : k)));
    auto ignored = slope;
    if constexpr (kTaps == 4) at = padded(at, axis, s.padding, ignored);
    const auto inside = hn::And(hn::Ge(at, zero), hn::Lt(at, size));
    const auto index = hn::IfThenElseZero(inside, at);
    const auto offset = offsets_of<T>(index, axis.stride);
    taps.offset[k] = hn::IfThenElse(hn::RebindMask(di, inside), offset, outside);
  }
}

/// The elements at a tap of each dimension; 0 outside.
template <class T>
HWY_INLINE Values<T> element_at(const T* in, Offsets<T> at, Offsets<T> signs) {
  const OffsetTag<T> di;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // Highway has no gather with a mask.
  const auto inside = hn::Gt(signs, hn::Set(di, Offset<T>(-1)));
  if constexpr (sizeof(T) == sizeof(float)) {
    return Values<T>{_mm512_mask_i32gather_ps(_mm512_setzero_ps(), inside.raw, at.raw, in, 4)};
  } else {
    return Values<T>{_mm512_mask_i64gather_pd(_mm512_setzero_pd(), inside.raw, at.raw, in, 8)};
  }
#else
  const auto outside = hn::Lt(signs, hn::Zero(di));
  const auto value = hn::GatherIndex(GridTag<T>(), in, hn::IfThenZeroElse(outside, at));
  return hn::IfThenZeroElse(hn::RebindMask(GridTag<T>(), outside), value);
#endif
}

/// The weighted sum over the taps of dimensions up to kAxis; a single tap has the weight 1.
template <int kAxis, class T, int kTaps>
HWY_INLINE Values<T> value_at(const T* in, const AxisTaps<T, kTaps>* taps, Offsets<T> at,
                              Offsets<T> signs) {
  if constexpr (kAxis < 0) {
    return element_at(in, at, signs);
  } else if constexpr (kTaps == 1) {
    const auto& offset = taps[kAxis].offset[0];
    return value_at<kAxis - 1>(in, taps, hn::Add(at, offset), hn::Or(signs, offset));
  } else {
    const auto& axis = taps[kAxis];
    auto sum = hn::Zero(GridTag<T>());
    for (int k = 0; k < kTaps; ++k) {
      const auto value =
          value_at<kAxis - 1>(in, taps, hn::Add(at, axis.offset[k]), hn::Or(signs, axis.offset[k]));
      sum = hn::MulAdd(axis.weight[k], value, sum);
    }
    return sum;
  }
}

/// The same sum, and its derivatives by the coordinates of these dimensions.
template <int kAxis, class T>
struct Partials {
  Values<T> value, by[kAxis + 2];
};

template <int kAxis, class T, int kTaps>
HWY_INLINE Partials<kAxis, T> partials_at(const T* in, const AxisTaps<T, kTaps>* taps,
                                          Offsets<T> at, Offsets<T> signs) {
  Partials<kAxis, T> result;
  if constexpr (kAxis < 0) {
    result.value = element_at(in, at, signs);
  } else {
    const auto& axis = taps[kAxis];
    result.value = hn::Zero(GridTag<T>());
    for (int j = 0; j <= kAxis; ++j) result.by[j] = result.value;
    for (int k = 0; k < kTaps; ++k) {
      const auto inner = partials_at<kAxis - 1>(in, taps, hn::Add(at, axis.offset[k]),
                                                hn::Or(signs, axis.offset[k]));
      result.value = hn::MulAdd(axis.weight[k], inner.value, result.value);
      for (int j = 0; j < kAxis; ++j) {
        result.by[j] = hn::MulAdd(axis.weight[k], inner.by[j], result.by[j]);
      }
      result.by[kAxis] = hn::MulAdd(axis.next[k], inner.value, result.by[kAxis]);
    }
  }
  return result;
}

/// Offset and weight of every combination of taps of dimensions up to kAxis, lane by lane.
template <int kAxis, class T, int kTaps>
HWY_INLINE void list_taps(const AxisTaps<T, kTaps>* taps, Offsets<T> at, Offsets<T> signs,
                          Values<T> weight, Offset<T>*& offsets, T*& weights) {
  if constexpr (kAxis < 0) {
    const OffsetTag<T> di;
    hn::StoreU(hn::IfThenElse(hn::Lt(signs, hn::Zero(di)), hn::Set(di, Offset<T>(-1)), at), di,
               offsets);
    hn::StoreU(weight, GridTag<T>(), weights);
    offsets += kGridLanes<T>;
    weights += kGridLanes<T>;
  } else {
    const auto& axis = taps[kAxis];
    for (int k = 0; k < kTaps; ++k) {
      list_taps<kAxis - 1, T, kTaps>(taps, hn::Add(at, axis.offset[k]),
                                     hn::Or(signs, axis.offset[k]), hn::Mul(weight, axis.weight[k]),
                                     offsets, weights);
    }
  }
}

/// The taps of `count` points, from grid [count, kDims].
template <bool kNext, int kDims, class T, int kTaps>
HWY_INLINE void taps_of_points(const GridSampler<T>& s, const T* grid, int64_t count,
                               AxisTaps<T, kTaps>* taps) {
  const GridTag<T> d;
  HWY_ALIGN T coordinates[kDims * kGridLanes<T>];
  if (count < kGridLanes<T>) {
    std::fill_n(coordinates, kDims * kGridLanes<T>, T(0));
    std::copy_n(grid, count * kDims, coordinates);
    grid = coordinates;
  }
  Values<T> of[3];
  if constexpr (kDims == 2) {
    hn::LoadInterleaved2(d, grid, of[0], of[1]);
  } else {
    hn::LoadInterleaved3(d, grid, of[0], of[1], of[2]);
  }
#pragma GCC unroll 3
  for (int a = 0; a < kDims; ++a) find_taps<kNext>(s, s.axes[a], of[a], taps[a]);
}

template <int kDims, int kTaps, class T>
void sample(const GridSampler<T>& given, const T* in, const T* grid, T* out, int64_t begin,
            int64_t end) {
  const GridSampler<T> s = given;  // which nothing that is written overlaps
  const GridTag<T> d;
  const auto zero = hn::Zero(OffsetTag<T>());
  for (int64_t p = begin; p < end; p += kGridLanes<T>) {
    const int64_t count = std::min(end - p, kGridLanes<T>);
    AxisTaps<T, kTaps> taps[kDims];
    taps_of_points<false, kDims>(s, grid + p * kDims, count, taps);
    for (int64_t c = 0; c < s.channels; ++c) {
      const auto value = value_at<kDims - 1>(in + c * s.channel_stride, taps, zero, zero);
      T* to = out + c * s.points + p;
      if (count == kGridLanes<T>) {
        hn::StoreU(value, d, to);
      } else {
        store_part(value, d, to, count);
      }
    }
  }
}

/// Adds the gradients of `count` points to the elements that these were made of. Sums are in
/// PyTorch's order: point by point of volumes, tap by tap of images.
template <int kDims, int kCombinations, class T>
HWY_INLINE void add_to_taps(T* to, const T* grad, const Offset<T>* offsets, const T* weights,
                            int64_t count) {
  constexpr int64_t kN = kGridLanes<T>;
  const auto add = [&](int64_t k, int64_t lane) HWY_ATTR {
    const Offset<T> at = offsets[k * kN + lane];
    if (at >= 0) to[at] += weights[k * kN + lane] * grad[lane];
  };
  if constexpr (kDims == 3) {
    for (int64_t lane = 0; lane < count; ++lane) {
      for (int64_t k = 0; k < kCombinations; ++k) add(k, lane);
    }
  } else {
    for (int64_t k = 0; k < kCombinations; ++k) {
      for (int64_t lane = 0; lane < count; ++lane) add(k, lane);
    }
  }
}

template <int kDims, int kTaps, class T>
void sample_backward(const GridSampler<T>& given, const T* in, const T* grid, const T* grad,
                     T* to_in, T* to_grid, int64_t begin, int64_t end) {
  const GridSampler<T> s = given;  // which nothing that is written overlaps
  constexpr int kCombinations = power(kTaps, kDims);
  constexpr int64_t kN = kGridLanes<T>;
  const GridTag<T> d;
  const auto zero = hn::Zero(OffsetTag<T>());
  HWY_ALIGN Offset<T> offsets[kCombinations * kN];
  HWY_ALIGN T weights[kCombinations * kN];
  for (int64_t p = begin; p < end; p += kN) {
    const int64_t count = std::min(end - p, kN);
    AxisTaps<T, kTaps> taps[kDims];
    taps_of_points<true, kDims>(s, grid + p * kDims, count, taps);
    if (to_in != nullptr) {
      Offset<T>* next_offset = offsets;
      T* next_weight = weights;
      list_taps<kDims - 1, T, kTaps>(taps, zero, zero, hn::Set(d, T(1)), next_offset, next_weight);
    }
    Values<T> sums[kDims];
    for (auto& sum : sums) sum = hn::Zero(d);
    for (int64_t c = 0; c < s.channels; ++c) {
      const T* from = grad + c * s.points + p;
      if (to_grid != nullptr) {
        const auto g = count == kN ? hn::LoadU(d, from) : load_part(d, from, count, T(0));
        const auto value = partials_at<kDims - 1>(in + c * s.channel_stride, taps, zero, zero);
        for (int j = 0; j < kDims; ++j) sums[j] = hn::MulAdd(g, value.by[j], sums[j]);
      }
      if (to_in != nullptr) {
        add_to_taps<kDims, kCombinations>(to_in + c * s.channel_stride, from, offsets, weights,
                                          count);
      }
    }
    if (to_grid != nullptr) {
      HWY_ALIGN T by_point[kDims * kN];
      if constexpr (kDims == 2) {
        hn::StoreInterleaved2(sums[0], sums[1], d, by_point);
      } else {
        hn::StoreInterleaved3(sums[0], sums[1], sums[2], d, by_point);
      }
      std::copy_n(by_point, count * kDims, to_grid + p * kDims);
    }
  }
}

template <int kDims, class T>
void sample_dims(const GridSampler<T>& s, const T* in, const T* grid, T* out, int64_t begin,
                 int64_t end) {
  if (s.taps == 1) return sample<kDims, 1>(s, in, grid, out, begin, end);
  if (s.taps == 2) return sample<kDims, 2>(s, in, grid, out, begin, end);
  sample<kDims, 4>(s, in, grid, out, begin, end);
}

template <int kDims, class T>
void sample_dims_backward(const GridSampler<T>& s, const T* in, const T* grid, const T* grad,
                          T* to_in, T* to_grid, int64_t begin, int64_t end) {
  if (s.taps == 1) {
    return sample_backward<kDims, 1>(s, in, grid, grad, to_in, to_grid, begin, end);
  }
  if (s.taps == 2) {
    return sample_backward<kDims, 2>(s, in, grid, grad, to_in, to_grid, begin, end);
  }
  sample_backward<kDims, 4>(s, in, grid, grad, to_in, to_grid, begin, end);
}

#define TENON_GRID(T)                                                                          \
  void sample_##T(const GridSampler<T>& s, const T* in, const T* grid, T* out, int64_t begin,  \
                  int64_t end) {                                                               \
    s.dims == 2 ? sample_dims<2>(s, in, grid, out, begin, end)                                 \
                : sample_dims<3>(s, in, grid, out, begin, end);                                \
  }                                                                                            \
  void sample_backward_##T(const GridSampler<T>& s, const T* in, const T* grid, const T* grad, \
                           T* to_in, T* to_grid, int64_t begin, int64_t end) {                 \
    s.dims == 2 ? sample_dims_backward<2>(s, in, grid, grad, to_in, to_grid, begin, end)       \
                : sample_dims_backward<3>(s, in, grid, grad, to_in, to_grid, begin, end);      \
  }
TENON_GRID(float)
TENON_GRID(double)
#undef TENON_GRID

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {
namespace {

#define TENON_GRID(T)     \
  HWY_EXPORT(sample_##T); \
  HWY_EXPORT(sample_backward_##T);
TENON_GRID(float)
TENON_GRID(double)
#undef TENON_GRID

}  // namespace

template <class T>
void sample_grid(const GridSampler<T>& s, const T* in, const T* grid, T* out, int64_t begin,
                 int64_t end) {
  if constexpr (sizeof(T) == sizeof(float)) {
    HWY_DYNAMIC_DISPATCH(sample_float)(s, in, grid, out, begin, end);
  } else {
    HWY_DYNAMIC_DISPATCH(sample_double)(s, in, grid, out, begin, end);
  }
}

template <class T>
void sample_grid_backward(const GridSampler<T>& s, const T* in, const T* grid, const T* grad,
                          T* to_in, T* to_grid, int64_t begin, int64_t end) {
  if constexpr (sizeof(T) == sizeof(float)) {
    HWY_DYNAMIC_DISPATCH(sample_backward_float)(s, in, grid, grad, to_in, to_grid, begin, end);
  } else {
    HWY_DYNAMIC_DISPATCH(sample_backward_double)(s, in, grid, grad, to_in, to_grid, begin, end);
  }
}

template void sample_grid(const GridSampler<float>&, const float*, const float*, float*, int64_t,
                          int64_t);
template void sample_grid(const GridSampler<double>&, const double*, const double*, double*,
                          int64_t, int64_t);
template void sample_grid_backward(const GridSampler<float>&, const float*, const float*,
                                   const float*, float*, float*, int64_t, int64_t);
template void sample_grid_backward(const GridSampler<double>&, const double*, const double*,
                                   const double*, double*, double*, int64_t, int64_t);

}  // namespace tenon::native
#endif
