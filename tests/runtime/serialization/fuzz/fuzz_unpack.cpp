// libFuzzer target: the archives that the hub unpacks.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "aten/core/error.h"
#include "runtime/hub/unpack.h"

namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    std::string name = "/dev/shm/tenon_fuzz_XXXXXX";
    if (!::mkdtemp(name.data())) std::abort();
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMost = 1 << 20;
  static const Folder folder;
  const std::string archive = folder.path + "/x.zip", out = folder.path + "/out";
  std::ofstream(archive, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  bool unpacked = false;
  try {
    tenon::hub::unpack(archive, out, {.bytes = kMost});
    unpacked = true;
  } catch (const tenon::Error&) {
  }
  // Nothing lies beside the folder, and in it are files and folders alone; of a failure nothing is.
  const auto count = std::distance(fs::directory_iterator(folder.path), fs::directory_iterator());
  if (count != (unpacked ? 2 : 1)) __builtin_trap();
  if (unpacked) {
    uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      if (entry.is_symlink() || !(entry.is_regular_file() || entry.is_directory()))
        __builtin_trap();
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
    if (bytes > kMost) __builtin_trap();
    fs::remove_all(out);
  }
  return 0;
}
