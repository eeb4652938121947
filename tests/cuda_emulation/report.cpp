// Reports: what a sanitizer or the emulation itself finds, with kernel, block and thread.
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>

#include "tests/cuda_emulation/emulator.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace cuda_emulation {

std::recursive_mutex& mutex() {
  static auto* one = new std::recursive_mutex;
  return *one;
}

uint64_t seed() {
  static const uint64_t value = [] {
    const char* given = std::getenv("TENON_EMULATION_SEED");
    return given ? std::strtoull(given, nullptr, 10) : 1;
  }();
  return value;
}

uint64_t random() {
  static auto* generator = new std::mt19937_64(seed());
  return (*generator)();
}

void fail(const std::string& what) {
  static bool failing = false;
  if (!failing) {
    failing = true;
    std::fflush(stdout);
    std::fprintf(stderr, "CUDA emulation: %s\n%s", what.c_str(), where().c_str());
    in_kernel = false;
    __sanitizer_print_stack_trace();
  }
  std::_Exit(66);
}

namespace {

void on_death() {
  const std::string text = where();
  if (!text.empty()) std::fprintf(stderr, "CUDA emulation: the error above is\n%s", text.c_str());
}

/// The signal of an access names its address.
void on_report(const char* text) {
  const char* at = std::strstr(text, "unknown address 0x");
  if (!at) return;
  const void* address = reinterpret_cast<const void*>(std::strtoull(at + 18, nullptr, 16));
  const int device = device_of(address);
  if (device >= 0)
    std::fprintf(stderr, "CUDA emulation: the host accesses memory of cuda:%d\n", device);
}

[[maybe_unused]] const bool installed = [] {
  __sanitizer_set_death_callback(&on_death);
  // The library of the undefined-behaviour sanitizer has a list of its own.
  if (void* library = dlopen("libubsan.so.1", RTLD_NOLOAD | RTLD_LAZY)) {
    using Setter = void (*)(void (*)());
    if (auto set = reinterpret_cast<Setter>(dlsym(library, "__sanitizer_set_death_callback")))
      set(&on_death);
  }
  __asan_set_error_report_callback(&on_report);
  return true;
}();

}  // namespace

}  // namespace cuda_emulation
