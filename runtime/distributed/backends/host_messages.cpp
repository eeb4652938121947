// Messages from rank to rank, over the mesh.

#include <optional>

#include "aten/core/thread_state.h"
#include "runtime/distributed/backends/host_backend.h"
#include "runtime/distributed/mesh/blocks.h"
#include "runtime/distributed/stores/store_map.h"

namespace tenon::distributed::detail {

WorkPtr HostBackend::send(const Tensor& tensor, int dst, int tag, const CallOptions& options) {
  check_tensor("send", tensor);
  check_root("send", dst);
  TENON_CHECK_VALUE(dst != rank(), "[send] rank ", dst, " cannot send to itself");
  const NoGradGuard no_grad;
  const Dense dense(tensor);
  const std::string text = describe(tensor);
  std::string body;
  put_u32(body, static_cast<uint32_t>(text.size()));
  body += text;
  TENON_CHECK_VALUE(dense.bytes() < UINT32_MAX - body.size(),
                    "[send] a message may have 4 GiB, got ", dense.bytes(), " bytes");
  body += dense.view();
  const Milliseconds timeout = options.timeout.count() > 0 ? options.timeout : timeout_;
  mesh_->send(dst, static_cast<uint64_t>(tag), body, Clock::now() + timeout, "send");
  const WorkPtr work = std::make_shared<Work>();
  work->finish(nullptr);
  return work;
}

/// A message that is expected. Messages arrive on the mesh's thread, so nothing runs for this one;
/// it is taken out when somebody asks.
class HostBackend::Receive final : public Work {
 public:
  Receive(HostBackend& backend, Tensor tensor, int source, uint64_t tag, Milliseconds timeout)
      : backend_(backend), tensor_(std::move(tensor)), source_(source), tag_(tag),
        timeout_(timeout), begun_({tensor_}) {}

  bool is_completed() override {
    backend_.take_earlier(*this, false, timeout_);
    return Work::is_completed();
  }
  void wait(Milliseconds timeout) override {
    backend_.take_earlier(*this, true, timeout == Milliseconds::max() ? timeout_ : timeout);
    Work::wait(Milliseconds::max());
  }
  int source_rank() const override { return source_; }

  bool conflicts(const Receive& other) const {
    return tag_ == other.tag_ && (source_ == other.source_ || source_ < 0 || other.source_ < 0);
  }
  bool done() { return Work::is_completed(); }
  /// Whether the message has been taken, or has failed.
  bool take(bool wait, Milliseconds timeout) {
    std::exception_ptr error;
    try {
      const NoGradGuard no_grad;
      std::optional<std::string> body = backend_.mesh_->try_receive(source_, tag_);
      if (!body && !wait) return false;
      if (!body)
        body = backend_.mesh_->receive(source_, tag_, Clock::now() + timeout, timeout, "recv");
      const uint32_t size = get_u32(body->data());
      const std::string sent = body->substr(4, size), own = describe(tensor_);
      const std::string_view data = std::string_view(*body).substr(4 + size);
      TENON_CHECK_AS(DistBackendError,
                     sent.substr(0, sent.find(' ')) == own.substr(0, own.find(' ')) &&
                         data.size() == tensor_.nbytes(),
                     "[recv] rank ", source_, " sent ", sent, ", rank ", backend_.rank(),
                     " expects ", own);
      begun_.wait();
      const Dense dense(tensor_, false);
      copy(dense.data(), data);
      dense.write_back();
      // Another thread or stream may be the one to use it.
      begun_.set();
      begun_.synchronize();
    } catch (...) {
      error = std::current_exception();
    }
    finish(error);
    return true;
  }

 private:
  HostBackend& backend_;
  const Tensor tensor_;
  int source_;
  const uint64_t tag_;
  const Milliseconds timeout_;
  Mark begun_;
};

WorkPtr HostBackend::recv(const Tensor& tensor, int src, int tag, const CallOptions& options) {
  check_tensor("recv", tensor);
  if (src != -1) check_root("recv", src);
  TENON_CHECK_VALUE(src != rank() && size() > 1, "[recv] rank ", rank(),
                    " cannot receive from itself");
  const Milliseconds timeout = options.timeout.count() > 0 ? options.timeout : timeout_;
  const auto work =
      std::make_shared<Receive>(*this, tensor, src, static_cast<uint64_t>(tag), timeout);
  {
    const std::lock_guard lock(receives_mutex_);
    receives_.push_back(work);
  }
  if (!options.async_op) take_earlier(*work, true, timeout);
  return work;
}

void HostBackend::take_earlier(Receive& last, bool wait, Milliseconds timeout) {
  // Messages go to those that were asked for first.
  while (!last.done()) {
    std::shared_ptr<Receive> next;
    {
      const std::lock_guard lock(receives_mutex_);
      for (const auto& one : receives_) {
        if (one->conflicts(last)) {
          next = one;
          break;
        }
      }
    }
    if (!next || !next->take(wait, timeout)) return;
    const std::lock_guard lock(receives_mutex_);
    std::erase(receives_, next);
  }
}

}  // namespace tenon::distributed::detail
