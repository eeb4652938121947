#pragma once

#include <functional>
#include <future>
#include <ostream>
#include <string>

#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

struct SaveOptions {
  enum class Format {
    Zip,    ///< what PyTorch writes since 1.6
    Legacy  ///< consecutive pickles, what PyTorch wrote before
  };
  /// The PyTorch that must be able to read the file. What it does not know is an error.
  enum class Compat { Current, V1_13 };

  Format format = Format::Zip;
  Compat compat = Compat::Current;
  /// Of a storage only the part that the tensors in the value use is written. Tensors that share
  /// memory still do.
  bool compact = false;
  /// zlib's level of 1 to 9 to deflate the storages' records, 0 to store them; for Zip only. Such
  /// a file is read by PyTorch as well, but cannot be mapped.
  int deflate = 0;
  /// Whether to wait until the file is on the disk. Without it a crash of the machine, though not
  /// of the program, may lose the file.
  bool durable = true;
  /// Folder of the records within a zip file. Empty: the path's name without its last extension, or
  /// "archive" for a stream and for a path that is not ASCII, as in PyTorch.
  std::string archive_name{};
  /// Called with the bytes of tensor data written so far and in all.
  std::function<void(uint64_t done, uint64_t total)> progress{};
};

/// Writes a value as torch.save does: the same bytes for the same objects and archive name but for
/// the digest in the record .data/serialization_id. The file appears under its name once it is
/// complete and durable; whatever goes wrong, an older file of that name stays. Where tensors use
/// less than half of a storage and a MiB and more is saved in vain, one warning on stderr says so;
/// `compact` leaves it out.
/// Errors "[save] ...": where in the value, and why; ValueError for options that are not possible.
TENON_API void save(const Value& value, const std::string& path, const SaveOptions& options = {});
/// save() in the background: returns as soon as the value has been copied, after which it may
/// change. get() of the result throws what save() would; its destructor waits. What is wrong with
/// the value, or a file that cannot be made, is thrown at once. options.progress is called by the
/// background thread. Saves of this process to one path, in the background or not, are written in
/// the order they were called in. OSError if there is no thread to be had.
[[nodiscard]] TENON_API std::future<void> save_async(const Value& value, const std::string& path,
                                                     const SaveOptions& options = {});
/// Appends to a stream.
TENON_API void save(const Value& value, std::ostream& out, const SaveOptions& options = {});

}  // namespace tenon::serialization
