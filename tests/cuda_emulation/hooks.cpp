// The functions that g++ calls for each access when a function has as many as
// --param asan-instrumentation-with-call-threshold says, here: any. Linked into whatever holds
// kernels and hidden there, so that only the files compiled so reach it; compiled without
// sanitizers.
#include "tests/cuda_emulation/include/cuda_runtime_api.h"

#define TENON_HOOK(name, size, kind)                                                         \
  extern "C" __attribute__((visibility("hidden"))) void __asan_##name##size(void* address) { \
    cuda_emulation::access(address, size, cuda_emulation::Access::kind);                     \
  }
#define TENON_HOOKS(size)      \
  TENON_HOOK(load, size, Read) \
  TENON_HOOK(store, size, Write)
TENON_HOOKS(1)
TENON_HOOKS(2)
TENON_HOOKS(4)
TENON_HOOKS(8)
TENON_HOOKS(16)

extern "C" __attribute__((visibility("hidden"))) void __asan_loadN(void* address, size_t size) {
  cuda_emulation::access(address, size, cuda_emulation::Access::Read);
}
extern "C" __attribute__((visibility("hidden"))) void __asan_storeN(void* address, size_t size) {
  cuda_emulation::access(address, size, cuda_emulation::Access::Write);
}
