#include "runtime/distributed/backends/host_backend.h"

#include <exception>
#include <optional>

#include "aten/core/thread_state.h"
#include "runtime/distributed/interrupt.h"
#include "runtime/distributed/stores/store_map.h"

namespace tenon::distributed::detail {
namespace {

// With two ranks. What is larger moves faster through an engine.
constexpr size_t kSmall = 32 << 10;
// Data within a message begins at a multiple of this, as elements need it.
constexpr size_t kAlignment = 16;

}  // namespace

bool HostBackend::Peers::all_inline() const {
  for (const Header& header : headers) {
    if (!header.is_inline) return false;
  }
  return true;
}

HostBackend::HostBackend(std::string name, const BackendArguments& arguments,
                         MakeEngine make_engine)
    : Backend(arguments.rank, arguments.size), name_(std::move(name)), timeout_(arguments.timeout),
      small_(kSmall / static_cast<size_t>(std::max(1, arguments.size - 1))),
      make_engine_(std::move(make_engine)) {
  if (size() == 1) return;
  mesh_ = std::make_unique<Mesh>(*arguments.store, rank(), size(), timeout_);
  mesh_->on_failure([this] {
    const std::lock_guard lock(engine_mutex_);
    if (engine_) engine_->abort();
  });
}

void HostBackend::close() {
  // A rank whose stack is being unwound does not finish what is queued: others must not wait.
  if (std::uncaught_exceptions() > 0)
    abort("left the group because of an exception" +
          (last_error_.empty() ? std::string() : " after " + last_error_));
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

HostBackend::~HostBackend() {
  close();
  if (mesh_) mesh_->on_failure({});
  mesh_.reset();
}

void HostBackend::abort(const std::string& text) {
  if (mesh_) mesh_->fail(text);
}

bool HostBackend::has_failed() const { return mesh_ && mesh_->failed(); }

void HostBackend::throw_if_failed(const std::string& what) const {
  if (mesh_) mesh_->throw_if_failed(what);
}

Engine& HostBackend::engine() {
  TENON_CHECK_NOT_IMPLEMENTED(make_engine_, "[", name_, "] large tensors of the CPU",
                              missing_engine());
  {
    const std::lock_guard lock(engine_mutex_);
    if (engine_) return *engine_;
  }
  auto made = make_engine_(*mesh_);
  const std::lock_guard lock(engine_mutex_);
  engine_ = std::move(made);
  return *engine_;
}

WorkPtr HostBackend::submit(Call call, const CallOptions& options) {
  call.timeout = options.timeout.count() > 0 ? options.timeout : timeout_;
  const WorkPtr work = call.work;
  std::unique_lock lock(mutex_);
  TENON_CHECK_AS(DistBackendError, !closed_, "[", call.what, "] the group has been destroyed");
  if (!options.async_op && !busy_ && queue_.empty() && !has_interrupt_check()) {
    busy_ = true;
    lock.unlock();
    run(call);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
    return work;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  queue_.push_back(std::move(call));
  changed_.notify_all();
  lock.unlock();
  // The error is for wait(), as it is when the call ran at once.
  if (!options.async_op) work->wait_until_done();
  return work;
}

void HostBackend::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !busy_ && (closed_ || !queue_.empty()); });
    if (queue_.empty()) return;
    Call call = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    run(call);
    call = Call();  // lets the tensors go
    lock.lock();
    busy_ = false;
  }
}

void HostBackend::run(Call& call) noexcept {
  std::exception_ptr error;
  try {
    const NoGradGuard no_grad;
    call.begun.wait();
    run_or_throw(call);
    // What was copied to GPUs is there.
    call.begun.set();
    call.begun.synchronize();
  } catch (const std::exception& e) {
    error = std::current_exception();
    last_error_ = e.what();
  }
  call.work->finish(error);
}

