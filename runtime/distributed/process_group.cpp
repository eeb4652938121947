#include "runtime/distributed/process_group.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <numeric>

#include "aten/core/thread_state.h"
#include "runtime/distributed/streams.h"
#include "tenon/ops/contiguous.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"

namespace tenon::distributed {
namespace {

struct World {
  std::mutex mutex;
  GroupPtr group;
  int groups_made = 0;
  std::vector<std::weak_ptr<Backend>> backends;  // of all groups, for record()
};

World& world() {
  static World instance;
  return instance;
}

GroupPtr group_or_default(const GroupPtr& group) { return group ? group : default_group(); }

WorkPtr done_or_throw(WorkPtr work, const CallOptions& options) {
  if (!options.async_op) work->wait();
  return work;
}

/// `parts` views of consecutive rows of t, sizes[i] of them each.
std::vector<Tensor> split(const char* what, const Tensor& t, std::vector<int64_t> sizes, int parts,
                          const char* which) {
  TENON_CHECK_VALUE(t.defined() && t.dim() > 0, "[", what, "] expected ", which,
                    " to have a dimension to split");
  if (sizes.empty()) {
    TENON_CHECK_VALUE(t.size(0) % parts == 0, "[", what, "] ", which, ": ", t.size(0),
                      " rows cannot be split evenly over ", parts, " ranks");
    sizes.assign(static_cast<size_t>(parts), t.size(0) / parts);
  }
  TENON_CHECK_VALUE(sizes.size() == static_cast<size_t>(parts) &&
                        std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) == t.size(0) &&
                        *std::min_element(sizes.begin(), sizes.end()) >= 0,
                    "[", what, "] ", which, ": expected ", parts, " sizes with the sum ", t.size(0),
                    ", got ", IntArrayRef(sizes));
  const NoGradGuard no_grad;
  std::vector<Tensor> views;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    views.push_back(t.detach().narrow(0, at, size));
    at += size;
  }
  return views;
}

Tensor bytes_tensor(const std::string& bytes) {
  Tensor t = zeros({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte));
  if (!bytes.empty()) std::memcpy(t.data_ptr(), bytes.data(), bytes.size());
  return t;
}

std::string string_of(const Tensor& t) {
  return t.numel() == 0 ? std::string()
                        : std::string(static_cast<const char*>(t.data_ptr()), t.nbytes());
}

Tensor number(int64_t value) {
  Tensor t = zeros({1}, TensorOptions(kLong));
  *t.data_ptr<int64_t>() = value;
  return t;
}

}  // namespace

ProcessGroup::ProcessGroup(const std::string& backend, std::shared_ptr<Store> store, int rank,
                           int size, Milliseconds timeout, std::vector<int> global_ranks)
    : store_(std::move(store)), timeout_(timeout), global_ranks_(std::move(global_ranks)) {
  TENON_CHECK_VALUE(size > 0 && rank >= 0 && rank < size,
                    "[init_process_group] expected a rank below the size ", size, ", got ", rank);
  if (global_ranks_.empty()) {
    global_ranks_.resize(static_cast<size_t>(size));
    std::iota(global_ranks_.begin(), global_ranks_.end(), 0);
  }
  backend_ = make_backend(backend, {store_, rank, size, timeout_});
  const std::lock_guard lock(world().mutex);
  std::erase_if(world().backends, [](const auto& one) { return one.expired(); });
  world().backends.push_back(backend_);
}

int ProcessGroup::group_rank(int global_rank) const {
  const auto found = std::find(global_ranks_.begin(), global_ranks_.end(), global_rank);
  TENON_CHECK_VALUE(found != global_ranks_.end(), "[distributed] rank ", global_rank,
                    " is not in the group of ranks ",
                    IntArrayRef(std::vector<int64_t>(global_ranks_.begin(), global_ranks_.end())));
  return static_cast<int>(found - global_ranks_.begin());
}

