// Loops of a pointwise operator from its functor. Included once per Highway target, by generated
// files.
//
// A functor is a struct with
//   static constexpr int kInputs, kOutputs, kScalars;
//   static constexpr int kCost;    // about the vector instructions per element
//   template <class V> static HWY_INLINE void apply(const V* in, const V* s, V* out);
// where V is a vector of a compute type or a plain complex number, all of `in`, `s` and `out` have
// the same type, and the body is written with the functions of namespace `m`.
#if defined(TENON_ATEN_CPU_VEC_POINTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_POINTWISE_INL_H_
#undef TENON_ATEN_CPU_VEC_POINTWISE_INL_H_
#else
#define TENON_ATEN_CPU_VEC_POINTWISE_INL_H_
#endif

#include <algorithm>
#include <utility>

#include "aten/cpu/vec/math-inl.h"
#include "aten/cpu/vec/part-inl.h"
#include "aten/iterator/half_memory-inl.h"
#include "aten/iterator/pointwise_op.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors per turn of the main loop: cheap bodies need several to hide the loop's own work.
template <class F>
inline constexpr int kUnroll = F::kCost <= 4    ? 4
                               : F::kCost <= 10 ? 2
                                                : 1;

/// kTurn vectors from `in` on to `out`.
template <class F, int kTurn, class D, class T, class V>
HWY_INLINE void turn(D d, const T* const* in, const V* s, T* const* out, bool stream) {
  const size_t lanes = hn::Lanes(d);
  V r[kTurn][F::kOutputs];
  for (int u = 0; u < kTurn; ++u) {
    V a[F::kInputs + 1];
    for (int k = 0; k < F::kInputs; ++k) a[k] = hn::LoadU(d, in[k] + u * lanes);
    F::template apply<V>(a, s, r[u]);
  }
  if (HWY_UNLIKELY(stream)) {
    for (int k = 0; k < F::kOutputs; ++k) {
      for (int u = 0; u < kTurn; ++u) hn::Stream(r[u][k], d, out[k] + u * lanes);
    }
  } else {
    for (int k = 0; k < F::kOutputs; ++k) {
      for (int u = 0; u < kTurn; ++u) hn::StoreU(r[u][k], d, out[k] + u * lanes);
    }
  }
}

/// The number in the compute type; modulo 256 for the loop of bytes.
template <class T>
HWY_INLINE T number(const Scalar& scalar) {
  if constexpr (sizeof(T) == 1) {
    return static_cast<T>(scalar.to<int32_t>());
  } else {
    return scalar.to<T>();
  }
}

template <class F, class T>
HWY_NOINLINE void vector_loop(void* const* outs, const void* const* ins, const int64_t* in_steps,
                              const Scalar* scalars, int64_t n, bool stream) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kIns = F::kInputs, kOuts = F::kOutputs, kTurn = kUnroll<F>;
  constexpr size_t kLanes = hn::MaxLanes(d);
  const size_t lanes = hn::Lanes(d), count = static_cast<size_t>(n);

  V s[F::kScalars + 1];
  for (int k = 0; k < F::kScalars; ++k) s[k] = hn::Set(d, number<T>(scalars[k]));

  size_t i = 0;
  if (count >= lanes) {
    // A value for all stands in a small array that the loop reads again and again, and an output
    // nobody wants goes to another: one loop serves every combination.
    HWY_ALIGN T repeated[kIns + 1][kTurn * kLanes];
    HWY_ALIGN T unwanted[kTurn * kLanes];
    const T* in[kIns + 1];
    T* out[kOuts];
    size_t in_step[kIns + 1], out_step[kOuts];
    for (int k = 0; k < kIns; ++k) {
      in[k] = static_cast<const T*>(ins[k]);
      in_step[k] = lanes;
      if (in_steps[k] != 0) continue;
      const V value = hn::Set(d, *in[k]);
      for (int u = 0; u < kTurn; ++u) hn::Store(value, d, repeated[k] + u * lanes);
      in[k] = repeated[k];
      in_step[k] = 0;
    }
    for (int k = 0; k < kOuts; ++k) {
      out[k] = outs[k] ? static_cast<T*>(outs[k]) : unwanted;
      out_step[k] = outs[k] ? lanes : 0;
    }
    if constexpr (kTurn > 1) {
      for (; i + kTurn * lanes <= count; i += kTurn * lanes) {
        turn<F, kTurn>(d, in, s, out, stream);
        for (int k = 0; k < kIns; ++k) in[k] += kTurn * in_step[k];
        for (int k = 0; k < kOuts; ++k) out[k] += kTurn * out_step[k];
      }
    }
    for (; i + lanes <= count; i += lanes) {
      turn<F, 1>(d, in, s, out, stream);
      for (int k = 0; k < kIns; ++k) in[k] += in_step[k];
      for (int k = 0; k < kOuts; ++k) out[k] += out_step[k];
    }
  }
  if (i < count) {
    V a[kIns + 1], r[kOuts];
    for (int k = 0; k < kIns; ++k) {
      const T* p = static_cast<const T*>(ins[k]);
      // The lanes beyond are 1, which no function minds.
      a[k] = in_steps[k] == 0 ? hn::Set(d, *p) : load_part(d, p + i, count - i, T{1});
    }
    F::template apply<V>(a, s, r);
    for (int k = 0; k < kOuts; ++k) {
      if (outs[k]) store_part(r[k], d, static_cast<T*>(outs[k]) + i, count - i);
    }
  }
}

