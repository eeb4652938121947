#include "aten/cpu/linalg/lapack.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace tenon::native::lapack {
namespace {

std::atomic<std::string (*)()> other_finder{nullptr};

/// A library that has LAPACK. It stays loaded until the program ends.
struct Library {
  void* handle = nullptr;
  std::string path;
  std::string prefix;  ///< of every name, as `scipy_` of the package scipy-openblas32
  void (*set_threads)(int) = nullptr;
  int (*get_threads)() = nullptr;

  template <class Function>
  Function find(const std::string& name) const {
    return reinterpret_cast<Function>(::dlsym(handle, (prefix + name).c_str()));
  }
};

/// Whether the file can be loaded and has LAPACK; `tried` gets what is wrong with it.
bool open(const std::string& path, Library& library, std::string& tried) {
  library.handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library.handle) {
    tried += std::string("\n  ") + ::dlerror();
    return false;
  }
  for (const char* prefix : {"", "scipy_"}) {
    library.prefix = prefix;
    if (library.find<void*>("spotrf_")) {
      library.path = path;
      library.set_threads = library.find<void (*)(int)>("openblas_set_num_threads");
      library.get_threads = library.find<int (*)()>("openblas_get_num_threads");
      return true;
    }
  }
  tried += "\n  " + path + ": has no spotrf_";
  return false;
}

std::mutex loading;
Library loaded;
std::atomic<bool> is_loaded{false};

const Library& library(std::string_view op) {
  if (is_loaded) return loaded;
  // Before the lock is held: it may wait for Python's.
  const auto finder = other_finder.load();
  const std::string other = finder ? finder() : std::string();
  const std::lock_guard<std::mutex> lock(loading);
  if (is_loaded) return loaded;
  Library library;
  std::string tried;
  const auto found = [&](const std::string& path) {
    return !path.empty() && open(path, library, tried);
  };
  const char* const named = std::getenv("TENON_LAPACK");
  if (named && *named) {
    TENON_CHECK(found(named), "[", op, "] TENON_LAPACK names no LAPACK library:", tried);
  } else {
    TENON_CHECK(found(other) || found("libopenblas.so.0") || found("liblapack.so.3"), "[", op,
                "] needs LAPACK, and no library was found. Install one: on Debian ",
                "`apt-get install libopenblas0-pthread`, for Python ",
                "`pip install scipy-openblas32`, or name a file in the environment variable ",
                "TENON_LAPACK. Tried:", tried);
  }
  loaded = library;
  is_loaded = true;
  return loaded;
}

/// Calls that are computing, and the number of threads that the library had before the first.
std::mutex counting;
int users = 0, threads_before = 0;

}  // namespace

void set_library_finder(std::string (*finder)()) { other_finder = finder; }

std::string library_path() { return is_loaded ? loaded.path : std::string(); }

LibraryThreads::LibraryThreads(int count) {
  if (!loaded.set_threads || !loaded.get_threads) return;
  const std::lock_guard<std::mutex> lock(counting);
  if (users++ == 0) {
    threads_before = loaded.get_threads();
  } else {
    count = 1;
  }
  if (loaded.get_threads() != count) loaded.set_threads(count);
}

LibraryThreads::~LibraryThreads() {
  if (!loaded.set_threads || !loaded.get_threads) return;
  const std::lock_guard<std::mutex> lock(counting);
  if (--users == 0 && loaded.get_threads() != threads_before) loaded.set_threads(threads_before);
}

#if TENON_HAS_LAPACK
namespace {

template <class T>
constexpr char letter() {
  if constexpr (std::is_same_v<T, float>) return 's';
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, std::complex<float>>) return 'c';
  return 'z';
}

template <class T>
Routines<T> load(std::string_view op) {
  const Library& from = library(op);
  const auto find = [&](const char* name) {
    const std::string symbol = letter<T>() + std::string(name) + "_";
    void* const address = from.find<void*>(symbol);
    TENON_CHECK(address, "[", op, "] ", from.path, " has no ", from.prefix, symbol);
    return address;
  };
  Routines<T> routines;
#define TENON_LAPACK_LOAD(member, real_name, complex_name, ...) \
  routines.member.address = find(kIsComplex<T> ? complex_name : real_name);
  TENON_LAPACK_ROUTINES(TENON_LAPACK_LOAD)
#undef TENON_LAPACK_LOAD
  return routines;
}

}  // namespace

template <class T>
const Routines<T>& routines(std::string_view op) {
  // No static of that type: Python's lock may be taken meanwhile, by a thread that waits for it.
  static std::atomic<const Routines<T>*> all{nullptr};
  if (const auto* known = all.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<const Routines<T>>(load<T>(op));
  const Routines<T>* known = nullptr;
  return all.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
}

template const Routines<float>& routines<float>(std::string_view);
template const Routines<double>& routines<double>(std::string_view);
template const Routines<std::complex<float>>& routines<std::complex<float>>(std::string_view);
template const Routines<std::complex<double>>& routines<std::complex<double>>(std::string_view);
#endif

}  // namespace tenon::native::lapack
