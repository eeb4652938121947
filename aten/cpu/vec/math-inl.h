// Functions of the expression language for vectors of one compute type: V is
// `hwy::HWY_NAMESPACE::Vec<ScalableTag<float | double | int32_t | int64_t>>`, or a plain
// `std::complex<float | double>`. Included once per Highway target, like every `-inl.h`.
//
// Accuracy against the exact value, on targets with FMA: exp, exp2, expm1, log, log2, log10, log1p,
// sqrt, rsqrt <= 1 ulp in float; everything else <= 2 ulp. NaN, infinities, signed zeros and
// denormals are those of C's Annex F, and PyTorch's where the two differ.
#include "aten/cpu/vec/math_basic-inl.h"
#include "aten/cpu/vec/math_complex-inl.h"
#include "aten/cpu/vec/math_exp-inl.h"
#include "aten/cpu/vec/math_integer-inl.h"
#include "aten/cpu/vec/math_rare-inl.h"
#include "aten/cpu/vec/math_trig-inl.h"
