#include "runtime/distributed/host_backend.h"

#include <cstring>
#include <exception>
#include <numeric>
#include <optional>
#include <sstream>

#include "aten/core/thread_state.h"
#include "runtime/distributed/interrupt.h"
#include "runtime/distributed/shared_memory.h"
#include "runtime/distributed/store_map.h"
#include "tenon/config.h"
#include "tenon/ops/contiguous.h"
#include "tenon/ops/copy.h"
#if TENON_HAS_GLOO
#include "runtime/distributed/gloo_engine.h"
#endif

namespace tenon::distributed::detail {
namespace {

// With two ranks. What is larger moves faster through an engine.
constexpr size_t kSmall = 32 << 10;
// Data within a message begins at a multiple of this, as elements need it.
constexpr size_t kAlignment = 16;

void check_tensor(const char* what, const Tensor& t) {
  TENON_CHECK_VALUE(t.defined(), "[", what, "] expected a tensor, got an undefined one");
  TENON_CHECK_VALUE(t.is_cpu(), "[", what, "] expected a tensor of the CPU, got one of ",
                    t.device());
}

void check_tensors(const char* what, const std::vector<Tensor>& tensors, const Tensor& like) {
  for (const Tensor& t : tensors) {
    check_tensor(what, t);
    TENON_CHECK_TYPE(t.scalar_type() == like.scalar_type(), "[", what,
                     "] expected all tensors to have one dtype, got ", like.scalar_type(), " and ",
                     t.scalar_type());
  }
}

std::string describe(const Tensor& t) { return concat(t.scalar_type(), " ", t.sizes()); }

/// The elements of a tensor one after another, and back. Memory is written without counting as an
/// in-place change: autograd need not know that buffers of another rank arrived.
class Dense {
 public:
  explicit Dense(const Tensor& t) : tensor_(t), dense_(t.is_contiguous() ? t : t.contiguous()) {}
  char* data() const { return static_cast<char*>(dense_.data_ptr()); }
  size_t bytes() const { return dense_.nbytes(); }
  std::string_view view() const { return {data(), bytes()}; }
  void write_back() const {
    if (!dense_.is_same(tensor_)) tensor_.detach().copy_(dense_);
  }

 private:
  Tensor tensor_, dense_;
};

/// Tensors as one block of bytes: their own memory if they lie in it one after another.
class Block {
 public:
  /// `read`: whether the block begins as what the tensors hold.
  Block(const std::vector<Tensor>& tensors, bool read) : tensors_(tensors) {
    bool adjacent = true;
    const char* next = nullptr;
    for (const Tensor& t : tensors) {
      bytes_ += t.nbytes();
      if (t.numel() == 0) continue;
      adjacent = adjacent && t.is_contiguous() && (!next || t.data_ptr() == next);
      if (!data_) data_ = static_cast<char*>(t.data_ptr());
      next = static_cast<const char*>(t.data_ptr()) + t.nbytes();
    }
    if (adjacent) return;
    // operator new aligns for every element type.
    own_.reset(new char[bytes_]);
    data_ = own_.get();
    if (!read) return;
    size_t at = 0;
    for (const Tensor& t : tensors) {
      const Dense dense(t);
      if (dense.bytes()) std::memcpy(data_ + at, dense.data(), dense.bytes());
      at += dense.bytes();
    }
  }
  char* data() const { return data_; }
  std::string_view view() const { return {data_, bytes_}; }
  void write_back() const {
    if (!own_) return;
    size_t at = 0;
    for (const Tensor& t : tensors_) {
      if (t.numel() > 0) {
        const Dense dense(t);
        std::memcpy(dense.data(), data_ + at, dense.bytes());
        dense.write_back();
      }
      at += t.nbytes();
    }
  }

