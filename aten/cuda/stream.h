#pragma once

#include "aten/core/device.h"

struct CUstream_st;
struct CUevent_st;

namespace tenon::cuda {

/// A queue of work on one GPU, in order. A handle: copies name the same queue, which lives as long
/// as the program. Converts to the runtime's cudaStream_t.
class Stream {
 public:
  Stream(DeviceIndex device, CUstream_st* handle) : handle_(handle), device_(device) {}
  CUstream_st* handle() const { return handle_; }
  operator CUstream_st*() const { return handle_; }
  Device device() const { return Device(kCUDA, device_); }
  DeviceIndex device_index() const { return device_; }
  /// Waits until all work submitted so far is done.
  TENON_API void synchronize() const;
  /// Whether all of it is done already.
  TENON_API bool query() const;
  friend bool operator==(Stream a, Stream b) {
    return a.handle_ == b.handle_ && a.device_ == b.device_;
  }

 private:
  CUstream_st* handle_;
  DeviceIndex device_;
};

/// The stream that the calling thread's operators use on a GPU (-1: the current one); at first the
/// device's default stream.
TENON_API Stream current_stream(DeviceIndex device = -1);
TENON_API Stream default_stream(DeviceIndex device = -1);
/// Makes `stream` current on its GPU for the calling thread; the current GPU stays.
TENON_API void set_current_stream(Stream stream);
/// One of 32 streams a GPU has in each of two priorities, handed out in turn.
TENON_API Stream stream_from_pool(bool high_priority = false, DeviceIndex device = -1);

/// Makes a stream and its GPU current until the end of the scope.
class TENON_API StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DeviceIndex previous_device_;
  Stream previous_stream_;
};

/// A mark in a stream's queue, which other streams or the host can wait for.
class TENON_API Event {
 public:
  explicit Event(bool timing = false) : timing_(timing) {}
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  /// Marks what has been submitted to the stream so far; again moves the mark.
  void record(Stream stream);
  /// Work submitted to `stream` from now on starts after the mark. Nothing if there is none.
  void wait(Stream stream) const;
  /// Whether the marked work is done; true if nothing was marked.
  bool query() const;
  void synchronize() const;
  /// Milliseconds from this mark to `end`, both of events made with timing and done.
  float elapsed_time(const Event& end) const;

 private:
  CUevent_st* event_ = nullptr;
  DeviceIndex device_ = -1;
  bool timing_;
};

}  // namespace tenon::cuda