/// Functors for which converting operands from two bytes to float and back, by chunks through
/// buffers, would be much of the work.
template <class F>
#if TENON_FEW_LOOPS
inline constexpr bool kWorthHalfLoop = false;
#else
inline constexpr bool kWorthHalfLoop = F::kOutputs == 1
                                           ? F::kInputs <= 2 && F::kCost <= 2
                                           : F::kCost <= 8 * (F::kInputs + F::kOutputs);
#endif

#if HWY_TARGET != HWY_SCALAR
/// Elements of two bytes that are floats in registers only: of memory::Half or memory::BFloat16.
template <class F, class Memory>
HWY_NOINLINE void half_loop(void* const* outs, const void* const* ins, const int64_t* in_steps,
                            const Scalar* scalars, int64_t n, bool stream) {
  const hn::ScalableTag<float> d;
  const hn::Repartition<uint16_t, decltype(d)> bits;
  using V = hn::Vec<decltype(d)>;
  constexpr int kIns = F::kInputs, kOuts = F::kOutputs;
  constexpr size_t kMaxTurn = 2 * hn::MaxLanes(d);
  const size_t lanes = hn::Lanes(d), turn = 2 * lanes, count = static_cast<size_t>(n);

  V s[F::kScalars + 1];
  for (int k = 0; k < F::kScalars; ++k) s[k] = hn::Set(d, scalars[k].template to<float>());

  // A value for all, and the last elements, stand in small arrays; what nobody wants goes to one.
  HWY_ALIGN uint16_t few[kIns + 1][kMaxTurn];
  HWY_ALIGN uint16_t last[kOuts][kMaxTurn];
  const uint16_t* in[kIns + 1];
  uint16_t* out[kOuts];
  size_t in_step[kIns + 1], out_step[kOuts];
  for (int k = 0; k < kIns; ++k) {
    in[k] = static_cast<const uint16_t*>(ins[k]);
    in_step[k] = turn;
    if (in_steps[k] != 0) continue;
    std::fill_n(few[k], turn, *in[k]);
    in[k] = few[k];
    in_step[k] = 0;
  }
  for (int k = 0; k < kOuts; ++k) {
    out[k] = outs[k] ? static_cast<uint16_t*>(outs[k]) : last[k];
    out_step[k] = outs[k] ? turn : 0;
  }
  const auto apply = [&](bool past_caches) HWY_ATTR {
    V r[2][kOuts];
    for (int u = 0; u < 2; ++u) {
      V a[kIns + 1];
      for (int k = 0; k < kIns; ++k) a[k] = Memory::load(in[k] + u * lanes);
      F::template apply<V>(a, s, r[u]);
    }
    for (int k = 0; k < kOuts; ++k) {
      const auto rounded = Memory::rounded(r[0][k], r[1][k]);
      if (HWY_UNLIKELY(past_caches)) {
        hn::Stream(rounded, bits, out[k]);
      } else {
        hn::StoreU(rounded, bits, out[k]);
      }
    }
  };
  size_t i = 0;
  for (; i + turn <= count; i += turn) {
    apply(stream);
    for (int k = 0; k < kIns; ++k) in[k] += in_step[k];
    for (int k = 0; k < kOuts; ++k) out[k] += out_step[k];
  }
  if (i == count) return;
  for (int k = 0; k < kIns; ++k) {
    if (in_step[k] == 0) continue;
    std::fill(std::copy_n(in[k], count - i, few[k]), few[k] + turn, Memory::kOne);
    in[k] = few[k];
  }
  uint16_t* rest[kOuts];
  for (int k = 0; k < kOuts; ++k) rest[k] = std::exchange(out[k], last[k]);
  apply(false);
  for (int k = 0; k < kOuts; ++k) {
    if (out_step[k] != 0) std::copy_n(last[k], count - i, rest[k]);
  }
}
#endif

