#include "runtime/serialization/sharded/sharded_checkpoint.h"

#include <filesystem>
#include <mutex>
#include <utility>

#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/io/parallel_tasks.h"
#include "runtime/serialization/sha256.h"
#include "runtime/serialization/sharded/shard_index.h"
#include "runtime/serialization/zip/zip_reader.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/narrow.h"

namespace tenon::serialization {
namespace {

namespace fs = std::filesystem;

struct OpenFile {
  explicit OpenFile(const std::string& path) : source(path), zip(source) {}

  FileSource source;
  ZipReader zip;
};

std::unique_ptr<OpenFile> open_file(const std::string& folder, const std::string& name) try {
  return std::make_unique<OpenFile>((fs::path(folder) / name).string());
} catch (const OSError& error) {
  if (error.code() != ENOENT) throw;
  throw OSError(ENOENT, std::string(error.what()) +
                            "; if a newer checkpoint has been saved to the folder since this one "
                            "was opened, open it again");
}

/// The part of a tensor that a piece and what is wanted have in common, in whole coordinates.
struct Overlap {
  std::vector<int64_t> begin, size;
  bool empty = false;

  Overlap(const ShardIndex::Piece& piece, IntArrayRef offset, IntArrayRef shape) {
    for (size_t d = 0; d < shape.size(); ++d) {
      begin.push_back(std::max(piece.offset[d], offset[d]));
      size.push_back(std::min(piece.offset[d] + piece.shape[d], offset[d] + shape[d]) -
                     begin.back());
      empty = empty || size.back() <= 0;
    }
  }
  /// That part of a tensor that begins at `offset`.
  Tensor of(Tensor tensor, IntArrayRef offset) const {
    for (size_t d = 0; d < size.size(); ++d)
      tensor = tensor.narrow(static_cast<int64_t>(d), begin[d] - offset[d], size[d]);
    return tensor;
  }
};

}  // namespace

/// The files that have been opened.
struct ShardedCheckpoint::Files {
  OpenFile& open(const std::string& folder, const std::string& name) {
    const std::lock_guard lock(mutex);
    std::unique_ptr<OpenFile>& file = files[name];
    if (!file) file = open_file(folder, name);
    return *file;
  }