void init_process_group(const InitOptions& options) {
  TENON_CHECK(!is_initialized(), "[init_process_group] there is a default group already");
  std::string backend = options.backend;
  if (backend.empty()) backend = is_backend_available("gloo") ? "gloo" : "single";
  check_backend(backend);
  Rendezvous found;
  if (options.store) {
    TENON_CHECK_VALUE(options.rank >= 0 && options.world_size > 0,
                      "[init_process_group] a store needs rank and world_size beside it");
    found = {options.store, options.rank, options.world_size};
    meet(*found.store, found.rank, found.world_size, options.timeout);
  } else {
    std::string method = options.init_method;
    if (method.empty()) method = (has_rendezvous_handler(backend) ? backend : "env") + "://";
    found = rendezvous(method, options.rank, options.world_size, options.timeout);
  }
  auto group =
      std::make_shared<ProcessGroup>(backend, std::make_shared<PrefixStore>("default", found.store),
                                     found.rank, found.world_size, options.timeout);
  const std::lock_guard lock(world().mutex);
  world().group = std::move(group);
  world().groups_made = 0;
}

void destroy_process_group() {
  GroupPtr group;
  {
    const std::lock_guard lock(world().mutex);
    group.swap(world().group);
  }
  TENON_CHECK(group, "[destroy_process_group] there is no default group");
}

bool is_initialized() {
  const std::lock_guard lock(world().mutex);
  return world().group != nullptr;
}

bool is_launched() { return std::getenv("TENON_RUN_STORE") != nullptr; }

GroupPtr default_group() {
  const std::lock_guard lock(world().mutex);
  TENON_CHECK(world().group, "[distributed] there is no default group: call init_process_group "
                             "first");
  return world().group;
}

GroupPtr new_group(const std::vector<int>& ranks, Milliseconds timeout,
                   const std::string& backend) {
  const GroupPtr all = default_group();
  int number;
  {
    const std::lock_guard lock(world().mutex);
    number = world().groups_made++;
  }
  std::vector<int> members = ranks;
  std::sort(members.begin(), members.end());
  TENON_CHECK_VALUE(!members.empty() && members.front() >= 0 && members.back() < all->size() &&
                        std::adjacent_find(members.begin(), members.end()) == members.end(),
                    "[new_group] expected different ranks below ", all->size(), ", got ",
                    IntArrayRef(std::vector<int64_t>(ranks.begin(), ranks.end())));
  std::string text;
  for (const int rank : members) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  const auto store = std::make_shared<PrefixStore>("group_" + std::to_string(number), all->store());
  const std::string first = store->compare_set("ranks", "", text);
  TENON_CHECK_VALUE(first == text, "[new_group] group ", number, ": rank ", all->rank(),
                    " asks for ranks ", text, ", another rank for ", first,
                    "; all must make the same groups in the same order");
  const auto own = std::find(members.begin(), members.end(), all->rank());
  if (own == members.end()) return nullptr;
  return std::make_shared<ProcessGroup>(backend.empty() ? all->backend().name() : backend, store,
                                        static_cast<int>(own - members.begin()),
                                        static_cast<int>(members.size()),
                                        timeout.count() > 0 ? timeout : all->timeout(), members);
}

int get_rank(const GroupPtr& group) { return group_or_default(group)->rank(); }
int get_world_size(const GroupPtr& group) { return group_or_default(group)->size(); }

WorkPtr broadcast(const Tensor& tensor, int src, const GroupPtr& group,
                  const CallOptions& options) {
  const GroupPtr g = group_or_default(group);
  return done_or_throw(g->backend().broadcast(tensor, g->group_rank(src), options), options);
}

WorkPtr all_reduce(const Tensor& tensor, ReduceOp op, const GroupPtr& group,
                   const CallOptions& options) {
  return done_or_throw(group_or_default(group)->backend().all_reduce(tensor, op, options), options);
}

