// How a ValuePickler writes tensors and storages.
#include "runtime/serialization/location.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/sparse_parts.h"
#include "runtime/serialization/pickle/value_pickler.h"

namespace tenon::serialization {

using Kind = Value::Kind;

void ValuePickler::bits(bool conj, bool neg) {
  out_.empty_dict();
  for (const auto& [name, is_set] : {std::pair("conj", conj), std::pair("neg", neg)}) {
    if (!is_set) continue;
    out_.shared_string(name);
    out_.boolean(true);
    out_.set_item();
  }
}

void ValuePickler::empty_ordered_dict() {
  out_.global("collections", "OrderedDict");
  out_.empty_tuple();
  out_.reduce();
}

void ValuePickler::storage(const Value& v) {
  storage_id(v.to_storage(), v.to_dtype());
  storages_.note_use(v.to_storage());
}

/// ('storage', class, key, location, number of elements); the legacy format adds where the storage
/// is a view of another, which none is.
void ValuePickler::storage_id(const Storage& storage, ScalarType dtype) {
  if (storage.device().is_meta()) fail("a storage on the meta device has no data to save");
  const bool untyped = dtype == ScalarType::Undefined;
  const StorageTable::Record* record = nullptr;
  try {
    record = &storages_.add(storage, untyped ? kByte : dtype);
  } catch (const Error& error) {
    fail(error.what());
  }
  out_.mark();
  out_.shared_string("storage");
  if (untyped) {
    out_.global("torch.storage", "UntypedStorage");
  } else {
    out_.global("torch", storage_class(dtype));
  }
  if (const auto it = keys_.find(record->key); it != keys_.end()) {
    out_.get(it->second);
  } else {
    keys_.emplace(record->key, out_.string(record->key));
  }
  out_.shared_string(record->location);
  out_.integer(static_cast<int64_t>(record->bytes() / (untyped ? 1 : element_size(dtype))));
  size_t parts = 5;
  if (options_.format == SaveOptions::Format::Legacy) {
    out_.none();
    parts = 6;
  }
  out_.tuple(parts);
  out_.persistent_id();
}

void ValuePickler::tensor(const Value& v) {
  const Tensor t = v.to_tensor();
  if (!v.attributes().is_none() || v.name() != "torch Tensor") {
    // The function that makes the tensor, the class, the function's arguments, the attributes.
    out_.global("torch._tensor", "_rebuild_from_type_v2");
    out_.begin_tuple(4);
    dense_tensor(t, v.name());
    save(v.attributes());
    out_.tuple(4);
    return reduced(v);
  }
  dense_tensor(t);
  reduced(v);
}

void ValuePickler::parameter(const Value& v) {
  const Tensor t = v.to_tensor();
  const bool has_attributes = !v.attributes().is_none();
  if (has_attributes && options_.compat == SaveOptions::Compat::V1_13)
    fail("PyTorch 1.13 does not know parameters with attributes");
  out_.global("torch._utils",
              has_attributes ? "_rebuild_parameter_with_state" : "_rebuild_parameter");
  out_.begin_tuple(has_attributes ? 4 : 3);
  dense_tensor(t.detach());
  out_.reduce();
  out_.boolean(t.requires_grad());
  empty_ordered_dict();
  if (has_attributes) save(v.attributes());
  out_.tuple(has_attributes ? 4 : 3);
  reduced(v);
}

/// The function that makes a tensor and the tuple of its arguments; for _rebuild_from_type_v2 the
/// class between them.
void ValuePickler::dense_tensor(const Tensor& t, std::string_view cls) {
  const auto function = [&](const char* name) {
    out_.global("torch._utils", name);
    if (!cls.empty()) out_.global(cls);
  };
  if (t.layout() != kStrided) {
    function("_rebuild_sparse_tensor");
    return save(sparse_arguments(t, options_.compat != SaveOptions::Compat::V1_13));
  }
  const bool has_storage = t.has_storage();
  if (t.is_meta() || !has_storage) {
    function(t.is_meta() ? "_rebuild_meta_tensor_no_storage"
                         : "_rebuild_device_tensor_from_cpu_tensor");
    out_.begin_tuple(4);
    if (t.is_meta()) {
      out_.global("torch", dtype_name(t.dtype()));
      out_.integers(t.sizes());
      out_.integers(t.strides());
    } else {
      dense_tensor(t.detach().cpu());
      out_.reduce();
      out_.global("torch", dtype_name(t.dtype()));
      out_.string(t.device().str());
    }
    out_.boolean(t.requires_grad());
    out_.tuple(4);
    return;
  }
  const bool untyped = is_storage_only(t.dtype());
  if (untyped && options_.compat == SaveOptions::Compat::V1_13) {
    fail("PyTorch 1.13 does not know tensors of dtype torch." + dtype_name(t.dtype()));
  }
  function(untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  const bool has_bits = t.is_conj() || t.is_neg();
  const size_t arguments = (untyped ? 7 : 6) + (has_bits ? 1 : 0);
  out_.begin_tuple(arguments);
  storage_id(t.storage(), untyped ? ScalarType::Undefined : t.dtype());
  storages_.note_use(t, [this] { return place(); });
  const auto skipped = static_cast<int64_t>(
      storages_.add(t.storage(), untyped ? kByte : t.dtype()).begin / t.element_size());
  // An empty tensor may lie anywhere, in a part that is left out too.
  out_.integer(options_.compact && t.numel() == 0 ? 0 : t.storage_offset() - skipped);
  out_.integers(t.sizes());
  out_.integers(t.strides());
  out_.boolean(t.requires_grad());
  empty_ordered_dict();
  if (untyped) out_.global("torch", dtype_name(t.dtype()));
  if (has_bits) bits(t.is_conj(), t.is_neg());
  out_.tuple(arguments);
}

}  // namespace tenon::serialization
