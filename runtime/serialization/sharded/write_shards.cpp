#include "runtime/serialization/sharded/write_shards.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <set>

#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/io/folder.h"
#include "runtime/serialization/io/parallel_tasks.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/sha256.h"
#include "runtime/serialization/sharded/shard_index.h"
#include "runtime/serialization/sharded/sharded_checkpoint.h"
#include "runtime/serialization/storage_bytes.h"
#include "tenon/ops/contiguous.h"
#include "tenon/ops/narrow.h"

namespace tenon::serialization {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "shard-";
constexpr std::string_view kSuffix = ".pt";

std::string path_in(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

/// A name that no other save gives its files.
std::string unique_name() {
  std::random_device random;
  char text[17];
  std::snprintf(text, sizeof(text), "%08x%08x", random(), random());
  return text;
}

/// Cuts a piece along its first dimension into such of at most `bytes`.
void cut(const TensorPiece& piece, uint64_t bytes, std::vector<TensorPiece>& to) {
  const uint64_t whole = piece.data.nbytes();
  const int64_t rows = piece.data.dim() > 0 ? piece.data.size(0) : 0;
  if (whole <= bytes || rows <= 1) {
    to.push_back(piece);
    return;
  }
  const uint64_t row_bytes = whole / static_cast<uint64_t>(rows);
  const auto most = static_cast<int64_t>(std::max<uint64_t>(bytes / row_bytes, 1));
  for (int64_t row = 0; row < rows; row += most) {
    to.push_back(piece);
    to.back().offset[0] += row;
    to.back().data = piece.data.narrow(0, row, std::min(most, rows - row));
  }
}

/// A tensor that is all of a storage of its own, so that it has a record of its own.
Tensor with_own_storage(const Tensor& tensor) {
  const auto data = std::make_shared<const Tensor>(
      tensor.detach().cpu().resolve_conj().resolve_neg().contiguous());
  const Storage storage = storage_part(data, data->data_ptr(), data->nbytes(), kCPU);
  return Tensor(tensor_over(storage, data->dtype(), 0, data->sizes(), data->strides()));
}

void write_file(const std::vector<TensorPiece>& pieces, const std::string& path, int deflate) {
  const Value dict = Value::dict();
  // The same tensor may be here in several pieces.
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string key = pieces[i].name;
    if (dict.contains(Value(key))) key.append("#").append(std::to_string(i));
    dict.set_item(key, with_own_storage(pieces[i].data));
  }
  SaveOptions options;
  options.deflate = deflate;
  save(dict, path, options);
}

void check_piece(const TensorPiece& piece) {
  TENON_CHECK(piece.data.defined(), "[save] tensor '", piece.name, "' is undefined");
  const IntArrayRef sizes = piece.data.sizes();
  bool inside = piece.shape.size() == sizes.size() && piece.offset.size() == sizes.size();
  for (size_t d = 0; inside && d < sizes.size(); ++d)
    inside = piece.offset[d] >= 0 && piece.offset[d] + sizes[d] <= piece.shape[d];
  TENON_CHECK_VALUE(inside, "[save] a piece of tensor '", piece.name, "' of shape ", sizes, " at ",
                    IntArrayRef(piece.offset), " leaves the tensor of shape ",
                    IntArrayRef(piece.shape));
}

void check_files(const ShardIndex& index, const std::string& folder, const std::string& what) {
  for (const auto& [name, file] : index.files) {
    std::error_code error;
    const auto bytes = fs::file_size(path_in(folder, name), error);
    TENON_CHECK(!error && bytes == file.bytes, what, "file '", name, "' ",
                error ? "is not there any more: " + error.message()
                      : "has " + std::to_string(bytes) + " bytes",
                ", expected ", file.bytes, " bytes");
  }
}

/// Lets one process at a time publish. It is for tidiness alone: whoever publishes removes what the
/// index before had, and no index goes unnoticed then. Where a file system has no locks it does
/// without.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) return;
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// The files that the folder's index names; none if there is no index, or none that can be read.
std::set<std::string> published_files(const std::string& folder) {
  std::set<std::string> names;
  if (!is_sharded(folder)) return names;
  try {
    for (const auto& [name, file] : ShardIndex::parse(read_index(folder), "").files)
      names.insert(name);
  } catch (const Error&) {
    // A damaged index; what it had is removed when it has aged.
  }
  return names;
}

/// Removes what a save wrote that cannot be published, unless it is.
void remove_part(const std::string& part, const std::string& folder) {
  const std::set<std::string> published = published_files(folder);
  std::error_code ignored;
  for (const auto& [name, file] : ShardIndex::parse(part, "").files)
    if (!published.contains(name)) fs::remove(path_in(folder, name), ignored);
}

/// Removes the files of the checkpoint that was replaced, and those that nobody published within a
/// day: their writer is gone. Younger ones may belong to a save that is under way.
void remove_old(const std::string& folder, const std::set<std::string>& replaced,
                const ShardIndex& index) {
  constexpr std::chrono::hours kLongestSave(24);
  std::error_code error;
  // The file system's clock, which need not be this machine's.
  const auto now = fs::last_write_time(path_in(folder, kIndexName), error);
  if (error) return;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool shard = name.starts_with(kPrefix) && name.find(kSuffix) != name.npos;
    if (!shard || index.files.contains(name)) continue;
    const auto written = fs::last_write_time(it->path(), ignored);
    const bool aged = !ignored && now - written > kLongestSave;
    if (replaced.contains(name) || aged) fs::remove(it->path(), ignored);
  }
}

}  // namespace

