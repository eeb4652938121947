// Functions of the device: atomic operations, conversions of the half types, some mathematics.
#include <cmath>
#include <cstring>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "tests/cuda_emulation/emulator.h"

namespace {

using cuda_emulation::Access;

/// One thread runs at a time, so that reading and writing is atomic as it stands.
template <class T, class F>
T update(T* at, Access kind, F next) {
  cuda_emulation::access(at, sizeof(T), kind);
  if (reinterpret_cast<uintptr_t>(at) % sizeof(T) != 0)
    cuda_emulation::fail("an atomic operation at a misaligned address");
  const T old = *at;
  *at = next(old);
  return old;
}
template <class T>
T add(T* to, T value, Access kind = Access::Atomic) {
  return update(to, kind, [value](T old) { return static_cast<T>(old + value); });
}
template <class T>
T exchange_if(T* to, T expected, T value) {
  return update(to, Access::Atomic, [=](T old) { return old == expected ? value : old; });
}

}  // namespace

int atomicAdd(int* to, int value) {
  return update(to, Access::Atomic, [value](int old) {
    return static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value));
  });
}
unsigned atomicAdd(unsigned* to, unsigned value) { return add(to, value); }
unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  return add(to, value);
}
float atomicAdd(float* to, float value) { return add(to, value, Access::FloatAtomic); }
double atomicAdd(double* to, double value) { return add(to, value, Access::FloatAtomic); }
unsigned atomicCAS(unsigned* to, unsigned expected, unsigned value) {
  return exchange_if(to, expected, value);
}
unsigned long long atomicCAS(unsigned long long* to, unsigned long long expected,
                             unsigned long long value) {
  return exchange_if(to, expected, value);
}
int atomicMax(int* to, int value) {
  return update(to, Access::Atomic, [value](int old) { return old > value ? old : value; });
}
int atomicMin(int* to, int value) {
  return update(to, Access::Atomic, [value](int old) { return old < value ? old : value; });
}
unsigned atomicOr(unsigned* to, unsigned value) {
  return update(to, Access::Atomic, [value](unsigned old) { return old | value; });
}
__half atomicAdd(__half* to, __half value) {
  return update(to, Access::FloatAtomic, [value](__half old) {
    return __float2half_rn(__half2float(old) + __half2float(value));
  });
}
__nv_bfloat16 atomicAdd(__nv_bfloat16* to, __nv_bfloat16 value) {
  return update(to, Access::FloatAtomic, [value](__nv_bfloat16 old) {
    return __float2bfloat16_rn(__bfloat162float(old) + __bfloat162float(value));
  });
}

float __half2float(__half h) {
  const int exponent = h.bits >> 10 & 31, mantissa = h.bits & 1023;
  const float sign = h.bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa ? std::copysign(NAN, sign) : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

__half __float2half_rn(float x) {
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return {static_cast<unsigned short>(sign | 0x7fff)};
  const double a = std::fabs(static_cast<double>(x));
  if (a >= 65520) return {static_cast<unsigned short>(sign | 0x7c00)};
  const int exponent = a < 0x1p-14 ? -14 : std::ilogb(a);
  // In units of the last place, halves to even; a carry into the exponent comes out right.
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(a, 10 - exponent)));
  const unsigned biased = static_cast<unsigned>(exponent + 14) << 10;
  return {static_cast<unsigned short>(sign |
                                      (units < 1024 && exponent == -14 ? units : biased + units))};
}

float __bfloat162float(__nv_bfloat16 h) { return __uint_as_float(unsigned{h.bits} << 16); }

__nv_bfloat16 __float2bfloat16_rn(float x) {
  if (std::isnan(x)) return {0x7fff};
  const unsigned bits = __float_as_uint(x), odd = bits >> 16 & 1;
  return {static_cast<unsigned short>((bits + 0x7fff + odd) >> 16)};
}

float rsqrtf(float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
float erfinvf(float x) { return static_cast<float>(erfinv(x)); }

/// By Newton's method on erf, or on erfc where erf is near 1.
double erfinv(double x) {
  if (!(std::fabs(x) <= 1)) return NAN;
  if (std::fabs(x) == 1) return std::copysign(INFINITY, x);
  if (x == 0) return x;
  const double a = std::fabs(x);
  // Winitzki (2008), good to 2e-3.
  const double c = 0.147, l = std::log1p(-a * a), t = 2 / (M_PI * c) + l / 2;
  double y = std::sqrt(std::sqrt(t * t - l / c) - t);
  for (int i = 0; i < 60; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = error / (2 / std::sqrt(M_PI) * std::exp(-y * y));
    y -= step;
    if (std::fabs(step) <= 1e-16 * y) break;
  }
  return std::copysign(y, x);
}

void sincospi(double x, double* sine, double* cosine) {
  const double r = std::remainder(x, 2.0);
  *sine = std::sin(M_PI * r);
  *cosine = std::cos(M_PI * r);
}
