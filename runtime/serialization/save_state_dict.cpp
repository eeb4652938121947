#include <bit>
#include <filesystem>
#include <unordered_map>

#include "runtime/serialization/pickle_writer.h"
#include "runtime/serialization/serialize.h"
#include "runtime/serialization/storage_class.h"
#include "runtime/serialization/zip_writer.h"

namespace tenon::serialization {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the records' bytes are written as they lie in memory");

/// Python's pickler writes a dictionary in portions.
constexpr size_t kBatch = 1000;

/// The storages of a file, numbered in the order of their first appearance.
class StorageTable {
 public:
  struct Entry {
    std::string key;
    PickleWriter::Memo key_memo;
    ScalarType dtype;
    Storage storage;
  };

  /// Writes the persistent id of the tensor's storage.
  void write_id(PickleWriter& out, const Tensor& t, const std::string& name, Device device) {
    const Storage storage = t.storage();
    const auto [it, is_new] = index_.emplace(storage.get(), entries_.size());
    if (is_new) entries_.push_back({std::to_string(entries_.size()), 0, t.dtype(), storage});
    Entry& entry = entries_[it->second];
    TENON_CHECK(entry.dtype == t.dtype(),
                "[save] Cannot save multiple tensors or storages that view the same data as "
                "different types: '",
                name, "' is ", t.dtype(), " on memory already saved as ", entry.dtype);
    out.mark();
    out.shared_string("storage");
    out.global("torch", storage_class(t.dtype()));
    if (is_new) {
      entry.key_memo = out.string(entry.key);
    } else {
      out.get(entry.key_memo);
    }
    out.shared_string(device.str());
    out.integer(static_cast<int64_t>(storage.nbytes() / t.element_size()));
    out.tuple();
    out.persistent_id();
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::unordered_map<const void*, size_t> index_;
  std::vector<Entry> entries_;
};

void empty_ordered_dict(PickleWriter& out) {
  out.global("collections", "OrderedDict");
  out.empty_tuple();
  out.reduce();
}

void write_tensor(PickleWriter& out, const Tensor& t, const std::string& name,
                  StorageTable& storages) {
  TENON_CHECK(t.defined(), "[save] tensor '", name, "' is undefined");
  const Tensor data = t.is_cpu() ? t : t.detach().cpu();
  out.global("torch._utils", "_rebuild_tensor_v2");
  out.mark();
  storages.write_id(out, data, name, t.device());
  out.integer(data.storage_offset());
  out.integers(data.sizes());
  out.integers(data.strides());
  out.boolean(t.requires_grad());
  empty_ordered_dict(out);
  out.tuple();
  out.reduce();
}

std::string pickle_of(const StateDict& state, StorageTable& storages) {
  PickleWriter out;
  empty_ordered_dict(out);
  for (size_t begin = 0; begin < state.size(); begin += kBatch) {
    const size_t count = std::min(kBatch, state.size() - begin);
    if (count > 1) out.mark();
    for (size_t i = begin; i < begin + count; ++i) {
      out.string(state[i].key());
      write_tensor(out, state[i].value(), state[i].key(), storages);
    }
    count > 1 ? out.set_items() : out.set_item();
  }
  return std::move(out).finish();
}

/// The file's name without its last extension, which names the folder inside.
std::string archive_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem().string();
  TENON_CHECK(!name.empty(), "[save] invalid file name: ", path);
  return name;
}

}  // namespace

void save_state_dict(const StateDict& state, const std::string& path) {
  const std::string archive = archive_name(path);
  StorageTable storages;
  const std::string pickle = pickle_of(state, storages);
  FileSink file(path);
  ZipWriter zip(file, archive);
  uint64_t bytes = pickle.size();
  for (const auto& entry : storages.entries()) bytes += entry.storage.nbytes();
  zip.reserve(storages.entries().size() + 6, bytes);
  zip.add("data.pkl", pickle);
  zip.add(".format_version", "1");
  zip.add(".storage_alignment", "64");
  zip.add("byteorder", "little");
  for (const auto& entry : storages.entries())
    zip.add("data/" + entry.key, entry.storage.data(), entry.storage.nbytes());
  zip.add("version", "3\n");
  zip.add(".data/serialization_id", zip.digest());
  zip.finish();
  file.commit();
}

}  // namespace tenon::serialization

namespace tenon {

void save(const nn::Module& module, const std::string& path) {
  serialization::save_state_dict(module.state_dict(), path);
}

}  // namespace tenon
