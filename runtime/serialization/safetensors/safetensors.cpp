#include "runtime/serialization/safetensors/safetensors.h"

#include <algorithm>

#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/io/parallel_tasks.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/safetensors/safetensors_header.h"
#include "runtime/serialization/storage_bytes.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {
namespace {

using Entry = SafetensorsFile::Entry;

/// The format's own limit.
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kLengthBytes = 8;
/// What one thread reads at a time.
constexpr uint64_t kPieceBytes = 1 << 20;

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path, SafetensorsOptions options) {
  if (options.mmap) {
    auto mapping = std::make_shared<MappedSource>(path);
    mapping_ = mapping.get();
    source_ = std::move(mapping);
  } else {
    source_ = std::make_shared<FileSource>(path);
  }
  read_header();
}

SafetensorsFile::SafetensorsFile(std::shared_ptr<const ByteSource> source)
    : source_(std::move(source)) {
  read_header();
}

void SafetensorsFile::read_header() {
  const std::string what = "[load] " + source_->name() + ": no safetensors file: ";
  const uint64_t size = source_->size();
  TENON_CHECK(size >= kLengthBytes, what, "it has only ", size, " bytes");
  char length_bytes[kLengthBytes];
  source_->read(0, length_bytes, sizeof(length_bytes));
  const auto length = zip::get<uint64_t>(length_bytes);
  TENON_CHECK(length <= kMaxHeader, what, "its header would have ", length, " bytes, more than ",
              kMaxHeader);
  TENON_CHECK(length <= size - kLengthBytes, what, "its header of ", length,
              " bytes reaches past the end at byte ", size);
  std::string json(length, '\0');
  source_->read(kLengthBytes, json.data(), json.size());
  const uint64_t data = kLengthBytes + length;
  entries_ = parse_safetensors_header(json, size - data, what, metadata_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].offset += data;
    index_.emplace(entries_[i].name, i);
  }
}

bool SafetensorsFile::is_mappable(const Entry& entry) const {
  // Elements that are not aligned cannot be used where they lie.
  const auto item_bytes = static_cast<uint64_t>(safetensors_dtype(entry.dtype)->bits) / 8;
  return mapping_ && entry.bytes > 0 && entry.offset % item_bytes == 0;
}

std::vector<Tensor> SafetensorsFile::load(const std::vector<Entry>& entries) const {
  struct Piece {
    uint64_t offset;
    char* data;
    uint64_t bytes;
  };
  std::vector<Tensor> tensors;
  std::vector<Piece> pieces;
  for (const Entry& entry : entries) {
    const ScalarType type = safetensors_dtype(entry.dtype)->type;
    TENON_CHECK_NOT_IMPLEMENTED(type != ScalarType::Undefined, "[load] ", source_->name(),
                                ": tensor '", entry.name, "' is ", entry.dtype,
                                ", which Tenon does not have");
    Storage storage;
    if (is_mappable(entry)) {
      storage = storage_part(source_, mapping_->mutable_data() + entry.offset, entry.bytes, kCPU);
    } else {
      storage = make_storage(entry.bytes, kCPU);
      auto* data = static_cast<char*>(storage.data());
      for (uint64_t at = 0; at < entry.bytes; at += kPieceBytes)
        pieces.push_back({entry.offset + at, data + at, std::min(kPieceBytes, entry.bytes - at)});
    }
    tensors.push_back(
        Tensor(tensor_over(storage, type, 0, entry.shape, contiguous_strides(entry.shape))));
  }
  parallel_tasks(pieces.size(), [&](size_t i) {
    source_->read(pieces[i].offset, pieces[i].data, pieces[i].bytes);
  });
  return tensors;
}

Tensor SafetensorsFile::tensor(const std::string& name) const {
  const auto it = index_.find(name);
  TENON_CHECK_INDEX(it != index_.end(), "[load] ", source_->name(), " has no tensor '", name, "'");
  return load({entries_[it->second]}).front();
}

StateDict SafetensorsFile::tensors() const {
  const std::vector<Tensor> loaded = load(entries_);
  StateDict state("Tensor");
  for (size_t i = 0; i < loaded.size(); ++i) state.insert(entries_[i].name, loaded[i]);
  return state;
}

StateDict load_safetensors(const std::string& path, SafetensorsOptions options) {
  return SafetensorsFile(path, options).tensors();
}

void save_safetensors(const StateDict& tensors, const std::string& path,
                      const SafetensorsMetadata& metadata) {
  struct Item {
    const std::string* name;
    const Tensor* tensor;
    const SafetensorsDtype* dtype;
  };
  std::vector<Item> items;
  for (const auto& item : tensors) {
    TENON_CHECK(item->defined(), "[save] tensor '", item.key(), "' is undefined");
    TENON_CHECK_VALUE(item.key() != kSafetensorsMetadata, "[save] a tensor may not be called '",
                      kSafetensorsMetadata, "'");
    items.push_back({&item.key(), &item.value(), &safetensors_dtype(item->dtype(), item.key())});
  }
  // The package's order: the largest elements first, so that all are aligned.
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.dtype != b.dtype ? a.dtype > b.dtype : *a.name < *b.name;
  });
  std::vector<Entry> entries;
  uint64_t at = 0;
  for (const Item& item : items) {
    const IntArrayRef sizes = item.tensor->sizes();
    const uint64_t bytes = item.tensor->nbytes();
    entries.push_back({*item.name, item.dtype->name, {sizes.begin(), sizes.end()}, at, bytes});
    at += bytes;
  }
  std::string header = print_safetensors_header(entries, metadata);
  header.append((kLengthBytes - header.size() % kLengthBytes) % kLengthBytes, ' ');
  std::string length;
  zip::put<uint64_t>(length, header.size());

  FileSink sink(path);
  sink.reserve(length.size() + header.size() + at);
  sink.write(length.data(), length.size());
  sink.write(header.data(), header.size());
  for (const Item& item : items) {
    const Tensor data = item.tensor->detach().cpu().resolve_conj().resolve_neg().contiguous();
    sink.write(data.data_ptr(), data.nbytes());
  }
  sink.commit();
}

}  // namespace tenon::serialization