namespace {

/// Tensors that are sent or reduced as one, and copied back from it by the thread that has done so.
class Coalesced final : public Work, public std::enable_shared_from_this<Coalesced> {
 public:
  /// ValueError or TypeError unless they are of one dtype and on one device.
  Coalesced(const char* what, const std::vector<Tensor>& tensors) : tensors_(tensors) {
    TENON_CHECK_VALUE(!tensors.empty(), "[", what, "] expected at least one tensor");
    int64_t total = 0;
    for (const Tensor& t : tensors) {
      TENON_CHECK_VALUE(t.defined(), "[", what, "] expected a tensor, got an undefined one");
      TENON_CHECK_TYPE(t.scalar_type() == tensors[0].scalar_type(), "[", what,
                       "] expected tensors of one dtype, got ", tensors[0].scalar_type(), " and ",
                       t.scalar_type());
      TENON_CHECK_VALUE(t.device() == tensors[0].device(), "[", what,
                        "] expected tensors on one device, got ", tensors[0].device(), " and ",
                        t.device());
      total += t.numel();
    }
    flat_ = zeros({total}, tensors[0].options());
  }
  const Tensor& flat() const { return flat_; }

  void copy_in() const {
    const NoGradGuard no_grad;
    each([](const Tensor& t, const Tensor& part) { part.copy_(t); });
  }
  /// It is done when `inner`, the collective of flat(), is, and the tensors have what is there.
  void copy_back_after(const WorkPtr& inner) {
    inner->then([inner, self = shared_from_this()] {
      std::exception_ptr error = inner->exception();
      try {
        if (!error) self->copy_back(*inner);
      } catch (...) {
        error = std::current_exception();
      }
      self->finish(error);
    });
  }
  void wait(Milliseconds timeout) override {
    Work::wait(timeout);
    copied_.wait();
  }

 private:
  /// Without counting as an in-place change, as elsewhere.
  void copy_back(Work& inner) {
    const NoGradGuard no_grad;
    inner.wait();  // on a GPU: the streams of this thread
    each([](const Tensor& t, const Tensor& part) {
      t.data().copy_(part);
      detail::keep_for_current_stream(t);
    });
    detail::keep_for_current_stream(flat_);
    copied_ = detail::Mark({flat_});
  }
  template <class F>
  void each(F&& f) const {
    int64_t at = 0;
    for (const Tensor& t : tensors_) {
      f(t, flat_.narrow(0, at, t.numel()).view(t.sizes()));
      at += t.numel();
    }
  }

  const std::vector<Tensor> tensors_;
  Tensor flat_;
  detail::Mark copied_;
};

}  // namespace

WorkPtr all_reduce_coalesced(const std::vector<Tensor>& tensors, ReduceOp op, const GroupPtr& group,
                             const CallOptions& options) {
  const auto work = std::make_shared<Coalesced>("all_reduce_coalesced", tensors);
  work->copy_in();
  work->copy_back_after(group_or_default(group)->backend().all_reduce(work->flat(), op, options));
  return done_or_throw(work, options);
}

void broadcast_coalesced(const std::vector<Tensor>& tensors, int src, const GroupPtr& group) {
  // What is larger is not worth a copy: a message costs as much as some kilobytes.
  constexpr size_t kJoined = 256 << 10;
  const GroupPtr g = group_or_default(group);
  const bool is_own = g->rank() == g->group_rank(src);
  std::vector<WorkPtr> works;
  std::vector<std::vector<Tensor>> alike;  // in dtype and device; all ranks have the same order
  for (const Tensor& t : tensors) {
    TENON_CHECK_VALUE(t.defined(), "[broadcast_coalesced] expected a tensor, got an undefined one");
    if (t.nbytes() > kJoined) {
      works.push_back(broadcast(t, src, g, {.async_op = true}));
      continue;
    }
    const auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& some) {
      return some[0].scalar_type() == t.scalar_type() && some[0].device() == t.device();
    });
    same == alike.end() ? alike.push_back({t}) : same->push_back(t);
  }
  for (const auto& some : alike) {
    const auto joined = std::make_shared<Coalesced>("broadcast_coalesced", some);
    if (is_own) joined->copy_in();
    works.push_back(broadcast(joined->flat(), src, g, {.async_op = true}));
    if (is_own) continue;
    joined->copy_back_after(works.back());
    works.back() = joined;
  }
  for (const WorkPtr& work : works) work->wait();
}

WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op, const GroupPtr& group,
               const CallOptions& options) {
  const GroupPtr g = group_or_default(group);
  return done_or_throw(g->backend().reduce(tensor, g->group_rank(dst), op, options), options);
}

