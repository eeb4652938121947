#include "runtime/tools/ckpt/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "runtime/serialization/inspect.h"
#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/safetensors/safetensors.h"
#include "runtime/serialization/sharded/sharded.h"
#include "runtime/serialization/sniff.h"
#include "runtime/serialization/values/scoped_value.h"
#include "runtime/serialization/values/value_names.h"
#include "runtime/serialization/values/value_node.h"
#include "runtime/serialization/values/value_text.h"
#include "runtime/serialization/zip/zip_reader.h"
#include "runtime/tools/ckpt/text.h"

namespace tenon::ckpt {
namespace {

using namespace serialization;
using Kind = Value::Kind;

/// What values longer than this are shortened to.
constexpr size_t kTextBytes = 60;

Entry tensor_entry(const std::string& name, const std::string& dtype,
                   const std::vector<int64_t>& shape, uint64_t item_bytes) {
  uint64_t bytes = item_bytes;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) bytes = UINT64_MAX;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) bytes = 0;
  return {name, true, dtype, shape, bytes, ""};
}

constexpr uint64_t kLargestElement = 16;

/// Whether all storages can be used where they lie in the file.
bool is_mappable(const std::string& path) {
  const FileSource source(path);
  if (sniff(source) != FileFormat::Zip) return false;
  const ZipReader zip(source);
  return std::all_of(zip.records().begin(), zip.records().end(), [](const auto& record) {
    return !record.name.starts_with("data/") ||
           (!record.deflated && record.data % kLargestElement == 0);
  });
}

/// The zip and the legacy format.
class PickledCheckpoint : public Checkpoint {
 public:
  PickledCheckpoint(const std::string& path, Format format) : Checkpoint(format), path_(path) {
    // It shows files, too, that name classes which load() refuses.
    const CheckpointInfo info = inspect(path);
    const ScopedValue value(info.value);
    std::unordered_map<const void*, const TensorInfo*> tensors;
    for (const TensorInfo& tensor : info.tensors)
      tensors.emplace(serialization::detail::Node::of(tensor.value), &tensor);
    Budget budget(info.pickle_bytes, 0, {});
    each_leaf(info.value, budget, [&](const std::string& name, const Value& leaf) {
      const auto tensor = tensors.find(serialization::detail::Node::of(leaf));
      if (tensor != tensors.end()) {
        add(name, leaf, *tensor->second, info);
      } else {
        entries_.push_back({name, false, leaf.description(), {}, 0, text_of(leaf, kTextBytes)});
      }
    });
  }

  Tensor tensor(const std::string& name) override {
    if (tensors_.empty()) {
      LoadOptions options;
      options.map_location = "cpu";
      options.weights_only = false;
      if (is_mappable(path_)) options.mmap = LoadOptions::Mmap::Private;
      const ScopedValue loaded(load(path_, options));
      Budget budget = budget_of(path_);
      each_leaf(loaded.value, budget, [this](const std::string& leaf_name, const Value& leaf) {
        if (leaf.is_tensor()) tensors_.emplace(leaf_name, leaf.to_tensor());
      });
    }
    const auto it = tensors_.find(name);
    TENON_CHECK(it != tensors_.end(), "[tenon-ckpt] '", path_, "' has no tensor ", shown(name));
    return it->second;
  }

 private:
  void add(const std::string& name, const Value& leaf, const TensorInfo& tensor,
           const CheckpointInfo& info) {
    const uint64_t item_bytes = leaf.is_tensor() ? leaf.to_tensor().element_size() : 0;
    Entry entry = tensor_entry(name, tensor.dtype, tensor.sizes, item_bytes);
    if (tensor.kind == "meta") {
      entry.form = tensor.kind;
    } else if (!leaf.is_tensor()) {
      entry.form = tensor.kind;
      for (const StorageInfo& storage : info.storages)
        if (std::find(tensor.storages.begin(), tensor.storages.end(), storage.key) !=
            tensor.storages.end())
          entry.bytes += storage.bytes;
    }
    entries_.push_back(std::move(entry));
  }

  std::string path_;
  std::map<std::string, Tensor> tensors_;
};

class SafetensorsCheckpoint : public Checkpoint {
 public:
  explicit SafetensorsCheckpoint(const std::string& path)
      : Checkpoint(Format::Safetensors), file_(path, {.mmap = true}) {
    metadata_ = file_.metadata();
    for (const auto& entry : file_.entries())
      entries_.push_back({entry.name, true, entry.dtype, entry.shape, entry.bytes, ""});
  }
  Tensor tensor(const std::string& name) override { return file_.tensor(name); }

 private:
  SafetensorsFile file_;
};

class ShardedFolder : public Checkpoint {
 public:
  explicit ShardedFolder(const std::string& path) : Checkpoint(Format::Sharded), files_(path) {
    metadata_ = files_.metadata();
    for (const auto& entry : files_.entries())
      entries_.push_back(tensor_entry(entry.name, dtype_name(entry.dtype), entry.shape,
                                      element_size(entry.dtype)));
  }
  Tensor tensor(const std::string& name) override { return files_.tensor(name); }

 private:
  ShardedCheckpoint files_;
};

}  // namespace

const char* name_of(Format format) {
  switch (format) {
  case Format::Zip: return "zip";
  case Format::Legacy: return "legacy";
  case Format::Safetensors: return "safetensors";
  case Format::Sharded: return "sharded";
  }
  return "";
}

Format format_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    TENON_CHECK(is_sharded(path), "[tenon-ckpt] folder '", path,
                "' is no sharded checkpoint: it has no index.json");
    return Format::Sharded;
  }
  const FileSource source(path);
  // The header's length, whose upper bytes are zero, and the header's first byte.
  char head[9] = {};
  if (source.size() >= sizeof(head)) source.read(0, head, sizeof(head));
  if (head[8] == '{' && head[5] == 0 && head[6] == 0 && head[7] == 0) return Format::Safetensors;
  return sniff(source) == FileFormat::Zip ? Format::Zip : Format::Legacy;
}

std::unique_ptr<Checkpoint> Checkpoint::open(const std::string& path) {
  switch (const Format format = format_of(path)) {
  case Format::Safetensors: return std::make_unique<SafetensorsCheckpoint>(path);
  case Format::Sharded: return std::make_unique<ShardedFolder>(path);
  default: return std::make_unique<PickledCheckpoint>(path, format);
  }
}

const Entry* Checkpoint::find(const std::string& name) const {
  if (index_.empty())
    for (const Entry& entry : entries_) index_.emplace(entry.name, &entry);
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : it->second;
}

void each_leaf(const Value& value, Budget& budget,
               const std::function<void(const std::string&, const Value&)>& f) {
  walk_names(value, Repeats::All, budget, [&](const std::string& name, const Value& v) -> unsigned {
    if (v.is_list() || v.is_tuple() || v.is_dict()) return kItems;
    budget.spend(name.size() + Budget::kNode);
    f(name, v);
    const bool has_names = v.attributes().is_dict() || !v.elements().is_none();
    return v.is(Kind::Object) && has_names ? kAttributes : kNothing;
  });
}

Budget budget_of(const std::string& path) {
  const uint64_t bytes = std::filesystem::file_size(path);
  return {bytes, bytes, {}};
}

}  // namespace tenon::ckpt
