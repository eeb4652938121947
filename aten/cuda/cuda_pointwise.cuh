#pragma once

#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/cuda_math_complex.cuh"
#include "aten/cuda/cuda_pointwise.h"
#include "aten/cuda/divisor.cuh"
#include "aten/cuda/launch.h"

// The one kernel that all pointwise operators run as. Each thread computes the consecutive elements
// that 16 bytes hold: operands that lie so in memory, at least along the fastest dimension, are
// read and written at once, in their own type or as bool, Half or BFloat16; all others element by
// element by functions that are shared by the kernels of a file, so that a kernel's code is small.
namespace tenon::cuda {

using native::ComputeType;
using native::PointwisePlan;

template <ComputeType C>
struct ValueOf;
template <>
struct ValueOf<ComputeType::F32> {
  using type = float;
};
template <>
struct ValueOf<ComputeType::F64> {
  using type = double;
};
template <>
struct ValueOf<ComputeType::I32> {
  using type = int32_t;
};
template <>
struct ValueOf<ComputeType::I64> {
  using type = int64_t;
};
template <>
struct ValueOf<ComputeType::C64> {
  using type = thrust::complex<float>;
};
template <>
struct ValueOf<ComputeType::C128> {
  using type = thrust::complex<double>;
};
template <>
struct ValueOf<ComputeType::Bool> {
  using type = int32_t;
};

template <class V>
inline constexpr int kPerThread = 16 / static_cast<int>(sizeof(V));

/// How a thread gets at its elements of an operand.
enum class Access : uint8_t {
  Skip,      ///< an output that is not wanted
  Number,    ///< one value, known at launch
  Repeat,    ///< one value in device memory for all of a thread's elements
  Own,       ///< dense, of the compute type
  Mask,      ///< dense bool
  Half,      ///< dense Half, computed in float
  BFloat16,  ///< dense BFloat16, computed in float
  Strided,
};

struct Geometry {
  uint32_t numel;
  int ndim;
  Divisor sizes[native::kMaxPlanDims];
};

struct Operand {
  char* data;
  ScalarType dtype;
  ScalarType round_to;  // see PointwisePlan::Operand
  Access access;
  bool in_pieces;  ///< dense, or repeated, along the fastest dimension alone
  uint32_t size;   // of an element, in bytes
  uint32_t strides[native::kMaxPlanDims];  // in bytes
};

template <class V, int kInputs, int kOutputs, int kScalars>
struct PointwiseArguments {
  Geometry geometry;
  Operand outs[kOutputs];
  Operand ins[kInputs];
  V numbers[kInputs];
  V scalars[kScalars > 0 ? kScalars : 1];
};

/// In bytes. An offset, since of a pointer that a call returns the compiler does not know that it
/// is one to global memory.
__device__ __noinline__ inline uint32_t element_offset(const Geometry& g, const Operand& o,
                                                       uint32_t index) {
  uint32_t offset = 0;
  for (int d = 0; d < g.ndim; ++d) {
    const uint32_t next = g.sizes[d].quotient(index);
    offset += (index - next * g.sizes[d].value) * o.strides[d];
    index = next;
  }
  return offset;
}

template <class V>
__device__ __noinline__ V load_element(const Geometry& g, const Operand& o, uint32_t index) {
  const char* from = o.data + element_offset(g, o, index);
  switch (o.dtype) {
#define TENON_CASE(T, Name) \
  case ScalarType::Name: return convert<V>(*reinterpret_cast<const T*>(from));
    TENON_FORALL_INTEGRAL(TENON_CASE)
    TENON_FORALL_FLOATING(TENON_CASE)
    TENON_FORALL_REDUCED_FLOATING(TENON_CASE)
    TENON_CASE(bool, Bool)
#undef TENON_CASE
  case ScalarType::ComplexFloat:
    return convert<V>(*reinterpret_cast<const thrust::complex<float>*>(from));
  case ScalarType::ComplexDouble:
    return convert<V>(*reinterpret_cast<const thrust::complex<double>*>(from));
  default: break;
  }
  return V(0);
}

template <class V>
__device__ __noinline__ void store_element(const Geometry& g, const Operand& o, uint32_t index,
                                           V value) {
  char* to = o.data + element_offset(g, o, index);
  switch (o.dtype) {
#define TENON_CASE(T, Name) \
  case ScalarType::Name: *reinterpret_cast<T*>(to) = convert<T>(value); break;
    TENON_FORALL_INTEGRAL(TENON_CASE)
    TENON_FORALL_FLOATING(TENON_CASE)
    TENON_FORALL_REDUCED_FLOATING(TENON_CASE)
    TENON_CASE(bool, Bool)
#undef TENON_CASE
  case ScalarType::ComplexFloat:
    *reinterpret_cast<thrust::complex<float>*>(to) = convert<thrust::complex<float>>(value);
    break;
  case ScalarType::ComplexDouble:
    *reinterpret_cast<thrust::complex<double>*>(to) = convert<thrust::complex<double>>(value);
    break;
  default: break;
  }
}

/// The value as the nearest one of `through`, where that is a type narrower than V.
template <class V>
__device__ __noinline__ V round_to_dtype(ScalarType round_to, V value) {
  switch (round_to) {
#define TENON_CASE(T, Name) \
  case ScalarType::Name: return convert<V>(convert<T>(value));
    TENON_FORALL_INTEGRAL(TENON_CASE)
    TENON_FORALL_FLOATING(TENON_CASE)
    TENON_FORALL_REDUCED_FLOATING(TENON_CASE)
    TENON_CASE(bool, Bool)
#undef TENON_CASE
  default: return value;
  }
}

template <class V, int N>
__device__ __forceinline__ void round_to_dtype(const Operand& o, V (&values)[N]) {
  if (o.round_to == ScalarType::Undefined) return;
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = round_to_dtype(o.round_to, values[i]);
}

template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T values[N];
};