WorkPtr all_gather(const std::vector<Tensor>& outputs, const Tensor& input, const GroupPtr& group,
                   const CallOptions& options) {
  return done_or_throw(group_or_default(group)->backend().all_gather(outputs, input, options),
                       options);
}

WorkPtr all_gather_into_tensor(const Tensor& output, const Tensor& input, const GroupPtr& group,
                               const CallOptions& options) {
  const GroupPtr g = group_or_default(group);
  return all_gather(split("all_gather_into_tensor", output, {}, g->size(), "the output"), input, g,
                    options);
}

WorkPtr gather(const Tensor& input, const std::vector<Tensor>& outputs, int dst,
               const GroupPtr& group, const CallOptions& options) {
  const GroupPtr g = group_or_default(group);
  return done_or_throw(g->backend().gather(outputs, input, g->group_rank(dst), options), options);
}

WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int src,
                const GroupPtr& group, const CallOptions& options) {
  const GroupPtr g = group_or_default(group);
  return done_or_throw(g->backend().scatter(output, inputs, g->group_rank(src), options), options);
}

WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs, ReduceOp op,
                       const GroupPtr& group, const CallOptions& options) {
  return done_or_throw(
      group_or_default(group)->backend().reduce_scatter(output, inputs, op, options), options);
}

WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input, ReduceOp op,
                              const GroupPtr& group, const CallOptions& options) {
  const GroupPtr g = group_or_default(group);
  return reduce_scatter(output, split("reduce_scatter_tensor", input, {}, g->size(), "the input"),
                        op, g, options);
}

WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                   const GroupPtr& group, const CallOptions& options) {
  return done_or_throw(group_or_default(group)->backend().all_to_all(outputs, inputs, options),
                       options);
}

WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                          std::vector<int64_t> output_splits, std::vector<int64_t> input_splits,
                          const GroupPtr& group, const CallOptions& options) {
  const GroupPtr g = group_or_default(group);
  return all_to_all(
      split("all_to_all_single", output, std::move(output_splits), g->size(), "the output"),
      split("all_to_all_single", input, std::move(input_splits), g->size(), "the input"), g,
      options);
}

WorkPtr isend(const Tensor& tensor, int dst, const GroupPtr& group, int tag) {
  const GroupPtr g = group_or_default(group);
  return g->backend().send(tensor, g->group_rank(dst), tag, {.async_op = true});
}

WorkPtr irecv(const Tensor& tensor, int src, const GroupPtr& group, int tag) {
  const GroupPtr g = group_or_default(group);
  return g->backend().recv(tensor, src < 0 ? -1 : g->group_rank(src), tag, {.async_op = true});
}

void send(const Tensor& tensor, int dst, const GroupPtr& group, int tag) {
  isend(tensor, dst, group, tag)->wait();
}

int recv(const Tensor& tensor, int src, const GroupPtr& group, int tag) {
  const GroupPtr g = group_or_default(group);
  const WorkPtr work = irecv(tensor, src, g, tag);
  work->wait();
  return g->global_ranks()[work->source_rank()];
}

WorkPtr barrier(const GroupPtr& group, const CallOptions& options) {
  return done_or_throw(group_or_default(group)->backend().barrier(options), options);
}

void monitored_barrier(const GroupPtr& group, Milliseconds timeout) {
  barrier(group, {.timeout = timeout});
}

std::vector<std::string> all_gather_object(const std::string& object, const GroupPtr& group) {
  const GroupPtr g = group_or_default(group);
  std::vector<Tensor> lengths, parts;
  for (int r = 0; r < g->size(); ++r) lengths.push_back(number(0));
  all_gather(lengths, number(static_cast<int64_t>(object.size())), g);
  for (const Tensor& n : lengths)
    parts.push_back(zeros({*n.data_ptr<int64_t>()}, TensorOptions(kByte)));
  all_gather(parts, bytes_tensor(object), g);
  std::vector<std::string> objects;
  for (const Tensor& part : parts) objects.push_back(string_of(part));
  return objects;
}

