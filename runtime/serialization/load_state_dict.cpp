#include <charconv>

#include "runtime/serialization/pickle_reader.h"
#include "runtime/serialization/serialize.h"
#include "runtime/serialization/zip_reader.h"

namespace tenon::serialization {
namespace {

constexpr int kOldestVersion = 1;
constexpr int kNewestVersion = 10;

void check_version(const ZipReader& zip, const ByteSource& file) {
  const std::string text = zip.read(zip.has(".data/version") ? ".data/version" : "version");
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  TENON_CHECK(error == std::errc(), "[load] ", file.name(), ": the version is no number: '", text,
              "'");
  TENON_CHECK(version >= kOldestVersion && version <= kNewestVersion, "[load] ", file.name(),
              ": Attempted to read a file with version ", version,
              ", but the maximum supported version for reading is ", kNewestVersion, ".");
  if (!zip.has("byteorder")) return;
  const std::string order = zip.read("byteorder");
  TENON_CHECK(order == "little", "[load] ", file.name(), ": byte order '", order,
              "' is not supported");
}

StateDict to_state_dict(const PickleValue& value, const ByteSource& file) {
  using Kind = PickleValue::Kind;
  TENON_CHECK(value.kind == Kind::Dict, "[load] ", file.name(), " holds ", value.description(),
              ", expected a dict of tensors");
  StateDict state("Tensor");
  for (const auto& [key, tensor] : value.pairs) {
    TENON_CHECK(key->kind == Kind::String, "[load] ", file.name(), ": a key is ",
                key->description(), ", expected a string");
    TENON_CHECK(tensor->kind == Kind::Tensor, "[load] ", file.name(), ": '", key->text, "' is ",
                tensor->description(), ", expected a tensor");
    state.set(key->text, Tensor(tensor->tensor));
  }
  return state;
}

}  // namespace

StateDict load_state_dict(const std::string& path) {
  const FileSource file(path);
  const ZipReader zip(file);
  TENON_CHECK(!zip.has("constants.pkl"), "[load] '", path,
              "' is a TorchScript archive; save the module's state_dict() to read it here");
  check_version(zip, file);
  // The tensors' memory is filled when the whole pickle has been understood.
  std::vector<ZipReader::Request> requests;
  const auto load_storage = [&](const std::string& key, ScalarType dtype, int64_t numel) {
    const std::string name = "data/" + key;
    // The record bounds what is allocated, and the file bounds the record.
    const uint64_t bytes = zip.size(name);
    TENON_CHECK(static_cast<uint64_t>(numel) == bytes / element_size(dtype) &&
                    bytes % element_size(dtype) == 0,
                "[load] '", path, "': record ", name, " at byte ", zip.offset(name),
                ": record size (", bytes, " bytes) does not match expected size (", numel,
                " elements of ", dtype, ")");
    TensorBase storage = empty({numel}, dtype, kCPU);
    requests.push_back({name, storage.data_ptr(), bytes});
    return storage;
  };
  const std::string pickle = zip.read("data.pkl");
  PickleReader reader(pickle, "'" + path + "': data.pkl", load_storage);
  StateDict state = to_state_dict(reader.run(), file);
  zip.read(requests);
  return state;
}

}  // namespace tenon::serialization

namespace tenon {

void load(nn::Module& module, const std::string& path) {
  module.load_state_dict(serialization::load_state_dict(path));
}

}  // namespace tenon