/// Where the thread's elements lie one after the other.
__device__ __forceinline__ char* dense_address(const Geometry& g, const Operand& o,
                                               uint32_t index) {
  return o.data + (o.in_pieces ? element_offset(g, o, index) : index * o.size);
}

template <class T, class V, int N>
__device__ __forceinline__ void load_dense(const char* from, V (&values)[N]) {
  const auto pack = *reinterpret_cast<const Pack<T, N>*>(from);
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = convert<V>(pack.values[i]);
}

template <class T, class V, int N>
__device__ __forceinline__ void store_dense(char* to, const V (&values)[N]) {
  Pack<T, N> pack;
#pragma unroll
  for (int i = 0; i < N; ++i) pack.values[i] = convert<T>(values[i]);
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

/// The thread's `count` elements from `index` on; fewer than N only at the end, where 1 stands for
/// the others: a divisor that does no harm.
template <class V, int N>
__device__ __forceinline__ void load(const Geometry& g, const Operand& o, const V& number,
                                     uint32_t index, int count, V (&values)[N]) {
  if (o.access == Access::Number || o.access == Access::Repeat) {
    const V value = o.access == Access::Repeat ? load_element<V>(g, o, index) : number;
#pragma unroll
    for (int i = 0; i < N; ++i) values[i] = value;
    return;
  }
  if (o.access == Access::Strided || count < N) {
#pragma unroll
    for (int i = 0; i < N; ++i) values[i] = i < count ? load_element<V>(g, o, index + i) : V(1);
    return;
  }
  const char* const from = dense_address(g, o, index);
  if (o.access == Access::Own) return load_dense<V>(from, values);
  if constexpr (std::is_same_v<V, float>) {
    if (o.access == Access::Half) return load_dense<Half>(from, values);
    if (o.access == Access::BFloat16) return load_dense<BFloat16>(from, values);
  }
  load_dense<bool>(from, values);
}

template <class V, int N>
__device__ __forceinline__ void store(const Geometry& g, const Operand& o, uint32_t index,
                                      int count, const V (&values)[N]) {
  if (o.access == Access::Skip) return;
  if (o.access == Access::Strided || count < N) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (i < count) store_element<V>(g, o, index + i, values[i]);
    }
    return;
  }
  char* const to = dense_address(g, o, index);
  if (o.access == Access::Own) return store_dense<V>(to, values);
  if constexpr (std::is_same_v<V, float>) {
    if (o.access == Access::Half) return store_dense<Half>(to, values);
    if (o.access == Access::BFloat16) return store_dense<BFloat16>(to, values);
  }
  store_dense<bool>(to, values);
}

template <class F, class V>
__global__ void __launch_bounds__(kBlock) pointwise_kernel(
    const __grid_constant__ PointwiseArguments<V, F::kInputs, F::kOutputs, F::kScalars> a) {
  constexpr int N = kPerThread<V>;
  const uint32_t index = (blockIdx.x * kBlock + threadIdx.x) * N;
  if (index >= a.geometry.numel) return;
  const int count = static_cast<int>(min(static_cast<uint32_t>(N), a.geometry.numel - index));
  V in[F::kInputs][N];
  V out[F::kOutputs][N];
#pragma unroll
  for (int k = 0; k < F::kInputs; ++k) {
    load(a.geometry, a.ins[k], a.numbers[k], index, count, in[k]);
    round_to_dtype(a.ins[k], in[k]);
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    V arguments[F::kInputs], results[F::kOutputs];
#pragma unroll
    for (int k = 0; k < F::kInputs; ++k) arguments[k] = in[k][i];
    F::template apply<V>(arguments, a.scalars, results);
#pragma unroll
    for (int k = 0; k < F::kOutputs; ++k) out[k][i] = results[k];
  }
#pragma unroll
  for (int k = 0; k < F::kOutputs; ++k) {
    round_to_dtype(a.outs[k], out[k]);
    store(a.geometry, a.outs[k], index, count, out[k]);
  }
}

