// If the kernels are compiled for one instruction set, loading the library on a processor without
// it is an error with a message. Otherwise the program would end at the first such instruction.
// TENON_KERNEL_LEVEL: 3 for x86-64-v3 (AVX2), 4 for x86-64-v4 (AVX-512), 0 if the set is chosen at
// run time.
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#if TENON_KERNEL_LEVEL > 0

namespace tenon {
namespace {

bool processor_suffices() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
#if TENON_KERNEL_LEVEL >= 4
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return avx2;
#endif
}

[[gnu::constructor]] void check_processor() {
  if (processor_suffices()) return;
  constexpr std::string_view text = TENON_KERNEL_LEVEL >= 4
                                        ? "tenon: this library was built for processors with "
                                          "AVX-512 (x86-64-v4), and this one lacks it"
                                        : "tenon: this library was built for processors with AVX2 "
                                          "(x86-64-v3), and this one lacks it";
  constexpr std::string_view advice =
      "; build it here, or for all machines with -DTENON_INSTRUCTION_SETS=all\n";
  // Before the program's own objects are made: neither streams nor exceptions are there yet.
  [[maybe_unused]] const auto said =
      write(2, text.data(), text.size()) + write(2, advice.data(), advice.size());
  _exit(EXIT_FAILURE);
}

}  // namespace
}  // namespace tenon

#endif
