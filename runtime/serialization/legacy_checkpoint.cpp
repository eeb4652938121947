#include <algorithm>
#include <cstring>

#include "runtime/serialization/checkpoint_reader.h"
#include "runtime/serialization/legacy_format.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/storage_view.h"

namespace tenon::serialization {

LegacyCheckpoint::LegacyCheckpoint(const ByteSource& source, const LoadOptions& options)
    : source_(source), options_(options), in_(source, 0, source.name()),
      tensors_(options.map_location, false), globals_(globals_mode(options), tensors_) {}

void LegacyCheckpoint::fail(const std::string& what) const {
  tenon::detail::raise<Error>("[load] ", source_.name(), " at byte ", in_.position(), ": ", what);
}

/// The next pickle, which may hold no storages.
Value LegacyCheckpoint::plain() {
  Unpickler machine(in_, globals_, options_,
                    [this](const StorageId&) -> Value { fail("a storage where none can be"); });
  return machine.run();
}

void LegacyCheckpoint::check_header() {
  const Passing head(plain());
  const Value& magic = head.value;
  if (!magic.is_int() || magic.int_bytes() != legacy::kMagic)
    fail("Invalid magic number; corrupt file?");
  const Passing next(plain());
  const Value& version = next.value;
  if (!version.is_int() || !(version == Value(legacy::kProtocol)))
    fail(tenon::detail::concat("Invalid protocol version: ", version));
  // How the writing machine was made says nothing: the data are little-endian always.
  if (!Passing(plain()).value.is_dict()) fail("the description of the system must be a dict");
}

Value LegacyCheckpoint::load_storage(const StorageId& id) {
  const std::optional<ScalarType> known = storage_dtype(id.cls);
  if (!known)
    fail("storage " + id.key + ": storages of class " + id.cls +
         " (quantized or unknown elements) are not supported");
  const ScalarType dtype = *known == ScalarType::Undefined ? kByte : *known;
  const uint64_t size = element_size(dtype);
  auto it = storages_.find(id.key);
  if (it == storages_.end()) {
    // What is allocated is bounded by what the file can still hold.
    const uint64_t available = source_.size() - allocated_;
    if (static_cast<uint64_t>(id.numel) > available / size) {
      fail("storage " + id.key + " of " + std::to_string(id.numel) + " elements of " +
           std::to_string(size) + " bytes is larger than the file. The file might be corrupted.");
    }
    const uint64_t bytes = static_cast<uint64_t>(id.numel) * size;
    allocated_ += bytes;
    Loaded loaded{Storage(), Storage(), id.cls, dtype, id.numel};
    if (options_.map_location.is_meta()) {
      loaded.storage = make_storage(bytes, kMeta);
    } else {
      loaded.host = make_storage(bytes, kCPU);
      // The data come later; a function that is asked now must not see what lay there before.
      if (!options_.map_location.stays_on_cpu(id.location) && bytes > 0)
        std::memset(loaded.host.data(), 0, bytes);
      try {
        loaded.storage = options_.map_location(loaded.host, id.location);
      } catch (const Error& error) {
        fail("storage " + id.key + ": " + error.what());
      }
    }
    if (loaded.storage.nbytes() != bytes)
      fail("storage " + id.key + ": map_location gave a storage of " +
           std::to_string(loaded.storage.nbytes()) + " bytes, expected " + std::to_string(bytes));
    it = storages_.emplace(id.key, std::move(loaded)).first;
  }
  const Loaded& loaded = it->second;
  if (loaded.storage.nbytes() != static_cast<uint64_t>(id.numel) * size)
    fail("storage " + id.key + " occurs with " + std::to_string(loaded.storage.nbytes()) +
         " bytes and with " + std::to_string(id.numel) + " elements of " + std::to_string(size));
  if (id.view) return view(id, loaded);
  return Value::storage(loaded.storage, *known);
}

Value LegacyCheckpoint::view(const StorageId& id, const Loaded& root) {
  const StorageId::View& v = *id.view;
  if (v.offset < 0 || v.numel < 0 || v.offset > root.numel || v.numel > root.numel - v.offset) {
    fail("storage " + v.key + " is elements " + std::to_string(v.offset) + " to " +
         std::to_string(v.offset) + "+" + std::to_string(v.numel) + " of storage " + id.key +
         ", which has only " + std::to_string(root.numel));
  }
  Storage& part = views_[v.key];
  if (!part) {
    const uint64_t size = element_size(root.dtype);
    const uint64_t bytes = static_cast<uint64_t>(v.numel) * size;
    const Storage& whole = root.storage;
    part = whole.data() ? storage_part(std::make_shared<Storage>(whole),
                                       static_cast<char*>(whole.data()) +
                                           static_cast<uint64_t>(v.offset) * size,
                                       bytes, whole.device())
                        : make_storage(bytes, whole.device());
  }
  return Value::storage(part,
                        root.cls.ends_with("UntypedStorage") ? ScalarType::Undefined : root.dtype);
}

void LegacyCheckpoint::fill(Loaded& loaded, const std::string& key) {
  if (loaded.filled) fail("the data of storage " + key + " occur twice");
  loaded.filled = true;
  const auto numel = static_cast<int64_t>(in_.take_number<uint64_t>());
  if (numel != loaded.numel) {
    fail("storage " + key + " has wrong size: expected " + std::to_string(loaded.numel) + " got " +
         std::to_string(numel));
  }
  const uint64_t bytes = loaded.storage.nbytes();
  if (!loaded.host) return in_.skip(bytes);
  // Where the data go: into the storage itself if that is in CPU memory.
  const bool direct = loaded.storage.device().is_cpu();
  in_.read_into(direct ? loaded.storage.data() : loaded.host.data(), bytes);
  if (!direct && loaded.storage.data() && bytes > 0) {
    const Tensor from(view_storage(loaded.host, kByte));
    Tensor(view_storage(loaded.storage, kByte)).copy_(from);
  }
  loaded.host = Storage();
  done_ += bytes;
  if (options_.progress) options_.progress(done_, allocated_);
}

void LegacyCheckpoint::read_data() {
  const Passing last(plain());
  const Value& keys = last.value;
  if (!keys.is_list()) fail(std::string("the keys must be a list, got ") + keys.description());
  for (const Value& key : keys.items()) {
    const std::string text = key.is_string() ? key.to_string() : tenon::detail::concat(key);
    const auto it = storages_.find(text);
    if (it == storages_.end()) fail("storage key '" + text + "' is not in the pickle");
    fill(it->second, text);
  }
  for (const auto& [key, loaded] : storages_)
    if (!loaded.filled) fail("the data of storage " + key + " are missing");
}

Value LegacyCheckpoint::load() {
  check_header();
  Unpickler machine(in_, globals_, options_,
                    [this](const StorageId& id) { return load_storage(id); });
  Value result = machine.run();
  try {
    read_data();
    tensors_.finish();
  } catch (...) {
    dispose(result);
    throw;
  }
  return result;
}

}  // namespace tenon::serialization
