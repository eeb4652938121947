#include "runtime/serialization/archive_files.h"

#include <sstream>

#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/values/scoped_value.h"

namespace tenon::serialize {

using detail::ArchiveContent;
using File = serialization::Value;

namespace {

constexpr const char* kMetadata = "_metadata";
constexpr const char* kScriptModules = "__torch__.";

template <class T>
File list_of(const std::vector<T>& items) {
  File list = File::list();
  for (const auto& item : items) list.append(File(item));
  return list;
}

struct ToFile {
  File operator()(std::monostate) const { return nullptr; }
  File operator()(const TensorBase& t) const { return t; }
  File operator()(const Scalar& s) const {
    if (s.is_complex()) return s.to<std::complex<double>>();
    if (s.is_floating_point()) return s.to<double>();
    return s.is_boolean() ? File(s.to<bool>()) : File(s.to<int64_t>());
  }
  File operator()(const Value::Scalars& scalars) const {
    File list = File::list();
    for (const Scalar& s : scalars) list.append((*this)(s));
    return list;
  }
  File operator()(const Generator&) const {
    tenon::detail::raise<TypeError>("[save] an archive holds no generators");
  }
  File operator()(const std::vector<bool>& flags) const {
    File list = File::list();
    for (const bool flag : flags) list.append(flag);
    return list;
  }
  template <class T>
  File operator()(const std::vector<T>& items) const {
    return list_of(items);
  }
  template <class T>
  File operator()(const T& value) const {
    return File(value);
  }
};

/// A value of a file, or nothing if an archive cannot hold it.
std::optional<IValue> from_file(const File& value) {
  using Kind = File::Kind;
  switch (value.kind()) {
  case Kind::None: return IValue();
  case Kind::Bool: return IValue(value.to_bool());
  case Kind::Int: return IValue(value.to_int());
  case Kind::Float: return IValue(value.to_double());
  case Kind::Complex: return IValue(Value(Scalar(value.to_complex())));
  case Kind::String: return IValue(value.to_string());
  case Kind::Device: return IValue(value.to_device());
  case Kind::Dtype: return IValue(value.to_dtype());
  case Kind::Tensor:
  case Kind::Parameter: return IValue(value.to_tensor());
  case Kind::List:
  case Kind::Tuple: break;
  default: return std::nullopt;
  }
  const auto all = [&](auto is_one) {
    return std::all_of(value.items().begin(), value.items().end(), is_one);
  };
  if (all([](const File& item) { return item.is_tensor(); })) {
    std::vector<Tensor> tensors;
    for (const File& item : value.items()) tensors.push_back(item.to_tensor());
    return IValue(tensors);
  }
  if (all([](const File& item) { return item.is_int(); })) return IValue(value.to_ints());
  if (all([](const File& item) { return item.is(Kind::Float); })) {
    std::vector<double> numbers;
    for (const File& item : value.items()) numbers.push_back(item.to_double());
    return IValue(numbers);
  }
  return std::nullopt;
}

void add_entries(const ArchiveContent& content, const std::string& prefix, const File& dict,
                 const File& metadata) {
  metadata.set_item(prefix.empty() ? prefix : prefix.substr(0, prefix.size() - 1),
                    File::dict({{"version", 1}}));
  for (const auto& entry : content.entries) {
    if (const auto* nested = std::get_if<std::shared_ptr<ArchiveContent>>(&entry.value())) {
      add_entries(**nested, prefix + entry.key() + ".", dict, metadata);
    } else {
      dict.set_item(prefix + entry.key(),
                    std::visit(ToFile(), std::get<IValue>(entry.value()).variant()));
    }
  }
}

File file_of(const ArchiveContent& content) {
  const auto value = [](const ArchiveContent::Entry& entry) {
    return std::visit(ToFile(), std::get<IValue>(entry).variant());
  };
  if (content.form == ArchiveContent::Form::Tensor) return value(content.entries["0"]);
  if (content.form == ArchiveContent::Form::List) {
    File list = File::list();
    for (const auto& entry : content.entries) list.append(value(entry.value()));
    return list;
  }
  // As a state dict's, which names the modules too.
  File dict = File::ordered_dict(), metadata = File::ordered_dict();
  add_entries(content, "", dict, metadata);
  dict.set_attributes(File::dict({{kMetadata, metadata}}));
  return dict;
}

/// The archive of a path within another, made if it is not there.
ArchiveContent& archive_at(ArchiveContent& content, const std::string& path) {
  if (path.empty()) return content;
  const size_t dot = path.find('.');
  const std::string key = path.substr(0, dot);
  auto* entry = content.entries.find(key);
  if (!entry) entry = &content.entries.insert(key, std::make_shared<ArchiveContent>());
  const auto* nested = std::get_if<std::shared_ptr<ArchiveContent>>(entry);
  TENON_CHECK(nested, "[load] '", key, "' is a value and an archive at once");
  return dot == std::string::npos ? **nested : archive_at(**nested, path.substr(dot + 1));
}

/// Whether it is a module of TorchScript, as libtorch's own archives are.
bool is_script_module(const File& file) {
  return file.is(File::Kind::Object) && file.name().starts_with(kScriptModules);
}

/// The attributes of a TorchScript module: tensors, values, and modules within it.
void add_attributes(ArchiveContent& content, const File& module) {
  if (!module.attributes().is_dict()) return;
  for (const auto& [key, value] : module.attributes().entries()) {
    if (!key.is_string()) continue;
    if (is_script_module(value)) {
      auto nested = std::make_shared<ArchiveContent>();
      add_attributes(*nested, value);
      content.entries.insert(key.to_string(), nested);
    } else if (std::optional<IValue> known = from_file(value)) {
      content.entries.insert(key.to_string(), *std::move(known));
    }
  }
}

std::shared_ptr<ArchiveContent> content_of(const File& file) {
  auto content = std::make_shared<ArchiveContent>();
  const auto insert = [](ArchiveContent& into, const std::string& key, const File& value) {
    std::optional<IValue> known = from_file(value);
    TENON_CHECK_TYPE(known, "[load] '", key, "' is ", value.description(),
                     ", which an archive does not hold");
    into.entries.insert(key, *std::move(known));
  };
  if (file.is_tensor()) {
    insert(*content, "0", file);
    return content;
  }
  if (is_script_module(file)) {
    add_attributes(*content, file);
    return content;
  }
  if (file.is_list() || file.is_tuple()) {
    for (size_t i = 0; i < file.size(); ++i) insert(*content, std::to_string(i), file[i]);
    return content;
  }
  TENON_CHECK_TYPE(file.is_dict(), "[load] the file holds ", file.description(),
                   ", expected a state dict, a tensor or a list of tensors");
  const File* metadata = file.attributes().is_dict() ? file.attributes().find(kMetadata) : nullptr;
  content->lists_archives = metadata && metadata->is_dict();
  for (const auto& [key, value] : file.entries()) {
    TENON_CHECK_TYPE(key.is_string(), "[load] a key is ", key.description(), ", expected a string");
    const std::string& path = key.to_string();
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos) {
      insert(*content, path, value);
    } else {
      insert(archive_at(*content, path.substr(0, dot)), path.substr(dot + 1), value);
    }
  }
  if (content->lists_archives) {
    for (const auto& entry : metadata->entries()) {
      if (entry.first.is_string()) archive_at(*content, entry.first.to_string());
    }
  }
  return content;
}

serialization::LoadOptions options_for(std::optional<Device> device) {
  serialization::LoadOptions options;
  // Classes of TorchScript become objects known by their names.
  options.weights_only = false;
  options.allow_global = [](const std::string& name) { return name.starts_with(kScriptModules); };
  if (device) options.map_location = *device;
  return options;
}

}  // namespace

