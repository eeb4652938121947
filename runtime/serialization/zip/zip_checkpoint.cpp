#include "runtime/serialization/zip/zip_checkpoint.h"

#include <charconv>

#include "aten/core/error.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/printable.h"
#include "runtime/serialization/storage_bytes.h"

namespace tenon::serialization {
namespace {

constexpr int kOldestVersion = 1;
constexpr int kNewestVersion = 10;
/// Progress is reported at least this often.
constexpr uint64_t kReportBytes = uint64_t{16} << 20;
/// Of the records that hold a word.
constexpr uint64_t kMaxWord = 100;

/// Of the pickle, in the archive. Its absence is told when it is read.
uint64_t packed_pickle(const ZipReader& zip) {
  const ZipReader::Record* record = zip.find("data.pkl");
  return record ? record->packed : 0;
}

}  // namespace

ZipCheckpoint::ZipCheckpoint(const ByteSource& source, std::shared_ptr<MappedSource> mapping,
                             const LoadOptions& options, Globals::Mode mode)
    : source_(source), mapping_(std::move(mapping)), options_(options), zip_(source),
      budget_(packed_pickle(zip_), source.size(), options.limits),
      tensors_(options.map_location, mode == Globals::Mode::Inspect),
      globals_(mode, tensors_, options) {
  // Its classes are generated ones: who allows them reads the attributes of its modules.
  const bool allows_modules =
      !options.weights_only && options.allow_global && options.allow_global("__torch__ Module");
  if (zip_.has("constants.pkl") && !allows_modules) {
    fail("a TorchScript archive, which cannot be loaded as a checkpoint; save the module's "
         "state_dict() to read it here");
  }
  check_version();
  if (zip_.has("byteorder")) {
    const std::string order = short_record("byteorder");
    if (order != "little" && order != "big")
      fail("Unknown endianness type: " + printable(order, kPrintedName));
    big_endian_ = order == "big";
  }
  if (big_endian_) {
    tensors_.set_on_untyped(
        [this](const Storage& storage, ScalarType dtype) { swap_untyped(storage, dtype); });
  }
}

void ZipCheckpoint::fail(const std::string& what) const {
  tenon::detail::raise<Error>("[load] ", source_.name(), ": ", what);
}

std::string ZipCheckpoint::short_record(const char* name) const {
  if (zip_.size(name) > kMaxWord)
    fail(tenon::detail::concat("record ", name, " has ", zip_.size(name), " bytes, at most ",
                               kMaxWord, " are read"));
  return zip_.read(name);
}

void ZipCheckpoint::check_version() {
  std::string text = short_record(zip_.has(".data/version") ? ".data/version" : "version");
  while (text.ends_with('\n')) text.pop_back();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version_);
  if (error != std::errc() || end != text.data() + text.size())
    fail("the version is no number: '" + printable(text, kPrintedName) + "'");
  if (version_ > kNewestVersion) {
    fail("Attempted to read a file with version " + std::to_string(version_) +
         ", but the maximum supported version for reading is " + std::to_string(kNewestVersion) +
         ". Your Tenon may be too old.");
  }
  if (version_ < kOldestVersion) {
    fail("Attempted to read a file with version " + std::to_string(version_) +
         ", but the minimum supported version for reading is " + std::to_string(kOldestVersion) +
         ".");
  }
}

void ZipCheckpoint::report(uint64_t bytes) {
  done_ += bytes;
  if (options_.progress) options_.progress(done_, total_);
}

Storage ZipCheckpoint::mapped(const ZipReader::Record& record, ScalarType dtype) const {
  const std::string place =
      "record " + record.name + " at byte " + std::to_string(record.data) + ": ";
  if (record.deflated) fail(place + "it is compressed, which mmap cannot read");
  if (record.data % element_size(dtype) != 0)
    fail(place + "its offset is no multiple of the element size, as mmap needs");
  if (big_endian_ && options_.mmap == LoadOptions::Mmap::Shared)
    fail("a big-endian file cannot be used in place: its bytes have to be turned around");
  return storage_part(mapping_, mapping_->mutable_data() + record.data, record.bytes, kCPU);
}

