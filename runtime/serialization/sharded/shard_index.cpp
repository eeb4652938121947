#include "runtime/serialization/sharded/shard_index.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/safetensors/strict_json.h"

namespace tenon::serialization {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "tenon.sharded";
constexpr int kVersion = 1;

template <class... Parts>
[[noreturn]] void fail(const std::string& what, const Parts&... parts) {
  tenon::detail::raise<Error>(what, parts...);
}

/// Elements of a shape; -1 if they are too many to count.
int64_t numel(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

std::vector<int64_t> sizes_of(const Json& json, const char* key, const std::string& what) {
  std::vector<int64_t> sizes;
  for (const Json& size : json.at(key)) {
    if (!is_count(size))
      fail(what, key, " must be a list of non-negative integers, got ", json.at(key).dump());
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

/// Whether a file's name stays in the folder.
bool is_plain(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

ShardIndex::Piece piece_of(const Json& json, const ShardIndex& index,
                           const ShardIndex::Tensor& tensor, const std::string& what) {
  ShardIndex::Piece piece{json.at("file").get<std::string>(), json.at("record").get<std::string>(),
                          sizes_of(json, "offset", what), sizes_of(json, "shape", what)};
  if (!index.files.contains(piece.file)) fail(what, "file '", piece.file, "' is not listed");
  bool inside =
      piece.offset.size() == tensor.shape.size() && piece.shape.size() == tensor.shape.size();
  for (size_t d = 0; inside && d < tensor.shape.size(); ++d)
    inside =
        piece.offset[d] <= tensor.shape[d] && piece.shape[d] <= tensor.shape[d] - piece.offset[d];
  if (!inside) fail(what, "a piece leaves the tensor: ", json.dump());
  return piece;
}

bool overlap(const ShardIndex::Piece& a, const ShardIndex::Piece& b) {
  for (size_t d = 0; d < a.shape.size(); ++d) {
    if (a.offset[d] + a.shape[d] <= b.offset[d] || b.offset[d] + b.shape[d] <= a.offset[d])
      return false;
  }
  return true;
}

/// The dimension that the pieces are cut along in the most places; 0 for scalars.
size_t most_cut(const std::vector<ShardIndex::Piece>& pieces) {
  size_t best = 0, most = 0;
  for (size_t d = 0; !pieces.empty() && d < pieces[0].offset.size(); ++d) {
    std::set<int64_t> cuts;
    for (const ShardIndex::Piece& piece : pieces) cuts.insert(piece.offset[d]);
    if (cuts.size() > most) best = d, most = cuts.size();
  }
  return best;
}

bool any_overlap(const std::vector<ShardIndex::Piece>& pieces) {
  // Along one dimension each piece meets only those that have begun there and not ended.
  const size_t d = most_cut(pieces);
  const bool scalar = pieces.empty() || pieces[0].offset.empty();
  if (scalar) return pieces.size() > 1;
  std::vector<const ShardIndex::Piece*> sorted, open;
  for (const ShardIndex::Piece& piece : pieces) sorted.push_back(&piece);
  std::sort(sorted.begin(), sorted.end(),
            [d](const auto* a, const auto* b) { return a->offset[d] < b->offset[d]; });
  for (const ShardIndex::Piece* piece : sorted) {
    std::erase_if(open, [&](const ShardIndex::Piece* other) {
      return other->offset[d] + other->shape[d] <= piece->offset[d];
    });
    for (const ShardIndex::Piece* other : open)
      if (overlap(*piece, *other)) return true;
    open.push_back(piece);
  }
  return false;
}

}  // namespace

std::string read_index(const std::string& folder) {
  const FileSource source((std::filesystem::path(folder) / kIndexName).string());
  std::string text(source.size(), '\0');
  source.read(0, text.data(), text.size());
  return text;
}

ShardIndex::Tensor& ShardIndex::tensor(const std::string& name, ScalarType dtype,
                                       const std::vector<int64_t>& shape, const std::string& what) {
  const auto [it, is_new] = tensors.try_emplace(name, Tensor{dtype, shape, {}});
  if (is_new) order.push_back(name);
  if (it->second.dtype != dtype || it->second.shape != shape)
    fail(what, "the pieces of tensor '", name, "' disagree about its dtype or shape");
  return it->second;
}

void ShardIndex::merge(const ShardIndex& part, const std::string& what) {
  for (const auto& [name, file] : part.files)
    if (!files.emplace(name, file).second) fail(what, "two writers wrote the file '", name, "'");
  for (const std::string& name : part.order) {
    const Tensor& theirs = part.tensors.at(name);
    Tensor& ours = tensor(name, theirs.dtype, theirs.shape, what);
    ours.pieces.insert(ours.pieces.end(), theirs.pieces.begin(), theirs.pieces.end());
  }
}

void ShardIndex::check_complete(const std::string& what) const {
  for (const auto& [name, tensor] : tensors) {
    if (any_overlap(tensor.pieces)) fail(what, "pieces of tensor '", name, "' overlap");
    int64_t missing = numel(tensor.shape);
    for (const Piece& piece : tensor.pieces) missing -= numel(piece.shape);
    if (missing != 0) fail(what, "tensor '", name, "' lacks ", missing, " elements");
  }
}

std::string ShardIndex::print() const {
  using Ordered = nlohmann::ordered_json;
  Ordered json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["metadata"] = metadata;
  // Names are unique: files go behind the others without a search for them.
  auto& file_list = (json["files"] = Ordered::object()).get_ref<Ordered::object_t&>();
  for (const auto& [name, file] : files) {
    file_list.emplace_back(name, Ordered{{"bytes", file.bytes}});
    if (!file.sha256.empty()) file_list.back().second["sha256"] = file.sha256;
  }
  Ordered& tensor_list = json["tensors"] = Ordered::array();
  for (const std::string& name : order) {
    const Tensor& tensor = tensors.at(name);
    Ordered pieces = Ordered::array();
    for (const Piece& piece : tensor.pieces) {
      pieces.push_back({{"file", piece.file},
                        {"record", piece.record},
                        {"offset", piece.offset},
                        {"shape", piece.shape}});
    }
    tensor_list.push_back({{"name", name},
                           {"dtype", dtype_name(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"pieces", std::move(pieces)}});
  }
  try {
    return json.dump(1) + "\n";
  } catch (const Ordered::exception& error) {
    tenon::detail::raise<ValueError>("[save] a name or the metadata is no UTF-8: ", error.what());
  }
}

ShardIndex ShardIndex::parse(const std::string& text, const std::string& what) try {
  // Tensors are a list in an object, their pieces another, and what these hold is a list.
  constexpr size_t kDepth = 6;
  const Json json = parse_strict_json(text, kDepth, what);
  if (json.at("format") != kFormat) fail(what, "its format is ", json.at("format").dump());
  if (json.at("version") != kVersion) {
    fail(what, "its version is ", json.at("version").dump(), ", and version ", kVersion,
         " is known");
  }
  ShardIndex index;
  index.metadata = json.at("metadata").get<std::map<std::string, std::string>>();
  for (const auto& [name, file] : json.at("files").items()) {
    if (!is_plain(name)) fail(what, "'", name, "' is no name of a file in the folder");
    if (!is_count(file.at("bytes")))
      fail(what, "file '", name, "': bytes must be a count, got ", file.at("bytes").dump());
    index.files[name] = {file.at("bytes").get<uint64_t>(), file.value("sha256", "")};
  }
  for (const Json& item : json.at("tensors")) {
    const auto name = item.at("name").get<std::string>();
    const std::string where = what + "tensor '" + name + "': ";
    if (index.tensors.contains(name)) fail(where, "it is listed twice");
    const auto dtype = dtype_of_name(item.at("dtype").get<std::string>());
    if (!dtype || *dtype == ScalarType::Undefined)
      fail(where, "unknown dtype ", item.at("dtype").dump());
    const std::vector<int64_t> shape = sizes_of(item, "shape", where);
    if (shape.size() > kMaxDims)
      fail(where, "it has ", shape.size(), " dimensions, more than ", kMaxDims);
    // Strides must fit even where there are no elements.
    std::vector<int64_t> positive = shape;
    for (int64_t& size : positive) size = std::max<int64_t>(size, 1);
    positive.push_back(static_cast<int64_t>(element_size(*dtype)));
    if (numel(positive) < 0) fail(where, "its shape is too large");
    Tensor& tensor = index.tensor(name, *dtype, shape, where);
    for (const Json& piece : item.at("pieces"))
      tensor.pieces.push_back(piece_of(piece, index, tensor, where));
  }
  return index;
} catch (const Json::exception& error) {
  fail(what, error.what());
}

}  // namespace tenon::serialization
