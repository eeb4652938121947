#pragma once

#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/pickle/tensor_builder.h"
#include "runtime/serialization/pickle/unpickler.h"

namespace tenon::serialization {

/// What a pickle makes, past any archive's checksums. Storages are there in any size; all of their
/// bytes are `fill`.
inline Value run_pickle(const std::string& pickle, Globals::Mode mode, const LoadOptions& options,
                        uint8_t fill = 0) {
  const auto storage_of = [fill](const StorageId& id) {
    constexpr uint64_t kMaxBytes = 1 << 16;
    const auto dtype = storage_dtype(id.cls);
    const uint64_t size = dtype && *dtype != ScalarType::Undefined ? element_size(*dtype) : 1;
    TENON_CHECK(dtype && static_cast<uint64_t>(id.numel) <= kMaxBytes / size, "no such storage");
    const Storage storage = make_storage(static_cast<uint64_t>(id.numel) * size, kCPU);
    if (storage.nbytes() > 0) __builtin_memset(storage.data(), fill, storage.nbytes());
    return Value::storage(storage, *dtype);
  };
  ByteCursor in(pickle, "pickle");
  TensorBuilder tensors(options.map_location, mode == Globals::Mode::Inspect);
  const Globals globals(mode, tensors);
  Budget budget(pickle.size(), pickle.size(), options.limits);
  Unpickler machine(in, globals, options, budget, storage_of);
  Value value = machine.run();
  tensors.finish();
  return value;
}

}  // namespace tenon::serialization
