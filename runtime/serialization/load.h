#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "runtime/serialization/location.h"
#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// What a file may make the loader use, whatever it says itself.
struct LoadLimits {
  /// Containers within containers.
  int depth = kMaxDepth;
  /// Bytes of memory, and bytes worked through, that objects, the texts of keys, the names of
  /// tensors and calls may take, beside the storages. 0 for 64 MiB, 256 for each byte that the
  /// pickle takes in the file, and four times the file; only what is made to be small and to become
  /// large takes more.
  uint64_t budget = 0;
};

struct LoadOptions {
  enum class Mmap {
    None,
    Private,  ///< storages are parts of a mapping of the file; writes to them never reach it
    Shared    ///< the same, and writes to them change the file, whose checksums are then stale
  };

  MapLocation map_location{};
  /// For files only, and of the zip format only.
  Mmap mmap = Mmap::None;
  /// With mmap: whether the CRCs of the storages are verified, which reads all of them. Without it
  /// they always are.
  bool mmap_verify = false;
  /// As strict as torch.load with weights_only. If false, the harmless types that PyTorch refuses
  /// all the same are read too: frozenset, slice, range, bytes. Nothing is ever executed.
  bool weights_only = true;
  /// Asked about a class or function, "module name", that is not known otherwise: whether what it
  /// is called for becomes a Value of kind Object. Only if weights_only is false.
  std::function<bool(const std::string& name)> allow_global{};
  /// Of the 8-bit strings of Python 2: "utf-8", "ascii", "latin1", or "bytes" to leave them bytes.
  std::string encoding = "utf-8";
  LoadLimits limits{};
  /// Called with the bytes of tensor data read so far and in all.
  std::function<void(uint64_t done, uint64_t total)> progress{};
};

/// Reads what torch.save or save() wrote, in the zip or the legacy format. Nothing in the file is
/// executed or looked up outside of a fixed table and add_safe_globals(). CRCs are verified, with
/// mmap if `mmap_verify` says so. Errors "[load] 'x.pt': ..." say what is wrong and where, with the
/// record and the offset.
TENON_API Value load(const std::string& path, const LoadOptions& options = {});
/// Reads from the stream's position on. A zip file is taken to end with the stream; after the
/// legacy format the stream stands behind what was read.
TENON_API Value load(std::istream& in, const LoadOptions& options = {});
/// `end` is set to where the checkpoint ended.
TENON_API Value load(const void* data, size_t bytes, const LoadOptions& options = {},
                     size_t* end = nullptr);

/// A class that files may name, and how its instances are made.
struct SafeGlobal {
  /// Makes an instance from what the class is called with.
  using Construct = std::function<Value(const Value::Items& args)>;
  /// Gives an instance its state, the pickle's BUILD.
  using SetState = std::function<void(const Value& object, const Value& state)>;

  /// `name` is "module.name". Without `construct` a Value of kind Object holds name, arguments and
  /// attributes; without `set_state` the state becomes the object's attributes.
  SafeGlobal(std::string name, Construct construct = {}, SetState set_state = {})
      : name(std::move(name)), construct(std::move(construct)), set_state(std::move(set_state)) {}
  SafeGlobal(const char* name) : SafeGlobal(std::string(name)) {}

  std::string name;
  Construct construct;
  SetState set_state;
};

/// Allows classes in all loads from now on. ValueError for the modules sys, os, posix and nt, which
/// are never allowed. May be called from any thread.
TENON_API void add_safe_globals(const std::vector<SafeGlobal>& globals);
TENON_API std::vector<std::string> get_safe_globals();
TENON_API void clear_safe_globals();
/// Allows classes while it lives; what was said of them before holds again then.
class TENON_API SafeGlobals {
 public:
  explicit SafeGlobals(const std::vector<SafeGlobal>& globals);
  ~SafeGlobals();
  SafeGlobals(const SafeGlobals&) = delete;
  SafeGlobals& operator=(const SafeGlobals&) = delete;

 private:
  struct Before {
    std::string name;
    std::optional<SafeGlobal> global;
  };
  std::vector<Before> before_;
};

}  // namespace tenon::serialization
