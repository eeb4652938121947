#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "aten/core/parallel.h"
#include "runtime/optim/sgd.h"
#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/io/file_calls.h"
#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/io/temporary_file.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/serialize.h"
#include "runtime/serialization/sharded/sharded.h"
#include "runtime/serialization/training/training.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/full.h"
#include "tests/runtime/serialization/files.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
namespace fs = std::filesystem;

namespace {

/// Tensors whose every element is `version`.
StateDict state_of(int64_t version) {
  StateDict state;
  state.insert("small", full({3}, version, TensorOptions(kLong)));
  state.insert("large", full({40000}, version, TensorOptions(kLong)));
  return state;
}

/// The version in a file; fails the test unless all of the file is of one version.
int64_t version_of(const std::string& path) {
  const StateDict state = load_state_dict(path);
  std::set<int64_t> versions;
  for (const auto& item : state) {
    const auto* data = item->data_ptr<int64_t>();
    versions.insert(data, data + item->numel());
  }
  REQUIRE(state.keys() == std::vector<std::string>{"small", "large"});
  REQUIRE(versions.size() == 1);
  return *versions.begin();
}

/// Forks a process that runs `f` and exits with what it gives.
pid_t start_child(const std::function<int()>& f) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    set_num_threads(1);  // a forked process has none of its parent's threads
    int status = 99;
    try {
      status = f();
    } catch (...) {
    }
    ::_exit(status);
  }
  return child;
}

/// Runs `f` in a process of its own and gives its exit status.
int in_child(const std::function<int()>& f) {
  const pid_t child = start_child(f);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// Which system call fails, counted over all of them, and how.
struct Fault {
  int at = -1;
  int code = 0;
  size_t most_bytes = SIZE_MAX;  ///< that one write writes
  int calls = 0;

  bool hits() {
    if (calls++ != at) return false;
    errno = code;
    return true;
  }
};
Fault fault;

/// Puts failing system calls in place as long as it lives.
class Faults {
 public:
  explicit Faults(Fault f) {
    fault = f;
    auto& calls = serialization::detail::file_calls();
    calls.write = [](int file, const void* data, size_t bytes) -> ssize_t {
      return fault.hits() ? -1 : ::write(file, data, std::min(bytes, fault.most_bytes));
    };
    calls.fallocate = [](int file, int mode, off_t offset, off_t bytes) {
      return fault.hits() ? -1 : ::fallocate(file, mode, offset, bytes);
    };
    calls.fsync = [](int file) { return fault.hits() ? -1 : ::fsync(file); };
    calls.rename = [](const char* from, const char* to) {
      return fault.hits() ? -1 : std::rename(from, to);
    };
  }
  ~Faults() { serialization::detail::file_calls() = {}; }
};

}  // namespace

TEST_CASE("a killed writer leaves the old or the new file, whole") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  save_state_dict(state_of(0), path);
  // The moments are spread over about two saves of this machine.
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) save_state_dict(state_of(0), path);
  const auto five = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  const auto spread = static_cast<uint32_t>(five.count() * 2 / 5 + 1000);
  std::mt19937 random(20);
  int64_t version = 0;
  int interrupted = 0, renewed = 0;
  for (int i = 0; i < 200; ++i) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = start_child([&]() -> int {
      if (::write(ready[1], "1", 1) != 1) return 1;
      for (int64_t v = version + 1;; ++v) save_state_dict(state_of(v), path);
    });
    char one;
    REQUIRE(::read(ready[0], &one, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
    ::usleep(random() % spread);
    REQUIRE(::kill(child, SIGKILL) == 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    interrupted += folder.files() > 1;
    const int64_t found = version_of(path);
    REQUIRE(found >= version);
    renewed += found > version;
    version = found;
  }
  // The moments were such that both happened.
  CHECK(interrupted > 0);
  CHECK(renewed > 0);
  save_state_dict(state_of(-1), path);
  CHECK(folder.files() == 1);
}

TEST_CASE("temporary files of the living stay") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  write_bytes(folder / "x.pt.tmp.1.0", "stale");
  write_bytes(folder / "x.pt.tmp.mine", "not ours");
  write_bytes(folder / "y.pt.tmp.1.0", "another file's");
  FileSink first(path);
  CHECK(folder.files() == 3);
  FileSink second(path);
  second.write("2", 1);
  first.write("1", 1);
  second.commit();
  CHECK(bytes_of(path) == "2");
  first.commit();
  CHECK(bytes_of(path) == "1");
  CHECK_FALSE(fs::exists(folder / "x.pt.tmp.1.0"));
  CHECK(folder.files() == 3);
}

