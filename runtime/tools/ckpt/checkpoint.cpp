#include "runtime/tools/ckpt/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <unordered_set>

#include "runtime/serialization/inspect.h"
#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/safetensors.h"
#include "runtime/serialization/sharded/sharded.h"
#include "runtime/serialization/sniff.h"
#include "runtime/serialization/value_node.h"
#include "runtime/serialization/zip_reader.h"

namespace tenon::ckpt {
namespace {

using namespace serialization;
using Kind = Value::Kind;

/// What values longer than this are shortened to.
constexpr size_t kTextBytes = 60;

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string text_of(const Value& value) {
  std::ostringstream out;
  out << value;
  std::string text = out.str();
  if (text.size() > kTextBytes) text = text.substr(0, kTextBytes - 3) + "...";
  return text;
}

std::string key_of(const Value& key) { return key.is_string() ? key.to_string() : text_of(key); }

/// Visits what containers hold, and those that occur several times each time, but not within
/// themselves.
class Walk {
 public:
  explicit Walk(const std::function<void(const std::string&, const Value&)>& f) : f_(f) {}

  void visit(const std::string& path, const Value& value) {
    const bool list = value.is_list() || value.is_tuple(), object = value.is(Kind::Object);
    if (!list && !value.is_dict()) f_(path, value);
    if (!list && !value.is_dict() && !object) return;
    const auto* node = serialization::detail::Node::of(value);
    if (!open_.insert(node).second) return;
    // One that holds another twice, which holds a third one twice and so on, has no end.
    constexpr size_t kMostAgain = 1'000'000;
    if (!seen_.insert(node).second) again_ += object ? 1 : value.size();
    TENON_CHECK(again_ <= kMostAgain, "[tenon-ckpt] more than ", kMostAgain,
                " values occur not for the first time");
    if (object) {
      if (value.attributes().is_dict()) visit(path, value.attributes());
    } else if (list) {
      for (size_t i = 0; i < value.size(); ++i) visit(join(path, std::to_string(i)), value[i]);
    } else {
      for (const auto& [key, item] : value.entries()) visit(join(path, key_of(key)), item);
    }
    open_.erase(node);
  }

 private:
  const std::function<void(const std::string&, const Value&)>& f_;
  std::unordered_set<const void*> open_, seen_;
  size_t again_ = 0;
};

Entry tensor_entry(const std::string& name, const std::string& dtype,
                   const std::vector<int64_t>& shape, uint64_t item_bytes) {
  uint64_t bytes = item_bytes;
  for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
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
    each_leaf(inspect(path).value, [this](const std::string& name, const Value& leaf) {
      if (!leaf.is_tensor()) {
        entries_.push_back({name, false, leaf.description(), {}, 0, text_of(leaf)});
        return;
      }
      const Tensor t = leaf.to_tensor();
      entries_.push_back(tensor_entry(name, dtype_name(t.dtype()),
                                      {t.sizes().begin(), t.sizes().end()}, t.element_size()));
    });
  }

  Tensor tensor(const std::string& name) override {
    if (tensors_.empty()) {
      LoadOptions options;
      options.map_location = "cpu";
      options.weights_only = false;
      if (is_mappable(path_)) options.mmap = LoadOptions::Mmap::Private;
      each_leaf(load(path_, options), [this](const std::string& leaf_name, const Value& leaf) {
        if (leaf.is_tensor()) tensors_.emplace(leaf_name, leaf.to_tensor());
      });
    }
    return tensors_.at(name);
  }

 private:
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

void each_leaf(const Value& value, const std::function<void(const std::string&, const Value&)>& f) {
  Walk(f).visit("", value);
}

std::string readable_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(kUnits); ++unit) number /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", number, kUnits[unit]);
  return text;
}

std::string readable_shape(const std::vector<int64_t>& shape) {
  return tenon::detail::concat(IntArrayRef(shape));
}

}  // namespace tenon::ckpt
