#include "runtime/serialization/load.h"

#include "runtime/serialization/legacy_checkpoint.h"
#include "runtime/serialization/sniff.h"
#include "runtime/serialization/zip/zip_checkpoint.h"

namespace tenon::serialization {
namespace {

void check(const LoadOptions& options) {
  const std::string& encoding = options.encoding;
  TENON_CHECK_VALUE(encoding == "utf-8" || encoding == "ascii" || encoding == "latin1" ||
                        encoding == "bytes",
                    "[load] encoding must be \"utf-8\", \"ascii\", \"latin1\" or \"bytes\", got \"",
                    encoding, "\"");
}

Globals::Mode mode_of(const LoadOptions& options) {
  return options.weights_only ? Globals::Mode::WeightsOnly : Globals::Mode::PlainTypes;
}

/// `end` is where the checkpoint ended.
Value load_from(const ByteSource& source, const LoadOptions& options, uint64_t& end) {
  check(options);
  TENON_CHECK_VALUE(options.mmap == LoadOptions::Mmap::None,
                    "[load] mmap needs the path of a file, got ", source.name());
  return within_memory(source.name(), [&] {
    if (sniff(source) == FileFormat::Zip) {
      end = source.size();
      return ZipCheckpoint(source, nullptr, options, mode_of(options)).load();
    }
    LegacyCheckpoint checkpoint(source, options, mode_of(options));
    Value value = checkpoint.load();
    end = checkpoint.end();
    return value;
  });
}

Value load_mapped(const std::string& path, const LoadOptions& options) {
  check(options);
  const auto mode = options.mmap == LoadOptions::Mmap::Shared ? MappedSource::Mode::Shared
                                                              : MappedSource::Mode::Private;
  const auto mapping = std::make_shared<MappedSource>(path, mode);
  TENON_CHECK(sniff(*mapping) == FileFormat::Zip, "[load] '", path,
              "': mmap can only be used with files of the zip format; save this one anew to use "
              "it");
  return within_memory(mapping->name(), [&] {
    return ZipCheckpoint(*mapping, mapping, options, mode_of(options)).load();
  });
}

}  // namespace

Value load(const std::string& path, const LoadOptions& options) {
  if (options.mmap != LoadOptions::Mmap::None) return load_mapped(path, options);
  uint64_t end = 0;
  return load_from(FileSource(path), options, end);
}

Value load(std::istream& in, const LoadOptions& options) {
  const std::streamoff start = in.tellg();
  in.clear(in.rdstate() & ~std::ios::failbit);  // tellg() fails for what cannot seek
  uint64_t end = 0;
  Value value;
  {
    const StreamSource source(in);
    value = load_from(source, options, end);
  }
  if (start >= 0) {
    in.clear();
    in.seekg(start + static_cast<std::streamoff>(end));
  }
  return value;
}

Value load(const void* data, size_t bytes, const LoadOptions& options, size_t* end) {
  uint64_t ended = 0;
  Value value = load_from(MemorySource({static_cast<const char*>(data), bytes}), options, ended);
  if (end) *end = ended;
  return value;
}

}  // namespace tenon::serialization
