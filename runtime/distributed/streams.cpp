#include "runtime/distributed/streams.h"

#include "tenon/config.h"
#if TENON_HAS_CUDA
#include <algorithm>

#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/stream.h"
#endif

namespace tenon::distributed::detail {

#if TENON_HAS_CUDA

struct Mark::Event {
  DeviceIndex device;
  cuda::Event event = cuda::Event();
};

Mark::Mark(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors) {
    if (!t.defined() || !t.is_cuda()) continue;
    const DeviceIndex device = t.device().index();
    if (std::none_of(events_.begin(), events_.end(),
                     [&](const auto& e) { return e->device == device; }))
      events_.push_back(std::make_shared<Event>(Event{device}));
  }
  set();
}

void Mark::set() {
  for (const auto& e : events_) e->event.record(cuda::current_stream(e->device));
}

void Mark::wait() const {
  for (const auto& e : events_) e->event.wait(cuda::current_stream(e->device));
}

void Mark::synchronize() const {
  for (const auto& e : events_) e->event.synchronize();
}

void StreamOrdering::use(const Tensor& t) {
  if (!t.is_cuda()) return;
  const cuda::Stream stream = cuda::current_stream(t.device().index());
  if (used_ && stream.handle() == stream_) return;
  if (used_) {
    cuda::Event event;
    event.record(cuda::Stream(t.device().index(), static_cast<CUstream_st*>(stream_)));
    event.wait(stream);
  }
  keep_for_current_stream(t);
  used_ = true;
  stream_ = stream.handle();
}

void keep_for_current_stream(const Tensor& t) {
  if (t.defined() && t.is_cuda()) cuda::record_stream(t, cuda::current_stream(t.device().index()));
}

#else

struct Mark::Event {};
Mark::Mark(const std::vector<Tensor>&) {}
void Mark::set() {}
void Mark::wait() const {}
void Mark::synchronize() const {}
void StreamOrdering::use(const Tensor&) {}
void keep_for_current_stream(const Tensor&) {}

#endif

}  // namespace tenon::distributed::detail
