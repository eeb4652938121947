// Chooses among the engines, which are ducc.cpp compiled for each type and set of instructions
// (cmake/TenonFft.cmake). TENON_FFT_LEVEL: 3 for x86-64-v3 (AVX2) alone, 4 for x86-64-v4 (AVX-512)
// alone, 0 if the set is chosen here.
#include "aten/cpu/fft/fft_engine.h"

#include "tenon/config.h"

namespace tenon::native {

#define TENON_FFT_ENGINE_2(type, level) fft_##type##_##level
#define TENON_FFT_ENGINE(type, level) TENON_FFT_ENGINE_2(type, level)

#if !TENON_HAS_FFT

#define TENON_FFT_CHOOSE(type)                                                            \
  template <>                                                                             \
  const FftEngine<type>& fft_engine() {                                                   \
    detail::raise<NotImplementedError>(                                                   \
        "[fft] Fourier transforms on the CPU need ducc0, without which Tenon was built; " \
        "configure with TENON_FFT=ON where its source package can be fetched");           \
  }

#elif TENON_FFT_LEVEL == 0 && defined(__x86_64__)

namespace {

int processor_level() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2")) {
    return 0;
  }
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? 4 : 3;
}

}  // namespace

#define TENON_FFT_CHOOSE(type)                                                         \
  extern const FftEngine<type> fft_##type##_0, fft_##type##_3, fft_##type##_4;         \
  template <>                                                                          \
  const FftEngine<type>& fft_engine() {                                                \
    static const int level = processor_level();                                        \
    return level == 4 ? fft_##type##_4 : level == 3 ? fft_##type##_3 : fft_##type##_0; \
  }

#else

#define TENON_FFT_CHOOSE(type)                                          \
  extern const FftEngine<type> TENON_FFT_ENGINE(type, TENON_FFT_LEVEL); \
  template <>                                                           \
  const FftEngine<type>& fft_engine() {                                 \
    return TENON_FFT_ENGINE(type, TENON_FFT_LEVEL);                     \
  }

#endif

TENON_FFT_CHOOSE(float)
TENON_FFT_CHOOSE(double)

}  // namespace tenon::native
