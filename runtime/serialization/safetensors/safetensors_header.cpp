#include "runtime/serialization/safetensors/safetensors_header.h"

#include <algorithm>

#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/safetensors/strict_json.h"

namespace tenon::serialization {
namespace {

using Json = nlohmann::json;
using Entry = SafetensorsFile::Entry;

/// In the order of the format's own list, by which files are laid out.
constexpr SafetensorsDtype kDtypes[] = {
    {"BOOL", 8, ScalarType::Bool},
    {"F4", 4, ScalarType::Undefined},
    {"F6_E2M3", 6, ScalarType::Undefined},
    {"F6_E3M2", 6, ScalarType::Undefined},
    {"U8", 8, ScalarType::Byte},
    {"I8", 8, ScalarType::Char},
    {"F8_E5M2", 8, ScalarType::Float8_e5m2},
    {"F8_E4M3", 8, ScalarType::Float8_e4m3fn},
    {"F8_E8M0", 8, ScalarType::Undefined},
    {"F8_E4M3FNUZ", 8, ScalarType::Float8_e4m3fnuz},
    {"F8_E5M2FNUZ", 8, ScalarType::Float8_e5m2fnuz},
    {"I16", 16, ScalarType::Short},
    {"U16", 16, ScalarType::UInt16},
    {"F16", 16, ScalarType::Half},
    {"BF16", 16, ScalarType::BFloat16},
    {"I32", 32, ScalarType::Int},
    {"U32", 32, ScalarType::UInt32},
    {"F32", 32, ScalarType::Float},
    {"C64", 64, ScalarType::ComplexFloat},
    {"F64", 64, ScalarType::Double},
    {"I64", 64, ScalarType::Long},
    {"U64", 64, ScalarType::UInt64},
};

/// Understands a header.
class HeaderParser {
 public:
  explicit HeaderParser(const std::string& what) : what_(what) {}

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    tenon::detail::raise<Error>(what_, parts...);
  }

  SafetensorsMetadata metadata(const Json& json) const {
    if (!json.is_object()) fail(kSafetensorsMetadata, " must be an object of strings");
    SafetensorsMetadata metadata;
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string())
        fail(kSafetensorsMetadata, ": '", key, "' must be a string, got ", value.dump());
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  Entry entry(const std::string& name, const Json& json) const {
    if (!json.is_object() || json.size() != 3 || !json.contains("dtype") ||
        !json.contains("shape") || !json.contains("data_offsets"))
      fail("tensor '", name, "' must have exactly dtype, shape and data_offsets");
    const Json &dtype = json["dtype"], &shape = json["shape"], &offsets = json["data_offsets"];
    const SafetensorsDtype* known =
        dtype.is_string() ? safetensors_dtype(dtype.get<std::string>()) : nullptr;
    if (!known) fail("tensor '", name, "' has the unknown dtype ", dtype.dump());
    const bool two = offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
                     offsets[1].is_number_unsigned() && offsets[0] <= offsets[1];
    if (!two)
      fail("tensor '", name, "': data_offsets must be two ascending numbers, got ", offsets.dump());
    Entry entry{name, known->name, {}, offsets[0].get<uint64_t>(), 0};
    entry.bytes = offsets[1].get<uint64_t>() - entry.offset;
    uint64_t bits = static_cast<uint64_t>(known->bits);
    if (!shape.is_array()) fail("tensor '", name, "': shape must be a list, got ", shape.dump());
    if (shape.size() > kMaxDims)
      fail("tensor '", name, "': it has ", shape.size(), " dimensions, more than ", kMaxDims);
    bool empty = false, fits = true;
    for (const Json& size : shape) {
      if (!is_count(size))
        fail("tensor '", name, "': a size must be a non-negative integer, got ", size.dump());
      entry.shape.push_back(size.get<int64_t>());
      // Strides must fit even where there are no elements.
      empty = empty || entry.shape.back() == 0;
      fits =
          fits && !__builtin_mul_overflow(bits, std::max(size.get<uint64_t>(), uint64_t{1}), &bits);
    }
    if (empty) bits = 0;
    if (!fits || bits % 8 != 0 || bits / 8 != entry.bytes) {
      fail("tensor '", name, "': a shape of ", shape.dump(), " of ", known->name,
           " does not fit its data_offsets ", offsets.dump());
    }
    return entry;
  }

 private:
  const std::string& what_;
};

}  // namespace

const SafetensorsDtype* safetensors_dtype(const std::string& name) {
  for (const SafetensorsDtype& dtype : kDtypes)
    if (name == dtype.name) return &dtype;
  return nullptr;
}

const SafetensorsDtype& safetensors_dtype(ScalarType type, const std::string& tensor) {
  for (const SafetensorsDtype& dtype : kDtypes)
    if (type == dtype.type && type != ScalarType::Undefined) return dtype;
  tenon::detail::raise<NotImplementedError>("[save] tensor '", tensor, "' is ", type,
                                            ", which safetensors does not have");
}

std::vector<Entry> parse_safetensors_header(const std::string& text, uint64_t data_bytes,
                                            const std::string& what,
                                            SafetensorsMetadata& metadata) {
  // An object of objects that hold lists.
  constexpr size_t kDepth = 3;
  const HeaderParser parser(what);
  if (!text.starts_with('{')) parser.fail("the header must begin with '{'");
  const Json json = parse_strict_json(text, kDepth, what + "the header: ");
  std::vector<Entry> entries;
  for (const auto& [name, value] : json.items()) {
    if (name == kSafetensorsMetadata) {
      metadata = parser.metadata(value);
    } else {
      entries.push_back(parser.entry(name, value));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes;
  });
  uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.offset != at) {
      parser.fail("tensor '", entry.name, "' begins at byte ", entry.offset,
                  " of the data, expected ", at, ": there are gaps or overlaps");
    }
    at += entry.bytes;
  }
  if (at != data_bytes)
    parser.fail("the tensors have ", at, " bytes, but ", data_bytes, " follow the header");
  return entries;
}

std::string print_safetensors_header(const std::vector<Entry>& entries,
                                     const SafetensorsMetadata& metadata) {
  using Ordered = nlohmann::ordered_json;
  Ordered json = Ordered::object();
  if (!metadata.empty()) json[kSafetensorsMetadata] = metadata;
  // Names are unique: entries go behind the others without a search for them.
  auto& object = json.get_ref<Ordered::object_t&>();
  for (const Entry& entry : entries) {
    object.emplace_back(entry.name,
                        Ordered{{"dtype", entry.dtype},
                                {"shape", entry.shape},
                                {"data_offsets", {entry.offset, entry.offset + entry.bytes}}});
  }
  try {
    return json.dump();
  } catch (const Ordered::exception& error) {
    tenon::detail::raise<ValueError>("[save] a name or the metadata is no UTF-8: ", error.what());
  }
}

}  // namespace tenon::serialization