  std::mutex mutex;
  std::map<std::string, std::unique_ptr<OpenFile>> files;
};

ShardedCheckpoint::ShardedCheckpoint(const std::string& folder)
    : folder_(folder), files_(std::make_unique<Files>()) {
  const std::string what = "[load] '" + (fs::path(folder) / kIndexName).string() +
                           "': no index of a sharded checkpoint: ";
  index_ = std::make_unique<ShardIndex>(ShardIndex::parse(read_index(folder), what));
  index_->check_complete(what);
  for (const std::string& name : index_->order) {
    const ShardIndex::Tensor& tensor = index_->tensors.at(name);
    entries_.push_back({name, tensor.dtype, tensor.shape});
  }
}

ShardedCheckpoint::~ShardedCheckpoint() = default;

const std::map<std::string, std::string>& ShardedCheckpoint::metadata() const {
  return index_->metadata;
}

Tensor ShardedCheckpoint::tensor(const std::string& name) const {
  const auto it = index_->tensors.find(name);
  TENON_CHECK_INDEX(it != index_->tensors.end(), "[load] '", folder_, "' has no tensor '", name,
                    "'");
  const std::vector<int64_t>& shape = it->second.shape;
  return tensor(name, std::vector<int64_t>(shape.size(), 0), shape);
}

Tensor ShardedCheckpoint::tensor(const std::string& name, IntArrayRef offset,
                                 IntArrayRef shape) const {
  const auto it = index_->tensors.find(name);
  TENON_CHECK_INDEX(it != index_->tensors.end(), "[load] '", folder_, "' has no tensor '", name,
                    "'");
  const ShardIndex::Tensor& whole = it->second;
  bool inside = offset.size() == whole.shape.size() && shape.size() == whole.shape.size();
  for (size_t d = 0; inside && d < shape.size(); ++d)
    inside = offset[d] >= 0 && shape[d] >= 0 && offset[d] <= whole.shape[d] &&
             shape[d] <= whole.shape[d] - offset[d];
  TENON_CHECK_INDEX(inside, "[load] a part of shape ", shape, " at ", offset, " leaves tensor '",
                    name, "' of shape ", IntArrayRef(whole.shape));

  for (const ShardIndex::Piece& piece : whole.pieces) check_record(name, piece);
  Tensor result(empty(shape, whole.dtype, kCPU));
  // Pieces whose place in the result is contiguous are read right into it, file by file.
  std::map<OpenFile*, std::vector<ZipReader::Request>> direct;
  for (const ShardIndex::Piece& piece : whole.pieces) {
    const Overlap overlap(piece, offset, shape);
    if (overlap.empty) continue;
    OpenFile& file = files_->open(folder_, piece.file);
    const Tensor place = overlap.of(result, offset);
    const bool all = overlap.size == piece.shape;
    if (all && place.is_contiguous()) {
      direct[&file].push_back({piece.record, place.data_ptr(), place.nbytes()});
      continue;
    }
    const Tensor part(empty(piece.shape, whole.dtype, kCPU));
    file.zip.read(piece.record, part.data_ptr(), part.nbytes());
    Tensor(place).copy_(overlap.of(part, piece.offset));
  }
  for (const auto& [file, requests] : direct) file->zip.read(requests);
  return result;
}

StateDict ShardedCheckpoint::tensors() const {
  StateDict state("Tensor");
  for (const Entry& entry : entries_) state.insert(entry.name, tensor(entry.name));
  return state;
}

void ShardedCheckpoint::verify() const {
  std::vector<std::pair<std::string, ShardIndex::File>> list(index_->files.begin(),
                                                             index_->files.end());
  parallel_tasks(list.size(), [&](size_t i) {
    const auto& [name, expected] = list[i];
    const auto file = open_file(folder_, name);
    TENON_CHECK(file->source.size() == expected.bytes, "[load] ", file->source.name(), " has ",
                file->source.size(), " bytes, expected ", expected.bytes);
    for (const auto& record : file->zip.records()) file->zip.verify(record.name);
    if (expected.sha256.empty()) return;
    const std::string sha256 = sha256_file((fs::path(folder_) / name).string());
    TENON_CHECK(sha256 == expected.sha256, "[load] ", file->source.name(), " has the SHA-256 ",
                sha256, ", expected ", expected.sha256);
  });
  for (const auto& [name, tensor] : index_->tensors)
    for (const ShardIndex::Piece& piece : tensor.pieces) check_record(name, piece);
}

void ShardedCheckpoint::check_record(const std::string& name,
                                     const ShardIndex::Piece& piece) const {
  uint64_t bytes = element_size(index_->tensors.at(name).dtype);
  for (const int64_t size : piece.shape) bytes *= static_cast<uint64_t>(size);
  const uint64_t found = files_->open(folder_, piece.file).zip.size(piece.record);
  TENON_CHECK(found == bytes, "[load] '", folder_, "': record ", piece.record, " of ", piece.file,
              " has ", found, " bytes, expected ", bytes, " of tensor '", name, "'");
}

StateDict load_sharded(const std::string& folder) {
  for (std::string index;;) {
    try {
      return ShardedCheckpoint(folder).tensors();
    } catch (const OSError& error) {
      if (error.code() != ENOENT) throw;
      // Its files went because a newer one's are there, or they are missing.
      if (std::string now = read_index(folder); now == std::exchange(index, now)) throw;
    }
  }
}

bool is_sharded(const std::string& folder) {
  std::error_code error;
  return fs::is_regular_file(fs::path(folder) / kIndexName, error);
}

}  // namespace tenon::serialization
