#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "aten/common/ivalue.h"
#include "aten/core/thread_state.h"
#include "runtime/nn/ordered_dict.h"

namespace tenon::serialize {

namespace detail {

/// Named values and archives within an archive.
struct ArchiveContent {
  using Entry = std::variant<IValue, std::shared_ptr<ArchiveContent>>;

  OrderedDict<std::string, Entry> entries{"Entry"};
  /// Whether every archive within is listed, also those without entries.
  bool lists_archives = true;
  /// What the file holds: a dict of the entries, or only the tensor "0", or a list of "0", "1", ...
  enum class Form { Dict, Tensor, List } form = Form::Dict;

  /// The entry of a key, or of a path of keys with dots between them; null if there is none.
  const Entry* find(const std::string& key) const {
    if (const Entry* entry = entries.find(key)) return entry;
    for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
      const Entry* entry = entries.find(key.substr(0, dot));
      if (!entry) continue;
      if (const auto* part = std::get_if<std::shared_ptr<ArchiveContent>>(entry))
        return (*part)->find(key.substr(dot + 1));
    }
    return nullptr;
  }
};

}  // namespace detail

/// Tensors, values and archives within it by their names, to be written to a file. The file holds a
/// state dict: a dict of "part.weight" and so on, which torch.load reads in Python.
class OutputArchive final {
 public:
  OutputArchive() : content_(std::make_shared<detail::ArchiveContent>()) {}
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;

  /// Each throws if the key is taken.
  void write(const std::string& key, const IValue& value) { content_->entries.insert(key, value); }
  void write(const std::string& key, const Tensor& tensor, bool /*is_buffer*/ = false) {
    content_->entries.insert(key, IValue(tensor));
  }
  void write(const std::string& key, OutputArchive& nested) {
    content_->entries.insert(key, nested.content_);
  }
  template <class... Ts>
  void operator()(Ts&&... ts) {
    write(std::forward<Ts>(ts)...);
  }

  // Defined in runtime/serialization/archive_files.cpp.

  /// The file appears once it is complete.
  TENON_API void save_to(const std::string& filename);
  TENON_API void save_to(std::ostream& stream);
  /// Calls `write(bytes, size)` until all is written.
  TENON_API void save_to(const std::function<size_t(const void*, size_t)>& write);

  std::shared_ptr<detail::ArchiveContent> content() const { return content_; }

 private:
  std::shared_ptr<detail::ArchiveContent> content_;
};

/// What an OutputArchive, torch.save of a state dict, or libtorch's own archives have written; of
/// the last, modules, tensors and plain values are read, and no code.
class InputArchive final {
 public:
  InputArchive() : content_(std::make_shared<detail::ArchiveContent>()) {}
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;

  /// Error "... does not have a field with name 'x'".
  void read(const std::string& key, IValue& value) {
    TENON_CHECK(try_read(key, value), "[InputArchive] '", path_,
                "' does not have a field with name '", key, "'");
  }
  bool try_read(const std::string& key, IValue& value) {
    const auto* entry = content_->find(key);
    const auto* found = entry ? std::get_if<IValue>(entry) : nullptr;
    if (found) value = *found;
    return found;
  }
  /// A defined tensor keeps its device and its identity and takes the data that was read, dtype and
  /// sizes with them. Error "No such serialized tensor 'part.weight'".
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false) {
    TENON_CHECK(try_read(key, tensor, is_buffer), "No such serialized tensor '", path_, key, "'");
  }
  bool try_read(const std::string& key, Tensor& tensor, bool /*is_buffer*/ = false) {
    IValue value;
    if (!try_read(key, value) || !(value.isTensor() || value.isNone())) return false;
    const Tensor loaded = value.toTensor();
    if (tensor.defined() && loaded.defined()) {
      tensor.set_data(loaded.to(tensor.device()));
    } else {
      tensor = loaded;
    }
    return true;
  }
  /// Error "No such serialized submodule: 'part'".
  void read(const std::string& key, InputArchive& archive) {
    TENON_CHECK(try_read(key, archive) || !content_->lists_archives,
                "No such serialized submodule: '", path_, key, "'");
  }
  bool try_read(const std::string& key, InputArchive& archive) {
    const auto* entry = content_->find(key);
    const auto* found =
        entry ? std::get_if<std::shared_ptr<detail::ArchiveContent>>(entry) : nullptr;
    archive.content_ = found ? *found : std::make_shared<detail::ArchiveContent>();
    archive.content_->lists_archives = content_->lists_archives;
    archive.path_ = path_ + key + ".";
    archive.pending_ = pending_;
    return found;
  }
  template <class... Ts>
  void operator()(Ts&&... ts) {
    read(std::forward<Ts>(ts)...);
  }
  std::vector<std::string> keys() const { return content_->entries.keys(); }

  /// Copies what was read into `tensor`, which keeps its memory, dtype and device. Error also if
  /// the sizes differ.
  void copy_into(const std::string& key, const Tensor& tensor) {
    Tensor loaded;
    read(key, loaded);
    TENON_CHECK(loaded.defined() && loaded.sizes() == tensor.sizes(), "size mismatch for ", path_,
                key, ": expected ", tensor.sizes(), ", got ",
                loaded.defined() ? loaded.sizes() : IntArrayRef());
    if (pending_) {
      pending_->emplace_back(tensor, loaded);
    } else {
      copy(tensor, loaded);
    }
  }
  /// Runs `f`. What it copies into tensors is copied when it has returned, so that an error leaves
  /// them as they were.
  void all_or_nothing(const std::function<void()>& f) {
    pending_ = std::make_shared<std::vector<std::pair<Tensor, Tensor>>>();
    const auto copies = pending_;
    f();
    pending_.reset();
    for (const auto& [tensor, loaded] : *copies) copy(tensor, loaded);
  }

  // Defined in runtime/serialization/archive_files.cpp.

  /// Tensors come to `device`, by default to where they were saved from.
  TENON_API void load_from(const std::string& filename,
                           std::optional<Device> device = std::nullopt);
  TENON_API void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  TENON_API void load_from(const char* data, size_t size,
                           std::optional<Device> device = std::nullopt);
  /// `read(position, buffer, size)` gives bytes of a file of `size()` bytes.
  TENON_API void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                           const std::function<size_t()>& size,
                           std::optional<Device> device = std::nullopt);

 private:
  static void copy(const Tensor& tensor, const Tensor& loaded) {
    NoGradGuard no_grad;
    tensor.copy_(loaded);
  }

  std::shared_ptr<detail::ArchiveContent> content_;
  std::string path_;  // with a dot at its end, but of the outermost empty
  std::shared_ptr<std::vector<std::pair<Tensor, Tensor>>> pending_;
};

}  // namespace tenon::serialize
