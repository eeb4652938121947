#pragma once

#include <cstdint>

namespace tenon::native {

/// A linear map from `length` elements to `size`: element i is the sum over starts[i] <= e <
/// starts[i + 1] of weights[e] times element indices[e].
template <class T>
struct LinearMap {
  int64_t length, size;
  const int64_t* starts;
  const int64_t* indices;
  const T* weights;
};

/// The map along the middle dimension of in [outer, length, inner]: out [outer, size, inner]; T
/// float or double.
template <class T>
void resample_rows(const T* in, T* out, int64_t outer, int64_t inner, const LinearMap<T>& map);

extern template void resample_rows(const float*, float*, int64_t, int64_t, const LinearMap<float>&);
extern template void resample_rows(const double*, double*, int64_t, int64_t,
                                   const LinearMap<double>&);

}  // namespace tenon::native