 private:
  const std::vector<Tensor> tensors_;
  size_t bytes_ = 0;
  char* data_ = nullptr;
  std::unique_ptr<char[]> own_;
};

void copy(char* to, std::string_view from) {
  // In a group of one a tensor may be its own source.
  if (!from.empty()) std::memmove(to, from.data(), from.size());
}

std::vector<int64_t> counts(const std::vector<Tensor>& tensors) {
  std::vector<int64_t> numbers;
  for (const Tensor& t : tensors) numbers.push_back(t.numel());
  return numbers;
}

std::vector<size_t> bytes_of(const int64_t* counts, size_t n, size_t element) {
  std::vector<size_t> bytes;
  for (size_t i = 0; i < n; ++i) bytes.push_back(static_cast<size_t>(counts[i]) * element);
  return bytes;
}

size_t sum(const std::vector<size_t>& sizes, size_t n) {
  return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(n), size_t{0});
}

[[noreturn]] void raise_unequal(const char* what, const std::string& text, int giver, int64_t gives,
                                int taker, int64_t takes) {
  raise<DistBackendError>("[", what, "] ", text, ": rank ", giver, " gives ", gives,
                          " elements to rank ", taker, ", which expects ", takes);
}

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
    run_or_throw(call);
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
  put_u32(body, static_cast<uint32_t>(own.forfeit.size()));
  put_u32(body, static_cast<uint32_t>(own.sizes.size()));
  if (call.small_data) {
    own.data = call.small_data();
    own.is_inline = is_small(own.data.size());
  }
  body += own.is_inline ? '+' : '-';
  body += own.text;
  body += own.forfeit;
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
    const size_t text = get_u32(at), forfeit = get_u32(at + 4), sizes = get_u32(at + 8);
    Header header;
    header.is_inline = at[12] == '+';
    at += 13;
    header.text.assign(at, text);
    header.forfeit.assign(at + text, forfeit);
    at += text + forfeit;
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
  std::string forfeits;
  for (size_t r = 0; r < peers.headers.size(); ++r) {
    if (!peers.headers[r].forfeit.empty())
      forfeits += concat(forfeits.empty() ? "" : "; ", "rank ", r, ": ", peers.headers[r].forfeit);
  }
  TENON_CHECK_AS(DistBackendError, forfeits.empty(), "[", call.what, "] ", forfeits);
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

WorkPtr HostBackend::broadcast(const Tensor& tensor, int root, const CallOptions& options) {
  check_tensor("broadcast", tensor);
  check_root("broadcast", root);
  Call call{.what = "broadcast"};
  call.header.text = concat("broadcast from rank ", root, " of ", describe(tensor));
  const bool small = is_small(tensor.nbytes());
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=, this] {
    *dense = std::make_unique<Dense>(tensor);
    return small && rank() == root ? (*dense)->view() : std::string_view();
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    if (small) {
      if (rank() != root) copy((*dense)->data(), peers.headers[root].data);
    } else {
      engine().broadcast((*dense)->data(), (*dense)->bytes(), root, deadline);
    }
    if (rank() != root) (*dense)->write_back();
  };
  return submit(std::move(call), options);
}

namespace {

/// The reduction of what all sent, in the order of the ranks, so that it is the same everywhere.
template <class Headers>
void reduce_all(char* out, const Headers& headers, size_t offset, size_t bytes, size_t n,
                ReduceFunction function) {
  copy(out, headers[0].data.substr(offset, bytes));
  for (size_t r = 1; r < headers.size(); ++r)
    function(out, out, headers[r].data.data() + offset, n);
}

}  // namespace