TEST_CASE("whichever system call fails, the old or the new file is there and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  save_state_dict(state_of(1), path);
  int total;
  {
    const Faults none({});
    save_state_dict(state_of(1), path);
    total = fault.calls;
  }
  REQUIRE(total > 5);
  int failed = 0;
  for (int at = 0; at < total; ++at) {
    for (const int code : {ENOSPC, EIO, EINTR}) {
      save_state_dict(state_of(1), path);
      INFO("call " << at << ": " << std::strerror(code));
      int got;
      {
        const Faults faults({.at = at, .code = code});
        got = code_of([&] { save_state_dict(state_of(2), path); });
      }
      CHECK((got == 0 || got == code));
      failed += got != 0;
      const int64_t version = version_of(path);
      CHECK((version == 2 || (version == 1 && got != 0)));
      CHECK(folder.files() == 1);
    }
  }
  CHECK(failed >= 2 * (total - 1));
}

TEST_CASE("short writes are continued") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  const Faults faults({.most_bytes = 1001});
  save_state_dict(state_of(3), path);
  CHECK(fault.calls > 300);
  CHECK(version_of(path) == 3);
}

TEST_CASE("a missing parent and a folder in the way") {
  const TemporaryFolder folder;
  CHECK(code_of([&] { save_state_dict(state_of(1), folder / "no/x.pt"); }) == ENOENT);
  fs::create_directory(folder / "x.pt");
  CHECK(code_of([&] { save_state_dict(state_of(1), folder / "x.pt"); }) == EISDIR);
  CHECK(folder.files() == 1);
}

TEST_CASE("a folder that may not be written to") {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(0555));
  const int code = in_child([&] {
    // To the superuser nothing is forbidden.
    if (::geteuid() == 0 && ::seteuid(65534) != 0) return 77;
    return code_of([&] { save_state_dict(state_of(1), folder / "x.pt"); });
  });
  if (code == 77) {
    WARN("cannot become another user; not tested");
    return;
  }
  CHECK(code == EACCES);
  CHECK(folder.files() == 0);
}

TEST_CASE("a full disk") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0) return 77;
    if (::mount("tenon", folder.path().c_str(), "tmpfs", 0, "size=600k") != 0) return 77;
    save_state_dict(state_of(1), path);
    // It says so before writing where it knows how long it will be, and else while it writes.
    if (code_of([&] { save_state_dict(state_of(2), path); }) != ENOSPC) return 1;
    const std::string large(1 << 20, 'x');
    if (code_of([&] {
          FileSink sink(path);
          sink.write(large.data(), large.size());
          sink.commit();
        }) != ENOSPC)
      return 2;
    if (folder.files() != 1) return 3;
    return version_of(path) == 1 ? 0 : 4;
  });
  if (status == 77) {
    WARN("cannot mount a small disk; not tested");
    return;
  }
  CHECK(status == 0);
}

TEST_CASE("a disk for two large files holds every save") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.bin";
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0) return 77;
    if (::mount("tenon", folder.path().c_str(), "tmpfs", 0, "size=42m") != 0) return 77;
    const std::string large(20 << 20, 'x');
    // The space of a large file that was replaced becomes free behind the writer's back; the next
    // writer must wait for it, whether it says beforehand what it needs or not.
    for (int i = 0; i < 12; ++i) {
      FileSink sink(path);
      if (i % 2 == 0) sink.reserve(large.size());
      sink.write(large.data(), large.size());
      sink.commit();
    }
    return fs::file_size(path) == large.size() && folder.files() == 1 ? 0 : 1;
  });
  if (status == 77) {
    WARN("cannot mount a small disk; not tested");
    return;
  }
  CHECK(status == 0);
}

TEST_CASE("a limit of file sizes") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, 100000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    if (code_of([&] { save_state_dict(state_of(1), path); }) != EFBIG) return 2;
    return folder.files() == 0 ? 0 : 3;
  });
  CHECK(status == 0);
}

