#include "runtime/serialization/save.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/io/path_queue.h"
#include "runtime/serialization/legacy_format.h"
#include "runtime/serialization/pickle/value_pickler.h"
#include "runtime/serialization/zip/zip_format.h"
#include "runtime/serialization/zip/zip_writer.h"

namespace tenon::serialization {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the records' bytes are written as they lie in memory");

/// Records besides the storages' own.
constexpr size_t kOtherRecords = 7;

/// A checkpoint that is ready to be written: all that can be wrong with the value has shown.
class Checkpoint {
 public:
  Checkpoint(const Value& value, SaveOptions options) : options_(std::move(options)) {
    TENON_CHECK_VALUE(options_.deflate >= 0 && options_.deflate <= 9,
                      "[save] a deflate level is 1 to 9, or 0 to store, got ", options_.deflate);
    TENON_CHECK_VALUE(options_.deflate == 0 || options_.format == SaveOptions::Format::Zip,
                      "[save] the legacy format cannot be deflated, got level ", options_.deflate);
    TENON_CHECK_VALUE(options_.archive_name.find('/') == std::string::npos,
                      "[save] archive_name must be one folder's name, got '", options_.archive_name,
                      "'");
    if (options_.compact) storages_.trim_to(value);
    pickle_ = ValuePickler(storages_, options_).run(value);
    for (const auto& record : storages_.records()) total_ += record->bytes();
    if (const std::string waste = storages_.waste(); !waste.empty())
      std::fprintf(stderr, "tenon: warning: [save] %s\n", waste.c_str());
  }

  /// Copies the tensors, so that they may change while this is written.
  void snapshot() { storages_.snapshot(); }

  void write(ByteSink& sink, const std::string& archive) {
    if (options_.format == SaveOptions::Format::Zip) {
      write_zip(sink, archive);
    } else {
      write_legacy(sink);
    }
    sink.commit();
  }

 private:
  void write_zip(ByteSink& sink, const std::string& archive) {
    ZipWriter zip(sink, archive);
    zip.reserve(storages_.records().size() + kOtherRecords, total_ + pickle_.size());
    zip.add("data.pkl", pickle_);
    // It says that the records lie where arithmetic on their sizes puts them.
    if (options_.deflate == 0) zip.add(".format_version", "1");
    zip.add(".storage_alignment", "64");
    zip.add("byteorder", "little");
    for (const auto& record : storages_.records()) {
      Tensor copy;
      zip.add("data/" + record->key, host_bytes(*record, copy), record->bytes(), options_.deflate);
      report(record->bytes());
    }
    zip.add("version", "3\n");
    zip.add(".data/serialization_id", zip.digest());
    zip.finish();
  }

  void write_legacy(ByteSink& sink) {
    PickleWriter magic;
    magic.long_integer(legacy::kMagic);
    put(sink, std::move(magic).finish());
    for (const Value& head :
         {Value(legacy::kProtocol),
          Value::dict({{"protocol_version", legacy::kProtocol},
                       {"little_endian", true},
                       {"type_sizes", Value::dict({{"short", 2}, {"int", 4}, {"long", 4}})}})})
      put(sink, pickle_of(head));
    put(sink, pickle_);
    std::map<std::string, const StorageTable::Record*> sorted;
    for (const auto& record : storages_.records()) sorted.emplace(record->key, record.get());
    Value keys = Value::list();
    for (const auto& entry : sorted) keys.append(entry.first);
    put(sink, pickle_of(keys));
    for (const auto& entry : sorted) {
      const StorageTable::Record& record = *entry.second;
      std::string count;
      zip::put<uint64_t>(count, record.bytes() / element_size(record.dtype));
      put(sink, count);
      Tensor copy;
      sink.write(host_bytes(record, copy), record.bytes());
      report(record.bytes());
    }
  }

  std::string pickle_of(const Value& value) const {
    StorageTable none;
    return ValuePickler(none, options_).run(value);
  }
  static void put(ByteSink& sink, const std::string& bytes) {
    sink.write(bytes.data(), bytes.size());
  }
  void report(uint64_t bytes) {
    done_ += bytes;
    if (options_.progress) options_.progress(done_, total_);
  }

  SaveOptions options_;
  StorageTable storages_;
  std::string pickle_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

/// A checkpoint and where it goes.
struct Job {
  detail::PathQueue place;  // first, so that it is left last
  Checkpoint checkpoint;
  FileSink sink;
  std::string archive;

  Job(const Value& value, const std::string& path, const SaveOptions& options)
      : place(path), checkpoint(value, options), sink(path, {.durable = options.durable}),
        archive(archive_name(path, options)) {}
  void run() {
    place.wait();
    checkpoint.write(sink, archive);
  }

 private:
  static std::string archive_name(const std::string& path, const SaveOptions& options) {
    if (!options.archive_name.empty()) return options.archive_name;
    // As PyTorch, which lets Python write where a path is not ASCII.
    if (std::any_of(path.begin(), path.end(), [](char c) { return static_cast<uint8_t>(c) > 127; }))
      return "archive";
    std::string name = std::filesystem::path(path).filename().string();
    name = name.substr(0, name.rfind('.'));
    TENON_CHECK(!name.empty(), "[save] invalid file name: ", path);
    return name;
  }
};

}  // namespace

void save(const Value& value, const std::string& path, const SaveOptions& options) {
  Job(value, path, options).run();
}

std::future<void> save_async(const Value& value, const std::string& path,
                             const SaveOptions& options) {
  auto job = std::make_shared<Job>(value, path, options);
  job->checkpoint.snapshot();
  try {
    return std::async(std::launch::async, [job = std::move(job)]() mutable {
      // The place in the queue is left when the future is ready, not when it is destroyed.
      const std::shared_ptr<Job> mine = std::move(job);
      mine->run();
    });
  } catch (const std::system_error& error) {
    throw OSError(error.code().value(),
                  "[save] '" + path + "': no thread to write with: " + error.code().message());
  }
}

void save(const Value& value, std::ostream& out, const SaveOptions& options) {
  StreamSink sink(out);
  Checkpoint(value, options)
      .write(sink, options.archive_name.empty() ? "archive" : options.archive_name);
}

}  // namespace tenon::serialization