Storage ZipCheckpoint::read_storage(const ZipReader::Record& record, ScalarType dtype,
                                    const std::string& location) {
  if (options_.map_location.is_meta()) return make_storage(record.bytes, kMeta);
  if (mapping_) {
    const Storage storage = mapped(record, dtype);
    // Before the bytes are turned around or somebody else sees them.
    if (options_.mmap_verify) zip_.verify(record.name);
    if (big_endian_) swap_bytes(storage.data(), record.bytes, dtype);
    return options_.map_location(storage, location);
  }
  const Storage storage = make_storage(record.bytes, kCPU);
  if (options_.map_location.stays_on_cpu(location) && !big_endian_) {
    // Its memory is filled when the whole pickle has been understood.
    requests_.push_back({record.name, storage.data(), record.bytes});
    return storage;
  }
  zip_.read(record.name, storage.data(), record.bytes);
  if (big_endian_) swap_bytes(storage.data(), record.bytes, dtype);
  report(record.bytes);
  return options_.map_location(storage, location);
}

Value ZipCheckpoint::load_storage(const StorageId& id) {
  const std::optional<ScalarType> dtype = storage_dtype(id.cls);
  const std::string name = "data/" + id.key;
  if (!dtype && !globals_.inspects())
    fail("record " + name + ": storages of class " + printable(id.cls, kPrintedName) +
         " (quantized or unknown elements) are not supported");
  // The record bounds what is allocated, and the file bounds the record.
  const ZipReader::Record& record = zip_.get(name);
  const uint64_t size = storage_element_bytes(id.cls);
  if (record.bytes % size != 0 || static_cast<uint64_t>(id.numel) != record.bytes / size) {
    fail("record " + name + " at byte " + std::to_string(record.data) + ": record size (" +
         std::to_string(record.bytes) + " bytes) does not match expected size (" +
         std::to_string(id.numel) + " elements of " + std::to_string(size) + " bytes)");
  }
  const auto [it, is_new] = index_.emplace(id.key, storages_.size());
  if (is_new) {
    const ScalarType elements = dtype.value_or(kByte);
    Storage storage;
    try {
      storage =
          read_storage(record, elements == ScalarType::Undefined ? kByte : elements, id.location);
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with("[load]")) throw;
      fail("record " + name + ": " + error.what());
    }
    if (storage.nbytes() != record.bytes)
      fail("record " + name + ": map_location gave a storage of " +
           std::to_string(storage.nbytes()) + " bytes, expected " + std::to_string(record.bytes));
    storages_.push_back({{id.key, id.cls, id.location, record.bytes, record.data, {}}, storage});
  }
  return Value::storage(storages_[it->second].storage, dtype.value_or(ScalarType::Undefined));
}

/// Of a storage without a dtype the first tensor over it says what its elements are.
void ZipCheckpoint::swap_untyped(const Storage& storage, ScalarType dtype) {
  const size_t size = element_size(dtype);
  const auto [it, is_new] = swapped_.emplace(storage.get(), size);
  if (it->second != size) {
    fail(tenon::detail::concat("tensors over one storage of a big-endian file have elements of ",
                               it->second, " and of ", size,
                               " bytes; the order of its bytes is not known"));
  }
  if (!is_new || storage.device().is_meta()) return;
  const Tensor bytes(view_storage(storage, kByte));
  const Tensor on_cpu = bytes.cpu();
  swap_bytes(on_cpu.mutable_data_ptr(), storage.nbytes(), dtype);
  if (!storage.device().is_cpu()) Tensor(bytes).copy_(on_cpu);
}

void ZipCheckpoint::read_requests() {
  if (!options_.progress) {
    zip_.read(requests_);
    return requests_.clear();
  }
  std::vector<ZipReader::Request> batch;
  uint64_t bytes = 0;
  for (size_t i = 0; i < requests_.size(); ++i) {
    bytes += requests_[i].bytes;
    batch.push_back(requests_[i]);
    if (bytes < kReportBytes && i + 1 < requests_.size()) continue;
    zip_.read(batch);
    report(bytes);
    batch.clear();
    bytes = 0;
  }
  requests_.clear();
}

Value ZipCheckpoint::load() {
  for (const ZipReader::Record& record : zip_.records())
    if (record.name.starts_with("data/")) total_ += record.bytes;
  try {
    budget_.spend(zip_.size("data.pkl"));
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with("[load]")) throw;
    fail(error.what());
  }
  const std::string pickle = zip_.read("data.pkl");
  ByteCursor in(pickle, source_.name() + ": data.pkl");
  Unpickler machine(
      in, globals_, options_, budget_, [this](const StorageId& id) { return load_storage(id); },
      [this] { read_requests(); });
  Value result = machine.run();
  try {
    read_requests();
    tensors_.finish();
  } catch (...) {
    dispose(result);
    throw;
  }
  return result;
}

}  // namespace tenon::serialization
