// libFuzzer target: pickles, past the archive's checksums.
#include "tests/runtime/serialization/fuzz/check.h"
#include "tests/runtime/serialization/fuzz/run_pickle.h"

using namespace tenon;
using namespace tenon::serialization;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto mode = static_cast<Globals::Mode>(data[0] % 3);
  LoadOptions options;
  options.weights_only = mode == Globals::Mode::WeightsOnly;
  options.encoding = data[0] & 64 ? "bytes" : data[0] & 128 ? "latin1" : "utf-8";
  options.limits.budget = 16 << 20;
  const std::string pickle(reinterpret_cast<const char*>(data) + 1, size - 1);
  Value value;
  try {
    value = run_pickle(pickle, mode, options);
  } catch (const Error&) {
    return 0;
  }
  if (mode != Globals::Mode::Inspect) check(value);
  dispose(value);
  return 0;
}