/// Functors of complex numbers that are worth a loop of vectors: products and their gradients.
template <class F>
inline constexpr bool kCheapComplex =
    F::kOutputs <= 2 && F::kInputs <= 3 && F::kCost <= 2 * F::kOutputs;

template <class F, class T>
void complex_loop(void* const* outs, const void* const* ins, const int64_t* in_steps,
                  const Scalar* scalars, int64_t n, bool) {
  T s[F::kScalars + 1];
  for (int k = 0; k < F::kScalars; ++k) s[k] = scalars[k].template to<T>();
  // Local, so that what the loop writes cannot be where it reads its pointers.
  const T* in[F::kInputs + 1];
  T* out[F::kOutputs];
  int64_t in_step[F::kInputs + 1], out_step[F::kOutputs];
  T unwanted;
  for (int k = 0; k < F::kInputs; ++k) {
    in[k] = static_cast<const T*>(ins[k]);
    in_step[k] = in_steps[k];
  }
  for (int k = 0; k < F::kOutputs; ++k) {
    out[k] = outs[k] ? static_cast<T*>(outs[k]) : &unwanted;
    out_step[k] = outs[k] ? 1 : 0;
  }
  // With constant distances the compiler makes vectors of cheap functors.
  if constexpr (kCheapComplex<F>) {
    bool dense = true;
    for (int k = 0; k < F::kInputs; ++k) dense &= in_step[k] == 1;
    for (int k = 0; k < F::kOutputs; ++k) dense &= out_step[k] == 1;
    for (int64_t i = 0; dense && i < n; ++i) {
      T a[F::kInputs + 1], r[F::kOutputs];
      for (int k = 0; k < F::kInputs; ++k) a[k] = in[k][i];
      F::template apply<T>(a, s, r);
      for (int k = 0; k < F::kOutputs; ++k) out[k][i] = r[k];
    }
    if (dense) return;
  }
  for (int64_t i = 0; i < n; ++i) {
    T a[F::kInputs + 1], r[F::kOutputs];
    for (int k = 0; k < F::kInputs; ++k) a[k] = *in[k], in[k] += in_step[k];
    F::template apply<T>(a, s, r);
    for (int k = 0; k < F::kOutputs; ++k) *out[k] = r[k], out[k] += out_step[k];
  }
}

/// Functor F, some of whose operands are numbers: operand k is input kOperands[k], or number
/// -1 - kOperands[k]. Numbers become inputs of one value for all, so that a long body is compiled
/// once for the overloads of tensors and of numbers.
template <class F, int... kOperands>
struct WithNumbers {
  static_assert(F::kScalars == 0 && sizeof...(kOperands) == F::kInputs);
  static constexpr int kInputs = F::kInputs, kOutputs = F::kOutputs, kCost = F::kCost;

  template <class T, PointwiseLoop kLoop>
  static void loop(void* const* outs, const void* const* ins, const int64_t* in_steps,
                   const Scalar* scalars, int64_t n, bool stream) {
    T numbers[F::kInputs];
    const void* operands[F::kInputs];
    int64_t steps[F::kInputs];
    int k = 0;
    const auto add = [&](int operand) {
      if (operand >= 0) {
        operands[k] = ins[operand];
        steps[k] = in_steps[operand];
      } else {
        numbers[k] = number<T>(scalars[-1 - operand]);
        operands[k] = &numbers[k];
        steps[k] = 0;
      }
      ++k;
    };
    (add(kOperands), ...);
    kLoop(outs, operands, steps, nullptr, n, stream);
  }
};