namespace {

std::vector<std::string> synced_folders;

/// Notes the folders that are synced as long as it lives.
struct FolderSyncs {
  FolderSyncs() {
    synced_folders.clear();
    serialization::detail::file_calls().fsync = [](int file) {
      struct stat info;
      if (::fstat(file, &info) == 0 && S_ISDIR(info.st_mode))
        synced_folders.push_back(fs::read_symlink("/proc/self/fd/" + std::to_string(file)));
      return 0;
    };
  }
  ~FolderSyncs() { serialization::detail::file_calls() = {}; }
};

mode_t mode_of(const std::string& path) {
  struct stat info;
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

}  // namespace

TEST_CASE("a new folder is made durable in the one that it is in") {
  const TemporaryFolder folder;
  const std::string parent = fs::canonical(folder.path());
  const FolderSyncs syncs;
  for (const char* name : {"run", "run2/"}) {
    const TrainingCheckpoints checkpoints(folder / name);
    CHECK(synced_folders == std::vector<std::string>{parent});
    synced_folders.clear();
    const TrainingCheckpoints again(folder / name);
    CHECK(synced_folders.empty());
  }
  write_shards({}, folder / "shards", "0");
  CHECK(synced_folders == std::vector<std::string>{parent});
}

TEST_CASE("of saves to one path the last that was called stays") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt", link = folder / "link.pt";
  fs::create_symlink("x.pt", link);
  const auto value = [](int version) { return serialization::Value::dict({{"version", version}}); };
  // The first takes long: each would replace the later one if it did not wait its turn.
  SaveOptions slow;
  slow.progress = [](uint64_t, uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  };
  const serialization::Value large =
      serialization::Value::dict({{"version", 1}, {"data", full({3}, 1, TensorOptions(kLong))}});
  for (const bool asynchronous : {false, true}) {
    auto first = save_async(large, path, slow);
    if (asynchronous) {
      auto second = save_async(value(2), link), third = save_async(value(3), path);
      third.get();
    } else {
      save(value(3), link);
    }
    first.get();
    CHECK(load(path)["version"].to_int() == 3);
  }
  // One that fails is waited for no longer.
  auto first = save_async(large, path, slow);
  CHECK_THROWS_AS(save_async(value(1), path, {.deflate = 99}), ValueError);
  save(value(4), path);
  first.get();
  CHECK(load(path)["version"].to_int() == 4);
}

TEST_CASE("what replaces a file is at no time open to more than that file is") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  auto file = serialization::detail::TemporaryFile::create(folder / "x", 0600);
  CHECK(mode_of(file.path) == 0600);
  ::close(file.descriptor);
  fs::remove(file.path);
  const std::string path = folder / "x.pt";
  save_state_dict(state_of(1), path);
  CHECK(mode_of(path) == 0666);
  for (const mode_t mode : {0600u, 0640u, 0604u, 0444u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    save_state_dict(state_of(2), path);
    CHECK(mode_of(path) == mode);
  }
  ::umask(before);
}

TEST_CASE("a file that is replaced keeps its owner") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.pt";
  save_state_dict(state_of(1), path);
  if (::chown(path.c_str(), 12345, 23456) != 0) {
    WARN("may not give files away; not tested");
    return;
  }
  save_state_dict(state_of(2), path);
  struct stat info;
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK(info.st_uid == 12345);
  CHECK(info.st_gid == 23456);
}

TEST_CASE("names as long as the system takes them") {
  const TemporaryFolder folder;
  const std::string name = std::string(252, 'x') + ".pt", path = folder / name;
  for (int64_t version : {1, 2}) {
    // As a writer that died left it, and one of a name that begins alike.
    write_bytes(folder / (name.substr(0, 220) + ".tmp.1.0"), "stale");
    save_state_dict(state_of(version), path);
    CHECK(version_of(path) == version);
    CHECK(folder.files() == 1);
  }
  CHECK(code_of([&] { save_state_dict(state_of(1), folder / (name + "x")); }) == ENAMETOOLONG);
  CHECK(folder.files() == 1);
}

TEST_CASE("without another thread a save writes itself or says so") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.bin";
  fs::permissions(folder.path(), fs::perms::all);
  const int status = in_child([&] {
    // The superuser's threads are not limited.
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 77;
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) return 77;
    try {
      std::thread([] {}).join();
      return 77;
    } catch (const std::system_error&) {
    }
    set_num_threads(2);  // so that a sum would have one of its own
    const std::string large(40 << 20, 'x');
    FileSink sink(path);
    sink.write_crc(large.data(), large.size());
    sink.commit();
    if (fs::file_size(path) != large.size()) return 1;
    return code_of(
        [&] { auto done = save_async(serialization::Value::list({1}), folder / "y.pt"); });
  });
  if (status == 77) {
    WARN("cannot limit threads; not tested");
    return;
  }
  CHECK(status == EAGAIN);
  CHECK(folder.files() == 1);
}

TEST_CASE("a training that ends says that its last save failed") {
  const TemporaryFolder folder;
  nn::Linear linear(1, 1);
  optim::SGD optimizer(linear->parameters(), optim::SGDOptions(0.1));
  const std::string log = folder / "log";
  {
    auto checkpoints = std::make_unique<TrainingCheckpoints>(folder / "run",
                                                             TrainingOptions{.asynchronous = true});
    serialization::detail::file_calls().rename = [](const char*, const char*) {
      errno = EIO;
      return -1;
    };
    checkpoints->save(*linear, optimizer, {.step = 1});
    const int saved = ::dup(STDERR_FILENO);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(::dup2(file, STDERR_FILENO) == STDERR_FILENO);
    ::close(file);
    checkpoints.reset();
    ::dup2(saved, STDERR_FILENO);
    ::close(saved);
  }
  serialization::detail::file_calls() = {};
  CHECK_THAT(bytes_of(log),
             Catch::Contains("the last save failed") && Catch::Contains("step-000000000001.pt"));
}