WorkPtr HostBackend::all_reduce(const Tensor& tensor, ReduceOp op, const CallOptions& options) {
  check_tensor("all_reduce", tensor);
  const ReduceFunction function = reduce_function(op, tensor.scalar_type(), "all_reduce");
  Call call{.what = "all_reduce"};
  call.header.text = concat("all_reduce(", to_string(op), ") of ", describe(tensor));
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(tensor);
    return (*dense)->view();
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense& d = **dense;
    const auto n = static_cast<size_t>(tensor.numel());
    if (peers.all_inline()) {
      reduce_all(d.data(), peers.headers, 0, d.bytes(), n, function);
    } else {
      engine().all_reduce(d.data(), n, tensor.scalar_type(), op, deadline);
    }
    if (op == ReduceOp::AVG) divide(d.data(), n, tensor.scalar_type(), size());
    d.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::reduce(const Tensor& tensor, int root, ReduceOp op,
                            const CallOptions& options) {
  check_tensor("reduce", tensor);
  check_root("reduce", root);
  const ReduceFunction function = reduce_function(op, tensor.scalar_type(), "reduce");
  Call call{.what = "reduce"};
  call.header.text = concat("reduce(", to_string(op), ") to rank ", root, " of ", describe(tensor));
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(tensor);
    return (*dense)->view();
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense& d = **dense;
    const auto n = static_cast<size_t>(tensor.numel());
    if (peers.all_inline()) {
      if (rank() != root) return;
      reduce_all(d.data(), peers.headers, 0, d.bytes(), n, function);
    } else {
      // As all_reduce, and only one rank keeps the result.
      std::vector<char> copy_of_it;
      char* data = d.data();
      if (rank() != root) {
        copy_of_it.assign(data, data + d.bytes());
        data = copy_of_it.data();
      }
      engine().all_reduce(data, n, tensor.scalar_type(), op, deadline);
      if (rank() != root) return;
    }
    if (op == ReduceOp::AVG) divide(d.data(), n, tensor.scalar_type(), size());
    d.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::all_gather(const std::vector<Tensor>& outputs, const Tensor& input,
                                const CallOptions& options) {
  check_tensor("all_gather", input);
  check_count("all_gather", "outputs", outputs.size());
  check_tensors("all_gather", outputs, input);
  Call call{.what = "all_gather"};
  call.header.text = concat("all_gather of ", input.scalar_type());
  call.header.sizes = counts(outputs);
  call.header.sizes.push_back(input.numel());
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(input);
    return (*dense)->view();
  };
  call.check = [text = call.header.text](const Peers& peers) {
    const int n = static_cast<int>(peers.headers.size());
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) {
        const int64_t gives = peers.headers[from].sizes[n], takes = peers.headers[to].sizes[from];
        if (gives != takes) raise_unequal("all_gather", text, from, gives, to, takes);
      }
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Block block(outputs, false);
    if (peers.all_inline()) {
      char* to = block.data();
      for (const Header& header : peers.headers) {
        copy(to, header.data);
        to += header.data.size();
      }
    } else {
      const auto& sizes = peers.headers[rank()].sizes;
      engine().all_gather((*dense)->data(), block.data(),
                          bytes_of(sizes.data(), outputs.size(), input.element_size()), deadline);
    }
    block.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::gather(const std::vector<Tensor>& outputs, const Tensor& input, int root,
                            const CallOptions& options) {
  check_tensor("gather", input);
  check_root("gather", root);
  if (rank() == root) check_count("gather", "outputs", outputs.size());
  TENON_CHECK_VALUE(rank() == root || outputs.empty(), "[gather] outputs are rank ", root,
                    "'s alone, got ", outputs.size(), " on rank ", rank());
  check_tensors("gather", outputs, input);
  Call call{.what = "gather"};
  call.header.text = concat("gather to rank ", root, " of ", input.scalar_type());
  call.header.sizes = counts(outputs);
  call.header.sizes.insert(call.header.sizes.begin(), input.numel());
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(input);
    return (*dense)->view();
  };
  call.check = [root, text = call.header.text](const Peers& peers) {
    for (size_t r = 0; r < peers.headers.size(); ++r) {
      const int64_t gives = peers.headers[r].sizes[0], takes = peers.headers[root].sizes[r + 1];
      if (gives != takes) raise_unequal("gather", text, static_cast<int>(r), gives, root, takes);
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Block block(outputs, false);
    if (peers.all_inline()) {
      char* to = block.data();
      for (size_t r = 0; rank() == root && r < peers.headers.size(); ++r) {
        copy(to, peers.headers[r].data);
        to += peers.headers[r].data.size();
      }
    } else {
      std::vector<size_t> in(static_cast<size_t>(size())), out(in.size());
      in[root] = (*dense)->bytes();
      for (size_t r = 0; r < outputs.size(); ++r) out[r] = outputs[r].nbytes();
      engine().all_to_all((*dense)->data(), in, block.data(), out, deadline);
    }
    block.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root,
                             const CallOptions& options) {
  check_tensor("scatter", output);
  check_root("scatter", root);
  if (rank() == root) check_count("scatter", "inputs", inputs.size());
  TENON_CHECK_VALUE(rank() == root || inputs.empty(), "[scatter] inputs are rank ", root,
                    "'s alone, got ", inputs.size(), " on rank ", rank());
  check_tensors("scatter", inputs, output);
  Call call{.what = "scatter"};
  call.header.text = concat("scatter from rank ", root, " of ", output.scalar_type());
  call.header.sizes = counts(inputs);
  call.header.sizes.insert(call.header.sizes.begin(), output.numel());
  const auto block = std::make_shared<std::unique_ptr<Block>>();
  call.small_data = [=] {
    *block = std::make_unique<Block>(inputs, true);
    return (*block)->view();
  };
  call.check = [root, text = call.header.text](const Peers& peers) {
    for (size_t r = 0; r < peers.headers.size(); ++r) {
      const int64_t gives = peers.headers[root].sizes[r + 1], takes = peers.headers[r].sizes[0];
      if (gives != takes) raise_unequal("scatter", text, root, gives, static_cast<int>(r), takes);
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense dense(output);
    const auto& counts = peers.headers[root].sizes;
    const auto sizes =
        bytes_of(counts.data() + 1, static_cast<size_t>(size()), output.element_size());
    if (peers.all_inline()) {
      copy(dense.data(), peers.headers[root].data.substr(sum(sizes, rank()), dense.bytes()));
    } else {
      std::vector<size_t> in(sizes.size()), out(sizes.size());
      if (rank() == root) in = sizes;
      out[root] = dense.bytes();
      engine().all_to_all((*block)->data(), in, dense.data(), out, deadline);
    }
    dense.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                                    ReduceOp op, const CallOptions& options) {
  check_tensor("reduce_scatter", output);
  check_count("reduce_scatter", "inputs", inputs.size());
  check_tensors("reduce_scatter", inputs, output);
  const ReduceFunction function = reduce_function(op, output.scalar_type(), "reduce_scatter");
  Call call{.what = "reduce_scatter"};
  std::vector<int64_t> numbers = counts(inputs);
  call.header.text = concat("reduce_scatter(", to_string(op), ") of ", output.scalar_type(), " ",
                            IntArrayRef(numbers));
  call.header.sizes = {output.numel()};
  const auto block = std::make_shared<std::unique_ptr<Block>>();
  call.small_data = [=] {
    *block = std::make_unique<Block>(inputs, true);
    return (*block)->view();
  };
  call.check = [numbers, text = call.header.text](const Peers& peers) {
    for (size_t r = 0; r < peers.headers.size(); ++r) {
      TENON_CHECK_AS(DistBackendError, peers.headers[r].sizes[0] == numbers[r], "[reduce_scatter] ",
                     text, ": rank ", r, " expects ", peers.headers[r].sizes[0], " elements, gets ",
                     numbers[r]);
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense dense(output);
    const auto sizes = bytes_of(numbers.data(), numbers.size(), output.element_size());
    const auto n = static_cast<size_t>(output.numel());
    if (peers.all_inline()) {
      reduce_all(dense.data(), peers.headers, sum(sizes, rank()), dense.bytes(), n, function);
    } else {
      const std::vector<size_t> out(sizes.size(), dense.bytes());
      const std::unique_ptr<char[]> parts(new char[dense.bytes() * sizes.size()]);
      engine().all_to_all((*block)->data(), sizes, parts.get(), out, deadline);
      copy(dense.data(), {parts.get(), dense.bytes()});
      for (size_t r = 1; r < sizes.size(); ++r)
        function(dense.data(), dense.data(), parts.get() + r * dense.bytes(), n);
    }
    if (op == ReduceOp::AVG) divide(dense.data(), n, output.scalar_type(), size());
    dense.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::all_to_all(const std::vector<Tensor>& outputs,
                                const std::vector<Tensor>& inputs, const CallOptions& options) {
  check_count("all_to_all", "inputs", inputs.size());
  check_count("all_to_all", "outputs", outputs.size());
  check_tensor("all_to_all", inputs[0]);
  check_tensors("all_to_all", inputs, inputs[0]);
  check_tensors("all_to_all", outputs, inputs[0]);
  Call call{.what = "all_to_all"};
  call.header.text = concat("all_to_all of ", inputs[0].scalar_type());
  const std::vector<int64_t> in = counts(inputs), out = counts(outputs);
  call.header.sizes = in;
  call.header.sizes.insert(call.header.sizes.end(), out.begin(), out.end());
  const auto block = std::make_shared<std::unique_ptr<Block>>();
  call.small_data = [=] {
    *block = std::make_unique<Block>(inputs, true);
    return (*block)->view();
  };
  call.check = [text = call.header.text](const Peers& peers) {
    const size_t n = peers.headers.size();
    for (size_t from = 0; from < n; ++from) {
      for (size_t to = 0; to < n; ++to) {
        const int64_t gives = peers.headers[from].sizes[to];
        const int64_t takes = peers.headers[to].sizes[n + from];
        if (gives != takes)
          raise_unequal("all_to_all", text, static_cast<int>(from), gives, static_cast<int>(to),
                        takes);
      }
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Block to(outputs, false);
    const size_t element = inputs[0].element_size();
    const auto out_sizes = bytes_of(out.data(), out.size(), element);
    if (peers.all_inline()) {
      char* at = to.data();
      for (size_t r = 0; r < out_sizes.size(); at += out_sizes[r++]) {
        const auto sent = bytes_of(peers.headers[r].sizes.data(), out.size(), element);
        copy(at, peers.headers[r].data.substr(sum(sent, rank()), out_sizes[r]));
      }
    } else {
      engine().all_to_all((*block)->data(), bytes_of(in.data(), in.size(), element), to.data(),
                          out_sizes, deadline);
    }
    to.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::barrier(const CallOptions& options) {
  Call call{.what = "barrier"};
  call.header.text = "barrier";
  return submit(std::move(call), options);
}

void HostBackend::forfeit(const std::string& text, int count) {
  for (int i = 0; i < count; ++i) {
    Call call{.what = "forfeit"};
    call.header.forfeit = text;
    submit(std::move(call), {});
  }
}

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
        timeout_(timeout) {}

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
      const Dense dense(tensor_);
      copy(dense.data(), data);
      dense.write_back();
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

HostBackend::MakeEngine make_host_engine([[maybe_unused]] const BackendArguments& arguments) {
#if TENON_HAS_GLOO
  return [arguments](Mesh& mesh) {
    return make_shared_memory_engine(
        arguments, mesh, [&mesh, arguments] { return make_gloo_engine(arguments, mesh); });
  };
#else
  return {};
#endif
}

std::shared_ptr<Backend> make_host_backend(std::string name, const BackendArguments& arguments,
                                           std::function<std::unique_ptr<Engine>()> make_engine) {
  return std::make_shared<HostBackend>(std::move(name), arguments,
                                       [make = std::move(make_engine)](Mesh&) { return make(); });
}

std::string missing_engine() {
#if TENON_HAS_GLOO
  return {};
#else
  return "; several ranks need Gloo, and this build is without it: TENON_GLOO=OFF, or CMake did "
         "not "
         "find it (libgloo-dev)";
#endif
}

std::map<std::string, BackendFactory> built_in_backends() {
  std::map<std::string, BackendFactory> all;
  all["single"] = [](const BackendArguments& arguments) -> std::shared_ptr<Backend> {
    TENON_CHECK_VALUE(arguments.size == 1, "[init_process_group] the backend single is for one ",
                      "rank, got ", arguments.size, missing_engine());
    return std::make_shared<HostBackend>("single", arguments, HostBackend::MakeEngine());
  };
#if TENON_HAS_GLOO
  all["gloo"] = [](const BackendArguments& arguments) -> std::shared_ptr<Backend> {
    return std::make_shared<HostBackend>("gloo", arguments, make_host_engine(arguments));
  };
#endif
  return all;
}

}  // namespace tenon::distributed::detail