namespace detail {

/// How a thread gets at an operand's elements; a thread's share lies within a run of the fastest
/// dimension where its size is a multiple of it.
template <class V>
Access access_of(const PointwisePlan& plan, const PointwisePlan::Operand& o, bool& in_pieces) {
  in_pieces = false;
  if (!o.data) return Access::Skip;
  const auto size = static_cast<int64_t>(element_size(o.dtype)), pack = size * kPerThread<V>;
  bool repeats = true, dense = true, packs = true;
  int64_t expected = size;
  for (int d = 0; d < plan.ndim; ++d) {
    repeats &= o.strides[d] == 0;
    dense &= o.strides[d] == expected;
    packs &= d == 0 || o.strides[d] % pack == 0;
    expected *= plan.sizes[d];
  }
  if (repeats) return Access::Repeat;
  const bool whole = plan.ndim > 0 && plan.sizes[0] % kPerThread<V> == 0;
  if (whole && o.strides[0] == 0) {
    in_pieces = true;
    return Access::Repeat;
  }
  in_pieces = !dense && whole && packs && o.strides[0] == size;
  const bool aligned = reinterpret_cast<uintptr_t>(o.data) % pack == 0;
  if (!aligned || !(dense || in_pieces)) return Access::Strided;
  using Stored = std::conditional_t<
      std::is_same_v<V, thrust::complex<float>>, std::complex<float>,
      std::conditional_t<std::is_same_v<V, thrust::complex<double>>, std::complex<double>, V>>;
  if (o.dtype == scalar_type_of<Stored>) return Access::Own;
  if (o.dtype == kBool) return Access::Mask;
  if (std::is_same_v<V, float> && o.dtype == kHalf) return Access::Half;
  if (std::is_same_v<V, float> && o.dtype == kBFloat16) return Access::BFloat16;
  return Access::Strided;
}

template <class V>
Operand describe(const PointwisePlan& plan, const PointwisePlan::Operand& o) {
  Operand result{static_cast<char*>(o.data),
                 o.dtype,
                 o.round_to,
                 Access::Skip,
                 false,
                 static_cast<uint32_t>(element_size(o.dtype)),
                 {}};
  result.access = access_of<V>(plan, o, result.in_pieces);
  for (int d = 0; d < plan.ndim; ++d) result.strides[d] = static_cast<uint32_t>(o.strides[d]);
  return result;
}

template <class V>
V read_number(const PointwisePlan::Operand& o) {
  return TENON_DISPATCH_ALL(o.dtype, "pointwise", {
    return number_as<V>(Scalar(*static_cast<const scalar_t*>(o.data)));
  });
}

}  // namespace detail

namespace detail {

/// What a kernel computed in type C is launched with.
template <ComputeType C, int kInputs, int kOutputs, int kScalars>
auto describe_arguments(const PointwisePlan& plan, const Scalar* scalars) {
  using V = typename ValueOf<C>::type;
  PointwiseArguments<V, kInputs, kOutputs, kScalars> a;
  a.geometry.numel = static_cast<uint32_t>(plan.numel);
  a.geometry.ndim = plan.ndim;
  for (int d = 0; d < plan.ndim; ++d)
    a.geometry.sizes[d] = Divisor(static_cast<uint32_t>(plan.sizes[d]));
  for (int k = 0; k < kOutputs; ++k) {
    const auto& out = plan.operands[k];
    a.outs[k] = describe<V>(plan, out);
    // A single element is stored like any other; nothing repeats on output.
    if (a.outs[k].access == Access::Repeat) a.outs[k].access = Access::Strided;
  }
  for (int k = 0; k < kInputs; ++k) {
    const auto& in = plan.operands[kOutputs + k];
    a.ins[k] = describe<V>(plan, in);
    a.numbers[k] = V(0);
    if (in.cpu_scalar) {
      a.ins[k].access = Access::Number;
      a.numbers[k] = read_number<V>(in);
    }
  }
  for (int k = 0; k < kScalars; ++k) {
    // In Bool, numbers count as true or false, as elements do.
    a.scalars[k] = C == ComputeType::Bool ? V(scalars[k].to<bool>()) : number_as<V>(scalars[k]);
  }
  return a;
}

}  // namespace detail

/// A PointwisePart: functor F with `kInputs`, `kOutputs`, `kScalars` and
/// `template <class V> static void apply(const V* in, const V* scalars, V* out)`, computed in type
/// C.
template <class F, ComputeType C>
void pointwise_part(const PointwisePlan& plan, const Scalar* scalars, CUstream_st* stream) {
  using V = typename ValueOf<C>::type;
  const auto a = detail::describe_arguments<C, F::kInputs, F::kOutputs, F::kScalars>(plan, scalars);
  const int64_t per_block = int64_t{kBlock} * kPerThread<V>;
  const auto blocks = static_cast<unsigned>((plan.numel + per_block - 1) / per_block);
  launch(pointwise_kernel<F, V>, blocks, kBlock, 0, stream, a);
}

}  // namespace tenon::cuda