template <class F, class T>
struct LoopsOf {
  static constexpr PointwiseLoop vector = &vector_loop<F, T>;
  static constexpr PointwiseLoop complex = &complex_loop<F, T>;
};
template <class F, int... kOperands, class T>
struct LoopsOf<WithNumbers<F, kOperands...>, T> {
  using Numbers = WithNumbers<F, kOperands...>;
  static constexpr PointwiseLoop vector = &Numbers::template loop<T, &vector_loop<F, T>>;
  static constexpr PointwiseLoop complex = &Numbers::template loop<T, &complex_loop<F, T>>;
};

/// Sets of compute types, as bit masks.
inline constexpr uint32_t kF32 = 1u << static_cast<int>(ComputeType::F32);
inline constexpr uint32_t kF64 = 1u << static_cast<int>(ComputeType::F64);
inline constexpr uint32_t kI32 = 1u << static_cast<int>(ComputeType::I32);
inline constexpr uint32_t kI64 = 1u << static_cast<int>(ComputeType::I64);
inline constexpr uint32_t kC64 = 1u << static_cast<int>(ComputeType::C64);
inline constexpr uint32_t kC128 = 1u << static_cast<int>(ComputeType::C128);
inline constexpr uint32_t kBoolean = 1u << static_cast<int>(ComputeType::Bool);
inline constexpr uint32_t kFloats = kF32 | kF64;
inline constexpr uint32_t kIntegers = kI32 | kI64;  ///< Bool included, unless it has its own loop
inline constexpr uint32_t kComplexes = kC64 | kC128;

/// Enters functor F's loops for the compute types in kTypes; may be called again for other types.
/// Complex loops exist once, with the baseline target's, but for cheap ones.
template <class F, uint32_t kTypes>
void add_loops(PointwiseLoops* table) {
  const auto at = [&](ComputeType type) -> PointwiseLoop& {
    return table->loop[static_cast<int>(type)];
  };
  if constexpr ((kTypes & kF32) != 0) {
    at(ComputeType::F32) = LoopsOf<F, float>::vector;
    if constexpr (kWorthHalfLoop<F> && kHasHalfMemory) table->half = &half_loop<F, memory::Half>;
    if constexpr (kWorthHalfLoop<F> && kHasBFloat16Memory)
      table->bfloat16 = &half_loop<F, memory::BFloat16>;
  }
  if constexpr ((kTypes & kF64) != 0) at(ComputeType::F64) = LoopsOf<F, double>::vector;
  if constexpr ((kTypes & kI32) != 0) at(ComputeType::I32) = LoopsOf<F, int32_t>::vector;
  if constexpr ((kTypes & kI64) != 0) at(ComputeType::I64) = LoopsOf<F, int64_t>::vector;
  if constexpr ((kTypes & kBoolean) != 0) at(ComputeType::Bool) = LoopsOf<F, int32_t>::vector;
  if constexpr (HWY_TARGET == HWY_STATIC_TARGET || kCheapComplex<F>) {
    if constexpr ((kTypes & kC64) != 0)
      at(ComputeType::C64) = LoopsOf<F, std::complex<float>>::complex;
    if constexpr ((kTypes & kC128) != 0)
      at(ComputeType::C128) = LoopsOf<F, std::complex<double>>::complex;
  }
}

/// Enters the loop over Byte or Char of a functor whose results, modulo 256, follow from the
/// operands modulo 256: it computes in bytes.
template <class F>
void add_byte_loop([[maybe_unused]] PointwiseLoops* table) {
#if !TENON_FEW_LOOPS
  table->bytes = &vector_loop<F, int8_t>;
#endif
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

/// Inside namespace tenon::native, after HWY_EXPORT(fill): the table that `fill` of the best target
/// fills, as `const PointwiseLoops* name()`.
#ifndef TENON_POINTWISE_LOOPS
#define TENON_POINTWISE_LOOPS(name, fill)    \
  const PointwiseLoops* name() {             \
    static const PointwiseLoops table = [] { \
      PointwiseLoops loops;                  \
      HWY_STATIC_DISPATCH(fill)(&loops);     \
      HWY_DYNAMIC_DISPATCH(fill)(&loops);    \
      return loops;                          \
    }();                                     \
    return &table;                           \
  }
#endif

#endif