std::vector<std::string> gather_object(const std::string& object, int dst, const GroupPtr& group) {
  const GroupPtr g = group_or_default(group);
  const bool own = g->rank() == g->group_rank(dst);
  std::vector<Tensor> lengths, parts;
  for (int r = 0; own && r < g->size(); ++r) lengths.push_back(number(0));
  gather(number(static_cast<int64_t>(object.size())), lengths, dst, g);
  for (const Tensor& n : lengths)
    parts.push_back(zeros({*n.data_ptr<int64_t>()}, TensorOptions(kByte)));
  gather(bytes_tensor(object), parts, dst, g);
  std::vector<std::string> objects;
  for (const Tensor& part : parts) objects.push_back(string_of(part));
  return objects;
}

void broadcast_object_list(std::vector<std::string>& objects, int src, const GroupPtr& group) {
  const GroupPtr g = group_or_default(group);
  const Tensor lengths = zeros({static_cast<int64_t>(objects.size())}, TensorOptions(kLong));
  for (size_t i = 0; i < objects.size(); ++i)
    lengths.data_ptr<int64_t>()[i] = static_cast<int64_t>(objects[i].size());
  broadcast(lengths, src, g);
  std::string all;
  for (const std::string& object : objects) all += object;
  int64_t total = 0;
  for (size_t i = 0; i < objects.size(); ++i) total += lengths.data_ptr<int64_t>()[i];
  all.resize(static_cast<size_t>(total));  // changes nothing on src
  const Tensor bytes = bytes_tensor(all);
  broadcast(bytes, src, g);
  all = string_of(bytes);
  size_t at = 0;
  for (size_t i = 0; i < objects.size(); ++i) {
    const auto size = static_cast<size_t>(lengths.data_ptr<int64_t>()[i]);
    objects[i] = all.substr(at, size);
    at += size;
  }
}

std::string scatter_object_list(const std::vector<std::string>& objects, int src,
                                const GroupPtr& group) {
  const GroupPtr g = group_or_default(group);
  std::vector<Tensor> lengths, parts;
  if (g->rank() == g->group_rank(src)) {
    for (const std::string& object : objects) {
      lengths.push_back(number(static_cast<int64_t>(object.size())));
      parts.push_back(bytes_tensor(object));
    }
  }
  const Tensor length = number(0);
  scatter(length, lengths, src, g);
  const Tensor bytes = zeros({*length.data_ptr<int64_t>()}, TensorOptions(kByte));
  scatter(bytes, parts, src, g);
  return string_of(bytes);
}

void run_on_rank_0(const std::function<void()>& f, const GroupPtr& group) {
  const GroupPtr g = group_or_default(group);
  if (g->rank() == 0) {
    try {
      f();
    } catch (const std::exception& error) {
      g->backend().fail_next_collectives(error.what(), 1);
      throw;
    }
  }
  barrier(g);
}

void save_together(const std::function<std::string()>& write,
                   const std::function<void(const std::vector<std::string>&)>& commit,
                   const GroupPtr& group) {
  const GroupPtr g = group_or_default(group);
  std::string own;
  std::exception_ptr error;
  try {
    own = '+';
    own += write();
  } catch (const std::exception& e) {
    error = std::current_exception();
    own = std::string("-") + e.what();
  }
  std::vector<std::string> parts = all_gather_object(own, g);
  if (error) std::rethrow_exception(error);
  for (size_t r = 0; r < parts.size(); ++r) {
    TENON_CHECK_AS(DistBackendError, parts[r][0] == '+', "[save_together] rank ", r, ": ",
                   parts[r].substr(1));
    parts[r].erase(0, 1);
  }
  run_on_rank_0([&] { commit(parts); }, g);
}

void record(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& error) {
    std::vector<std::shared_ptr<Backend>> backends;
    {
      const std::lock_guard lock(world().mutex);
      for (const auto& one : world().backends) {
        if (auto backend = one.lock()) backends.push_back(std::move(backend));
      }
    }
    // What a collective threw, the others know already, or it is theirs alone.
    for (const auto& backend : backends) backend->abort(error.what());
    if (const char* file = std::getenv("TENON_RUN_ERROR_FILE")) std::ofstream(file) << error.what();
    throw;
  }
}

}  // namespace tenon::distributed