HostBackend::Peers HostBackend::meet(Call& call, Deadline deadline) {
  Header& own = call.header;
  if (!mesh_) {
    ++next_number_;
    own.is_inline = true;
    if (call.small_data) own.data = call.small_data();
    Peers alone;
    alone.headers.push_back(own);
    return alone;
  }
  std::string body;
  put_u32(body, static_cast<uint32_t>(own.text.size()));
  put_u32(body, static_cast<uint32_t>(own.failure.size()));
  put_u32(body, static_cast<uint32_t>(own.sizes.size()));
  if (call.small_data) {
    own.data = call.small_data();
    own.is_inline = is_small(own.data.size());
  }
  body += own.is_inline ? '+' : '-';
  body += own.text;
  body += own.failure;
  for (const int64_t size : own.sizes) {
    put_u32(body, static_cast<uint32_t>(size));
    put_u32(body, static_cast<uint32_t>(static_cast<uint64_t>(size) >> 32));
  }
  body.resize((body.size() + kAlignment - 1) / kAlignment * kAlignment);
  if (own.is_inline) body += own.data;

  Peers peers;
  const uint64_t number = next_number_++;
  peers.bodies = mesh_->exchange(number, body, deadline, call.timeout, call.what);
  for (const std::string& bytes : peers.bodies) {
    const char* at = bytes.data();
    const size_t text = get_u32(at), failure = get_u32(at + 4), sizes = get_u32(at + 8);
    Header header;
    header.is_inline = at[12] == '+';
    at += 13;
    header.text.assign(at, text);
    header.failure.assign(at + text, failure);
    at += text + failure;
    for (size_t i = 0; i < sizes; ++i, at += 8)
      header.sizes.push_back(static_cast<int64_t>(get_u32(at) | (uint64_t{get_u32(at + 4)} << 32)));
    const size_t head =
        (static_cast<size_t>(at - bytes.data()) + kAlignment - 1) / kAlignment * kAlignment;
    header.data = std::string_view(bytes).substr(head);
    peers.headers.push_back(std::move(header));
  }
  return peers;
}

void HostBackend::run_or_throw(Call& call) {
  const Deadline deadline = Clock::now() + call.timeout;
  // In the exchange and in the transfer behind it.
  std::optional<Mesh::Watch> watch;
  if (mesh_) watch.emplace(*mesh_, -1, call.what);
  const Peers peers = meet(call, deadline);
  std::string failures;
  for (size_t r = 0; r < peers.headers.size(); ++r) {
    if (!peers.headers[r].failure.empty())
      failures += concat(failures.empty() ? "" : "; ", "rank ", r, ": ", peers.headers[r].failure);
  }
  TENON_CHECK_AS(DistBackendError, failures.empty(), "[", call.what, "] ", failures);
  for (size_t r = 1; r < peers.headers.size(); ++r) {
    TENON_CHECK_AS(DistBackendError, peers.headers[r].text == peers.headers[0].text, "[collective ",
                   next_number_ - 1, "] the ranks call different collectives: rank ", "0 calls ",
                   peers.headers[0].text, ", rank ", r, " calls ", peers.headers[r].text);
  }
  if (call.check) call.check(peers);
  if (!call.run) return;
  try {
    call.run(peers, deadline);
  } catch (const DistError&) {
    throw;
  } catch (const std::exception& error) {
    // Others are in the middle of the same transfer.
    if (!mesh_) throw;
    mesh_->throw_failure(call.what, error.what());
  }
}

void HostBackend::check_root(const char* what, int root) const {
  TENON_CHECK_VALUE(root >= 0 && root < size(), "[", what, "] expected a rank from 0 to ",
                    size() - 1, ", got ", root);
}

void HostBackend::check_count(const char* what, const char* which, size_t count) const {
  TENON_CHECK_VALUE(count == static_cast<size_t>(size()), "[", what, "] expected ", size(), " ",
                    which, ", one for each rank, got ", count);
}

WorkPtr HostBackend::barrier(const CallOptions& options) {
  Call call{.what = "barrier"};
  call.header.text = "barrier";
  return submit(std::move(call), options);
}

void HostBackend::fail_next_collectives(const std::string& text, int count) {
  for (int i = 0; i < count; ++i) {
    Call call{.what = "fail_next_collectives"};
    call.header.failure = text;
    submit(std::move(call), {});
  }
}

}  // namespace tenon::distributed::detail
