#pragma once

#include "aten/core/deterministic.h"
#include "aten/cuda/atomic.cuh"
#include "aten/cuda/launch.h"
#include "tenon/native/sort.h"
#include "tenon/tensor.h"

// Elements that are added or multiplied into others by index, where several may go to one place. Of
// n elements, numbered, a struct passed by value knows
//   int64_t place(int64_t i) const     where in `out` element i goes; -1: nowhere
//   T value(int64_t i) const
namespace tenon::cuda {

enum class Accumulation { Sum, Product };

template <class T, class Elements>
__global__ void add_at_once_kernel(T* out, int64_t n, const __grid_constant__ Elements elements) {
  TENON_CUDA_LOOP(i, n) {
    const int64_t place = elements.place(i);
    if (place >= 0) atomic_add(out + place, elements.value(i));
  }
}

template <class Elements>
__global__ void element_places_kernel(int64_t* places, int64_t n,
                                      const __grid_constant__ Elements elements) {
  TENON_CUDA_LOOP(i, n) { places[i] = elements.place(i); }
}

/// `places` is sorted, numbers[k] is of the element that goes to places[k]. One thread for each
/// place: the first of those that go there.
template <class T, Accumulation kHow, class Elements>
__global__ void accumulate_in_order_kernel(const int64_t* places, const int64_t* numbers, T* out,
                                           int64_t n, const __grid_constant__ Elements elements) {
  using V = opmath_type<T>;
  TENON_CUDA_LOOP(first, n) {
    const int64_t place = places[first];
    if (place < 0 || (first > 0 && places[first - 1] == place)) continue;
    V result = convert<V>(out[place]);
    for (int64_t k = first; k < n && places[k] == place; ++k) {
      const V value = convert<V>(elements.value(numbers[k]));
      result = kHow == Accumulation::Sum ? plus(result, value) : times(result, value);
    }
    out[place] = convert<T>(result);
  }
}

/// out[place(i)] += value(i), or *=, for i in [0, n). Sums are left to atomic operations, in
/// whatever order, where that makes no difference, as of integers, or none was asked for; else, and
/// for products, the elements are sorted by place and taken in the order of their numbers.
template <Accumulation kHow, class T, class Elements>
void accumulate(T* out, int64_t n, const Elements& elements, const LaunchScope& scope) {
  if (n == 0) return;
  const unsigned grid = blocks_for(n);
  if constexpr (kHow == Accumulation::Sum) {
    if (std::is_integral_v<T> || !deterministic_algorithms()) {
      launch(add_at_once_kernel<T, Elements>, grid, kBlock, 0, scope, out, n, elements);
      return;
    }
  }
  if constexpr (kHow == Accumulation::Product || !std::is_integral_v<T>) {
    const Device device = scope.stream().device();
    const Tensor places(empty(n, kLong, device)), sorted(empty(n, kLong, device)),
        numbers(empty(n, kLong, device));
    launch(element_places_kernel<Elements>, grid, kBlock, 0, scope, places.data_ptr<int64_t>(), n,
           elements);
    native::sort_stable_cuda(places, true, 0, false, sorted, numbers);
    launch(accumulate_in_order_kernel<T, kHow, Elements>, grid, kBlock, 0, scope,
           sorted.data_ptr<int64_t>(), numbers.data_ptr<int64_t>(), out, n, elements);
  }
}

}  // namespace tenon::cuda