void OutputArchive::save_to(const std::string& filename) {
  serialization::save(file_of(*content_), filename);
}

void OutputArchive::save_to(std::ostream& stream) {
  serialization::save(file_of(*content_), stream);
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& write) {
  std::ostringstream stream;
  save_to(stream);
  const std::string bytes = std::move(stream).str();
  for (size_t done = 0; done < bytes.size();) {
    const size_t written = write(bytes.data() + done, bytes.size() - done);
    TENON_CHECK(written > 0 && written <= bytes.size() - done, "[save] the function wrote ",
                written, " of ", bytes.size() - done, " bytes");
    done += written;
  }
}

void InputArchive::load_from(const std::string& filename, std::optional<Device> device) {
  const serialization::ScopedValue file(serialization::load(filename, options_for(device)));
  content_ = content_of(file.value);
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  const serialization::ScopedValue file(serialization::load(stream, options_for(device)));
  content_ = content_of(file.value);
}

void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  const serialization::ScopedValue file(serialization::load(data, size, options_for(device)));
  content_ = content_of(file.value);
}

void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                             const std::function<size_t()>& size, std::optional<Device> device) {
  std::string bytes(size(), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const size_t got = read(done, bytes.data() + done, bytes.size() - done);
    TENON_CHECK(got > 0 && got <= bytes.size() - done, "[load] the function read ", got, " of ",
                bytes.size() - done, " bytes at ", done);
    done += got;
  }
  load_from(bytes.data(), bytes.size(), device);
}

OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  archive.content()->form = ArchiveContent::Form::Tensor;
  return archive;
}

InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  archive.content()->form = ArchiveContent::Form::List;
  return archive;
}

InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors) {
  for (size_t i = 0;; ++i) {
    Tensor tensor;
    if (!archive.try_read(std::to_string(i), tensor)) return archive;
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace tenon::serialize

namespace tenon::nn {

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Module& module) {
  module.save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, Module& module) {
  archive.all_or_nothing([&] { module.load(archive); });
  return archive;
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const std::shared_ptr<Module>& module) {
  TENON_CHECK(module, "Cannot serialize empty module");
  return archive << *module;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    const std::shared_ptr<Module>& module) {
  TENON_CHECK(module, "Cannot deserialize empty module");
  return archive >> *module;
}

}  // namespace tenon::nn