std::string write_shards(const std::vector<TensorPiece>& pieces, const std::string& folder,
                         const std::string& writer, const ShardedOptions& options) {
  detail::make_folder(folder, /*durable=*/true);
  std::vector<TensorPiece> cut_pieces;
  for (const TensorPiece& piece : pieces) {
    check_piece(piece);
    cut(piece, options.piece_bytes, cut_pieces);
  }
  std::vector<std::vector<TensorPiece>> files;
  uint64_t bytes = 0;
  for (TensorPiece& piece : cut_pieces) {
    if (files.empty() || bytes > options.file_bytes) {
      files.emplace_back();
      bytes = 0;
    }
    bytes += piece.data.nbytes();
    files.back().push_back(std::move(piece));
  }

  const std::string stem = std::string(kPrefix) + unique_name() + "-" + writer + "-";
  const std::string what = "[save] '" + folder + "': ";
  ShardIndex index;
  std::vector<std::string> names;
  for (size_t i = 0; i < files.size(); ++i) {
    char number[24];
    std::snprintf(number, sizeof(number), "%05zu", i);
    names.push_back(stem + number + std::string(kSuffix));
    for (size_t k = 0; k < files[i].size(); ++k) {
      const TensorPiece& piece = files[i][k];
      const IntArrayRef sizes = piece.data.sizes();
      index.tensor(piece.name, piece.data.dtype(), piece.shape, what)
          .pieces.push_back(
              {names[i], "data/" + std::to_string(k), piece.offset, {sizes.begin(), sizes.end()}});
    }
  }
  std::vector<ShardIndex::File> written(files.size());
  try {
    parallel_tasks(files.size(), [&](size_t i) {
      const std::string path = path_in(folder, names[i]);
      write_file(files[i], path, options.deflate);
      written[i] = {fs::file_size(path), options.sha256 ? sha256_file(path) : ""};
    });
  } catch (...) {
    std::error_code ignored;
    for (const std::string& name : names) fs::remove(path_in(folder, name), ignored);
    throw;
  }
  for (size_t i = 0; i < files.size(); ++i) index.files[names[i]] = written[i];
  return index.print();
}

void commit_shards(const std::vector<std::string>& parts, const std::string& folder,
                   const ShardedOptions& options) {
  const std::string what = "[save] '" + folder + "': ";
  ShardIndex index;
  for (const std::string& part : parts) index.merge(ShardIndex::parse(part, what), what);
  index.check_complete(what);
  index.metadata = options.metadata;
  const std::string text = index.print();
  const FolderLock lock(folder);
  check_files(index, folder, what);
  const std::set<std::string> replaced = published_files(folder);
  FileSink sink(path_in(folder, kIndexName));
  sink.write(text.data(), text.size());
  sink.commit();
  remove_old(folder, replaced, index);
}

std::vector<TensorPiece> share_of(const StateDict& state, int rank, int size) {
  TENON_CHECK_VALUE(size > 0 && rank >= 0 && rank < size,
                    "[save] expected a rank below the number ", "of writers ", size, ", got ",
                    rank);
  std::vector<TensorPiece> share;
  int next = 0;  // whose turn it is to write a tensor alone
  for (const auto& item : state) {
    const Tensor& t = item.value();
    const std::vector<int64_t> shape(t.sizes().begin(), t.sizes().end());
    std::vector<int64_t> offset(shape.size(), 0);
    if (shape.empty() || shape[0] < size) {
      if (next++ % size == rank) share.push_back({item.key(), shape, offset, t.detach()});
      continue;
    }
    const int64_t begin = shape[0] * rank / size, end = shape[0] * (rank + 1) / size;
    offset[0] = begin;
    share.push_back({item.key(), shape, offset, t.detach().narrow(0, begin, end - begin)});
  }
  return share;
}

void save_sharded(const StateDict& tensors, const std::string& folder,
                  const ShardedOptions& options) {
  std::vector<TensorPiece> pieces;
  for (const auto& item : tensors) {
    TENON_CHECK(item->defined(), "[save] tensor '", item.key(), "' is undefined");
    const IntArrayRef sizes = item->sizes();
    pieces.push_back({item.key(),
                      {sizes.begin(), sizes.end()},
                      std::vector<int64_t>(sizes.size(), 0),
                      item.value()});
  }
  const std::string part = write_shards(pieces, folder, "0", options);
  try {
    commit_shards({part}, folder, options);
  } catch (...) {
    remove_part(part, folder);
    throw;
  }
}

}  // namespace tenon::serialization
