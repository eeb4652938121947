#include "runtime/serialization/sniff.h"

#include <algorithm>
#include <cctype>

#include "aten/core/error.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {

FileFormat sniff(const ByteSource& source) {
  const auto fail = [&](const std::string& what) {
    tenon::detail::raise<Error>("[load] ", source.name(), ": ", what);
  };
  if (source.size() == 0) fail("Ran out of input: there is nothing in it");
  std::string head(std::min<uint64_t>(source.size(), 512), '\0');
  source.read(0, head.data(), head.size());

  if (head.starts_with("PK\x03\x04")) return FileFormat::Zip;
  if (head.starts_with("PK\x05\x06")) fail("a zip archive without any record");
  if (head.starts_with("PYTORCH1"))
    fail("File is an unsupported archive format from the preview release.");
  if (head.size() > 262 && head.compare(257, 5, "ustar") == 0) {
    fail("a tar file. PyTorch before 0.1.10 saved so; such files are not read: load and save it "
         "with a PyTorch between 0.1.10 and 2.5 first");
  }
  const char first = head[0];
  if (first != '\x80') {
    const std::string key = std::isprint(static_cast<unsigned char>(first))
                                ? std::string("'") + first + "'"
                                : tenon::detail::concat("byte ", int{static_cast<uint8_t>(first)});
    std::string reason = "It is no checkpoint";
    if (head.starts_with("version https://git-lfs")) {
      reason = "It looks like a Git-LFS pointer: fetch the file itself with 'git lfs pull'";
    } else if (head.find_first_not_of(" \t\r\n") != head.npos &&
               head[head.find_first_not_of(" \t\r\n")] == '<') {
      reason = "It looks like HTML: the download gave a web page instead of the file";
    } else if (head.size() > 8 && head[8] == '{' &&
               zip::get<uint64_t>(head.data()) < source.size()) {
      reason = "It looks like a safetensors file";
    }
    fail("invalid load key, " + key + ". " + reason + ".");
  }
  return FileFormat::Legacy;
}

}  // namespace tenon::serialization
