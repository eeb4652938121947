#include "runtime/serialization/save.h"

#include <bit>
#include <filesystem>

#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/legacy_format.h"
#include "runtime/serialization/pickle/value_pickler.h"
#include "runtime/serialization/zip_format.h"
#include "runtime/serialization/zip_writer.h"

namespace tenon::serialization {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the records' bytes are written as they lie in memory");

/// Records besides the storages' own.
constexpr size_t kOtherRecords = 7;

/// A checkpoint that is ready to be written: all that can be wrong with the value has shown.
class Checkpoint {
 public:
  Checkpoint(const Value& value, const SaveOptions& options) : options_(options) {
    if (options.compact) storages_.trim_to(value);
    pickle_ = ValuePickler(storages_, options).run(value);
    for (const auto& record : storages_.records()) total_ += record->bytes();
  }

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
    write(sink, std::move(magic).finish());
    for (const Value& head :
         {Value(legacy::kProtocol),
          Value::dict({{"protocol_version", legacy::kProtocol},
                       {"little_endian", true},
                       {"type_sizes", Value::dict({{"short", 2}, {"int", 4}, {"long", 4}})}})})
      write(sink, pickle_of(head));
    write(sink, pickle_);
    std::map<std::string, const StorageTable::Record*> sorted;
    for (const auto& record : storages_.records()) sorted.emplace(record->key, record.get());
    Value keys = Value::list();
    for (const auto& entry : sorted) keys.append(entry.first);
    write(sink, pickle_of(keys));
    for (const auto& entry : sorted) {
      const StorageTable::Record& record = *entry.second;
      std::string count;
      zip::put<uint64_t>(count, record.bytes() / element_size(record.dtype));
      write(sink, count);
      Tensor copy;
      sink.write(host_bytes(record, copy), record.bytes());
      report(record.bytes());
    }
  }

 private:
  std::string pickle_of(const Value& value) const {
    StorageTable none;
    return ValuePickler(none, options_).run(value);
  }
  static void write(ByteSink& sink, const std::string& bytes) {
    sink.write(bytes.data(), bytes.size());
  }
  void report(uint64_t bytes) {
    done_ += bytes;
    if (options_.progress) options_.progress(done_, total_);
  }

  const SaveOptions& options_;
  StorageTable storages_;
  std::string pickle_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

void write(const Value& value, ByteSink& sink, const std::string& archive,
           const SaveOptions& options) {
  Checkpoint checkpoint(value, options);
  if (options.format == SaveOptions::Format::Zip) {
    checkpoint.write_zip(sink, archive);
  } else {
    checkpoint.write_legacy(sink);
  }
  sink.commit();
}

}  // namespace

void save(const Value& value, const std::string& path, const SaveOptions& options) {
  std::string archive = options.archive_name;
  if (archive.empty()) archive = std::filesystem::path(path).stem().string();
  TENON_CHECK(!archive.empty(), "[save] invalid file name: ", path);
  FileSink sink(path, {.durable = options.durable});
  write(value, sink, archive, options);
}

void save(const Value& value, std::ostream& out, const SaveOptions& options) {
  StreamSink sink(out);
  write(value, sink, options.archive_name.empty() ? "archive" : options.archive_name, options);
}

}  // namespace tenon::serialization
