#pragma once

#include <cstdint>

namespace tenon::native {

/// A tensor of `count` values per channel: row-major [batch, channels, inner], or with the channels
/// fastest
/// ([batch * inner, channels]: channels last, and matrices).
struct ChannelShape {
  int64_t batch, channels, inner;
  bool channels_last;

  int64_t count() const { return batch * inner; }
};

/// sum over each channel of (x - shift[c]) * (dy ? dy : x - shift[c]) into `products`, and of
/// (dy ? dy : x - shift[c]) into `sums`; T float or double.
template <class T>
void channel_sums(const ChannelShape& s, const T* x, const T* dy, const T* shift, double* sums,
                  double* products);

/// y = x * a[c] + b[c] and, with `dy`, y = dy * a[c] + x * c[c] + b[c].
template <class T>
void channel_affine(const ChannelShape& s, const T* x, const T* dy, const T* a, const T* b,
                    const T* c, T* y);

#define TENON_DECLARE(T)                                                                           \
  extern template void channel_sums<T>(const ChannelShape&, const T*, const T*, const T*, double*, \
                                       double*);                                                   \
  extern template void channel_affine<T>(const ChannelShape&, const T*, const T*, const T*,        \
                                         const T*, const T*, T*);
TENON_DECLARE(float)
TENON_DECLARE(double)
#undef TENON_DECLARE

}  // namespace tenon::native
