#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/hub/transport.h"
#include "runtime/nn/module.h"
#include "runtime/serialization/load.h"

namespace tenon::hub {

struct DownloadOptions {
  /// What the file's SHA-256 must begin with: 8 to 64 hexadecimal digits. Empty: not checked. A few
  /// digits tell damage; whoever wants to can make another file that has them too. From 32 on it is
  /// this file and no other.
  std::string hash_prefix{};
  /// Takes files from http URLs without 32 digits of their hash, though anybody on the way there
  /// can exchange them.
  bool allow_insecure = false;
  /// A bar on the standard error stream, where that is a terminal.
  bool progress = true;
  /// Called with the bytes so far and, if the server says so, of the whole. What it throws ends the
  /// download.
  std::function<void(uint64_t done, std::optional<uint64_t> total)> on_progress{};
  /// Called ten times a second while a lock, an answer or the next attempt is waited for. What it
  /// throws ends the download.
  std::function<void()> check_interrupt{};
  /// Attempts in a row that may fail before the download does, after the first. One that brings
  /// more than `min_rate` allows to wait for begins the count anew.
  int retries = 4;
  /// The wait before the first retry; it doubles with each.
  std::chrono::milliseconds backoff{500};
  std::chrono::milliseconds connect_timeout{15'000};
  /// How long a connection may be silent, or slower than `min_rate` bytes per second.
  std::chrono::milliseconds stall_timeout{60'000};
  int64_t min_rate = 1024;
  /// Held to while the bytes come in, whatever size the server announces or none.
  uint64_t max_bytes = uint64_t{64} << 30;
  /// Sent with each request.
  std::vector<Header> headers{};
  /// Null: default_transport().
  std::shared_ptr<Transport> transport{};
};

/// Downloads to `path`, which is replaced once all bytes are there, have the size that the server
/// announced and the right hash; until then they are in "<path>.partial". A broken transfer is
/// tried again from where it broke, and so is one that an earlier process did not finish, if the
/// server says that the file is still the same. A second process that wants the same path waits.
///
/// HttpError, TransportError; Error `invalid hash value (expected "a", got "b")`, for a full disk,
/// a missing folder, a file of more than max_bytes, and for a web page where the name promises
/// another file and no hash says that it is the one; ValueError for a bad URL or hash prefix, and
/// for http without a hash (allow_insecure).
TENON_API void download_url_to_file(const std::string& url, const std::string& path,
                                    const DownloadOptions& options = {});

/// Downloads unless `path` is there already with the right hash, if one is given.
TENON_API void download_once(const std::string& url, const std::string& path,
                             const DownloadOptions& options = {});

struct CachedFileOptions : DownloadOptions {
  /// Where files are kept. Empty: "checkpoints" in get_dir().
  std::string model_dir{};
  /// The file's name there. Empty: the last part of the URL.
  std::string file_name{};
  /// Checks the SHA-256 against the digits in the file's name, as in "lenet-0123abcd.pt":
  /// ValueError if there are fewer than 8 of them. A file of another hash in the cache is fetched
  /// anew.
  bool check_hash = false;
};

/// The path of a file in the cache, fetched if it is not there.
TENON_API std::string cached_file(const std::string& url, const CachedFileOptions& options = {});

/// The tensors of a file, fetched once and then read from the cache; `load` says where they go
/// (map_location), whether they are mapped, and so on. Reading executes nothing. For values that
/// are no dict of tensors give the path of cached_file to serialization::load.
TENON_API nn::StateDict load_state_dict_from_url(const std::string& url,
                                                 const CachedFileOptions& options = {},
                                                 const serialization::LoadOptions& load = {});

}  // namespace tenon::hub
