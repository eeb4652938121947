// Saving and loading a state dict of 512 MiB, beside plain writes and reads of as many bytes.
// PyTorch's side, which has these only in Python, is files.py.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/serialize.h"

namespace {

using t::serialization::load_state_dict;
using t::serialization::save_state_dict;
using t::serialization::StateDict;
namespace fs = std::filesystem;

/// Ten layers of a transformer and an embedding.
StateDict state_dict() {
  StateDict state;
  const auto add = [&](const std::string& name, std::initializer_list<int64_t> sizes) {
    state.insert(name, bench::random(sizes));
  };
  add("embedding.weight", {8192, 1024});
  for (int i = 0; i < 10; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    add(layer + "qkv.weight", {3072, 1024});
    add(layer + "out.weight", {1024, 1024});
    add(layer + "up.weight", {4096, 1024});
    add(layer + "down.weight", {1024, 4096});
    add(layer + "norm.weight", {1024});
    add(layer + "norm.bias", {1024});
  }
  return state;
}

void check(bool done) {
  if (done) return;
  std::perror("bench_files");
  std::exit(1);
}

void raw_write(const std::string& path, const std::vector<char>& data, bool sync) {
  const std::string temporary = path + ".part";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (size_t at = 0; at < data.size();) {
    const ssize_t n = ::write(file, data.data() + at, data.size() - at);
    check(n > 0);
    at += static_cast<size_t>(n);
  }
  check(!sync || ::fsync(file) == 0);
  check(::close(file) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0);
}

void raw_read(const std::string& path, std::vector<char>& data) {
  const int file = ::open(path.c_str(), O_RDONLY);
  for (size_t at = 0; at < data.size();) {
    const ssize_t n = ::read(file, data.data() + at, data.size() - at);
    check(n > 0);
    at += static_cast<size_t>(n);
  }
  ::close(file);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  if (!run.wants("files/raw_write") && !run.wants("files/raw_write_sync") &&
      !run.wants("files/raw_read") && !run.wants("files/save") && !run.wants("files/load") &&
      !run.wants("files/mmap_load"))
    return 0;
  std::string folder = (fs::temp_directory_path() / "tenon_bench_XXXXXX").string();
  check(mkdtemp(folder.data()));
  const std::string path = folder + "/state.pt", raw = folder + "/raw";

  double bytes = 0;
  {
    const StateDict state = run.listing() ? StateDict() : state_dict();
    for (const auto& item : state) bytes += static_cast<double>(item->nbytes());
    const bench::Work work{.bytes = bytes};
    run("files/save", work, [&] { save_state_dict(state, path); });
    if (!run.listing()) save_state_dict(state, path);
  }
  const bench::Work work{.bytes = bytes};
  run("files/load", work, [&] { bench::keep(load_state_dict(path)); });
  t::serialization::LoadOptions mapped;
  mapped.mmap = t::serialization::LoadOptions::Mmap::Private;
  run("files/mmap_load", work, [&] { bench::keep(t::serialization::load(path, mapped)); });
  std::vector<char> data(static_cast<size_t>(bytes), 1);
  run("files/raw_write", work, [&] { raw_write(raw, data, false); });
  run("files/raw_write_sync", work, [&] { raw_write(raw, data, true); });
  run("files/raw_read", work, [&] { raw_read(raw, data); });
  fs::remove_all(folder);
}
