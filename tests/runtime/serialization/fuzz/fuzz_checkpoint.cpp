// libFuzzer target: whole files, of the zip and the legacy format.
#include <cstring>

#include "runtime/serialization/inspect.h"
#include "tests/runtime/serialization/fuzz/check.h"

using namespace tenon::serialization;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  LoadOptions options;
  options.weights_only = size % 2 == 0;
  options.limits.budget = 16 << 20;
  Value value;
  bool loaded = false;
  try {
    value = load(data, size, options);
    loaded = true;
  } catch (const tenon::Error&) {
  }
  if (loaded) {
    check(value);
    dispose(value);
  }
  try {
    dispose(inspect(data, size).value);
  } catch (const tenon::Error& error) {
    // What loads can be inspected, but for names that would be too long.
    if (loaded && !std::strstr(error.what(), "names of tensors")) __builtin_trap();
  }
  return 0;
}
