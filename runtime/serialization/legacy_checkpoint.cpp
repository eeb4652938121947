#include "runtime/serialization/legacy_checkpoint.h"

#include <cstring>

#include "runtime/serialization/legacy_format.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/printable.h"
#include "runtime/serialization/storage_bytes.h"
#include "runtime/serialization/values/scoped_value.h"
#include "runtime/serialization/values/value_text.h"

namespace tenon::serialization {

LegacyCheckpoint::LegacyCheckpoint(const ByteSource& source, const LoadOptions& options,
                                   Globals::Mode mode)
    : source_(source), options_(options), in_(source, 0, source.name()),
      budget_(source.size(), source.size(), options.limits),
      tensors_(options.map_location, mode == Globals::Mode::Inspect),
      globals_(mode, tensors_, options) {}

void LegacyCheckpoint::fail(const std::string& what) const {
  tenon::detail::raise<Error>("[load] ", source_.name(), " at byte ", in_.position(), ": ", what);
}

/// The next pickle, which may hold no storages.
Value LegacyCheckpoint::plain() {
  Unpickler machine(in_, globals_, options_, budget_,
                    [this](const StorageId&) -> Value { fail("a storage where none can be"); });
  return machine.run();
}

void LegacyCheckpoint::check_header() {
  const ScopedValue head(plain());
  const Value& magic = head.value;
  if (!magic.is_int() || magic.int_bytes() != legacy::kMagic)
    fail("Invalid magic number; corrupt file?");
  const ScopedValue next(plain());
  const Value& version = next.value;
  if (!version.is_int() || !(version == Value(legacy::kProtocol)))
    fail("Invalid protocol version: " + printable(text_of(version, kPrintedName), kPrintedName));
  // How the writing machine was made says nothing: the data are little-endian always.
  if (!ScopedValue(plain()).value.is_dict()) fail("the description of the system must be a dict");
}

size_t LegacyCheckpoint::add_storage(const StorageId& id, uint64_t element_bytes) {
  // What is allocated is bounded by what the file can still hold.
  const uint64_t available = source_.size() - allocated_;
  if (static_cast<uint64_t>(id.numel) > available / element_bytes) {
    fail("storage " + id.key + " of " + std::to_string(id.numel) + " elements of " +
         std::to_string(element_bytes) +
         " bytes is larger than the file. The file might be corrupted.");
  }
  const uint64_t bytes = static_cast<uint64_t>(id.numel) * element_bytes;
  allocated_ += bytes;
  Storage host, storage;
  if (options_.map_location.is_meta()) {
    storage = make_storage(bytes, kMeta);
  } else {
    host = make_storage(bytes, kCPU);
    // The data come later; a function that is asked now must not see what lay there before.
    if (!options_.map_location.stays_on_cpu(id.location) && bytes > 0)
      std::memset(host.data(), 0, bytes);
    try {
      storage = options_.map_location(host, id.location);
    } catch (const Error& error) {
      fail("storage " + id.key + ": " + error.what());
    }
  }
  if (storage.nbytes() != bytes)
    fail("storage " + id.key + ": map_location gave a storage of " +
         std::to_string(storage.nbytes()) + " bytes, expected " + std::to_string(bytes));
  const size_t at = storages_.size();
  storages_.push_back({{id.key, id.cls, id.location, bytes, 0, {}}, std::move(storage)});
  unread_.push_back({std::move(host), id.numel, element_bytes});
  index_.emplace(id.key, at);
  return at;
}

Value LegacyCheckpoint::load_storage(const StorageId& id) {
  const std::optional<ScalarType> dtype = storage_dtype(id.cls);
  if (!dtype && !globals_.inspects())
    fail("storage " + id.key + ": storages of class " + printable(id.cls, kPrintedName) +
         " (quantized or unknown elements) are not supported");
  const uint64_t size = storage_element_bytes(id.cls);
  const auto it = index_.find(id.key);
  const size_t at = it != index_.end() ? it->second : add_storage(id, size);
  const Storage& storage = storages_[at].storage;
  const auto numel = static_cast<uint64_t>(id.numel);
  if (storage.nbytes() / size != numel || storage.nbytes() % size != 0)
    fail("storage " + id.key + " occurs with " + std::to_string(storage.nbytes()) +
         " bytes and with " + std::to_string(id.numel) + " elements of " + std::to_string(size));
  return Value::storage(id.view ? view(id, at) : storage, dtype.value_or(ScalarType::Undefined));
}

Storage LegacyCheckpoint::view(const StorageId& id, size_t root) {
  const StorageId::View& v = *id.view;
  const auto& [host, numel, size, filled] = unread_[root];
  if (v.offset < 0 || v.numel < 0 || v.offset > numel || v.numel > numel - v.offset) {
    fail("storage " + v.key + " is elements " + std::to_string(v.offset) + " to " +
         std::to_string(v.offset) + "+" + std::to_string(v.numel) + " of storage " + id.key +
         ", which has only " + std::to_string(numel));
  }
  Storage& part = storages_[root].views[v.key];
  if (!part) {
    const uint64_t bytes = static_cast<uint64_t>(v.numel) * size;
    const Storage& whole = storages_[root].storage;
    part = whole.data() ? storage_part(std::make_shared<Storage>(whole),
                                       static_cast<char*>(whole.data()) +
                                           static_cast<uint64_t>(v.offset) * size,
                                       bytes, whole.device())
                        : make_storage(bytes, whole.device());
  }
  return part;
}

void LegacyCheckpoint::fill(size_t at) {
  auto& [info, storage, views] = storages_[at];
  Unread& unread = unread_[at];
  if (unread.filled) fail("the data of storage " + info.key + " occur twice");
  unread.filled = true;
  const auto numel = static_cast<int64_t>(in_.take_number<uint64_t>());
  if (numel != unread.numel) {
    fail("storage " + info.key + " has wrong size: expected " + std::to_string(unread.numel) +
         " got " + std::to_string(numel));
  }
  info.offset = in_.position();
  if (!unread.host) return in_.skip(info.bytes);
  // Where the data go: into the storage itself if that is in CPU memory.
  const bool direct = storage.device().is_cpu();
  in_.read_into(direct ? storage.data() : unread.host.data(), info.bytes);
  if (!direct && storage.data() && info.bytes > 0) {
    const Tensor from(view_storage(unread.host, kByte));
    Tensor(view_storage(storage, kByte)).copy_(from);
  }
  unread.host = Storage();
  done_ += info.bytes;
  if (options_.progress) options_.progress(done_, allocated_);
}

void LegacyCheckpoint::read_data() {
  const ScopedValue last(plain());
  pickle_bytes_ = in_.position();
  const Value& keys = last.value;
  if (!keys.is_list()) fail(std::string("the keys must be a list, got ") + keys.description());
  for (const Value& key : keys.items()) {
    const std::string text = key.fits_int64()  ? std::to_string(key.to_int())
                             : key.is_string() ? key.to_string()
                             // Of a file that is read with encoding="bytes".
                             : key.is(Value::Kind::Bytes) ? key.to_bytes()
                                                          : "";
    const auto it = index_.find(text);
    if (it == index_.end())
      fail("storage key " + printable(text_of(key, kPrintedName), kPrintedName) +
           " is not in the pickle");
    fill(it->second);
  }
  for (size_t i = 0; i < storages_.size(); ++i)
    if (!unread_[i].filled) fail("the data of storage " + storages_[i].info.key + " are missing");
}

Value LegacyCheckpoint::load() {
  check_header();
  Unpickler machine(in_, globals_, options_, budget_,
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
