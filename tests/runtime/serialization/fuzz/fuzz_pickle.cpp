// libFuzzer target: pickles, past the archive's checksums. Storages are there in any size.
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/pickle/tensor_builder.h"
#include "runtime/serialization/pickle/unpickler.h"
#include "tests/runtime/serialization/fuzz/check.h"

using namespace tenon;
using namespace tenon::serialization;

namespace {

constexpr uint64_t kMaxBytes = 1 << 16;

Value storage_of(const StorageId& id) {
  const auto dtype = storage_dtype(id.cls);
  const uint64_t size = dtype && *dtype != ScalarType::Undefined ? element_size(*dtype) : 1;
  TENON_CHECK(dtype && static_cast<uint64_t>(id.numel) <= kMaxBytes / size, "no such storage");
  const Storage storage = make_storage(static_cast<uint64_t>(id.numel) * size, kCPU);
  if (storage.nbytes() > 0) __builtin_memset(storage.data(), 0, storage.nbytes());
  return Value::storage(storage, *dtype);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto mode = static_cast<Globals::Mode>(data[0] % 3);
  LoadOptions options;
  options.weights_only = mode == Globals::Mode::WeightsOnly;
  options.encoding = data[0] & 64 ? "bytes" : data[0] & 128 ? "latin1" : "utf-8";
  options.limits.made_bytes = 1 << 20;
  const std::string pickle(reinterpret_cast<const char*>(data) + 1, size - 1);
  Value value;
  try {
    ByteCursor in(pickle, "pickle");
    TensorBuilder tensors(options.map_location, mode == Globals::Mode::Inspect);
    const Globals globals(mode, tensors);
    Unpickler machine(in, globals, options, storage_of);
    value = machine.run();
    tensors.finish();
  } catch (const Error&) {
    return 0;
  }
  if (mode != Globals::Mode::Inspect) check(value);
  dispose(value);
  return 0;
}
