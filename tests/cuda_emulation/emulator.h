#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

// What the parts of the emulation know of each other (README.md).
namespace cuda_emulation {

constexpr int kDevices = 2;
constexpr size_t kArenaBytes = size_t{1} << 30;  ///< the memory of a device
/// Up to so many bytes in use on a device, a kernel is run once under each schedule and the results
/// are compared, and every access is checked for races.
constexpr size_t kTrackedBytes = size_t{2} << 20;

enum class Schedule : uint8_t { Forward, Backward, Random };

/// Everything below is guarded by it: one thing happens at a time, whatever the host's threads do.
std::recursive_mutex& mutex();

// ---- report.cpp ----

/// Prints what is wrong and in which kernel, block and thread, and ends the process.
[[noreturn]] void fail(const std::string& what);
/// Lines that say where the emulation is; "" outside kernels.
std::string where();
/// A random number that TENON_EMULATION_SEED and the count of calls before determine.
uint64_t random();
uint64_t seed();

// ---- memory.cpp ----

/// The device whose memory holds an address, or -1.
int device_of(const void* address);
/// Where a device's memory begins.
char* arena_of(int device);
/// Checks that all of [data, data + bytes) may be accessed on `device`; fails naming `what`.
void check_device_range(int device, const void* data, size_t bytes, const char* what);
size_t bytes_in_use(int device);
/// The contents of all memory in use on a device, and back.
struct Snapshot {
  struct Piece {
    char* data;
    std::string bytes;
  };
  std::vector<Piece> pieces;
};
Snapshot save(int device);
void restore(const Snapshot& snapshot);
/// The first byte that differs from the snapshot, or null.
const char* first_difference(const Snapshot& snapshot);

/// Device memory can be accessed only while one of these lives.
class Unprotected {
 public:
  Unprotected();
  ~Unprotected();
};

bool is_pinned(const void* data);

// ---- accesses.cpp ----

/// What the running kernel may do where: set for each block.
struct Rules {
  bool tracked = false;  ///< look for races
  bool float_atomics;    ///< out: some were seen
  int device;
  uintptr_t stack, stack_end;  ///< of the thread
  uintptr_t parameters, parameters_end;
  uint32_t run;        ///< number of the launch and schedule
  uint32_t block_run;  ///< number of the block in all of them
  uint32_t thread;     ///< in the grid
  uint32_t warp;       ///< in the block
  uint32_t block;
  uint32_t barriers, meetings;  ///< of the thread: block barriers, warp operations too
};
extern Rules rules;
/// A kernel's thread runs, on this thread of the host: others go on meanwhile, by their own rules.
extern thread_local bool in_kernel;
/// Dynamic shared memory of the running block.
void set_dynamic_shared(size_t bytes);

// ---- block.cpp ----

/// False if a thread trapped: the kernel ended there.
bool run_kernel(const Launch& launch, int device);

// ---- streams.cpp ----

int current_device();
/// Adds work to the stream: null is the current device's own.
void submit(cudaStream_t stream, std::function<void()> work);
int device_of(cudaStream_t stream);
cudaStream_t default_stream(int device);
void finish_device(int device);

}  // namespace cuda_emulation
