#include "runtime/distributed/distributed_data_parallel.h"

#include <sstream>

#include "aten/core/thread_state.h"
#include "tenon/ops/zeros.h"

namespace tenon::distributed {
namespace {

GroupPtr group_of(const DistributedDataParallelOptions& options) {
  return options.group ? options.group : default_group();
}

/// What of a model must be the same on all ranks, a line for each parameter and buffer.
std::vector<std::string> describe(const nn::Module& module) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const OrderedDict<std::string, Tensor>& all) {
    for (const auto& item : all) {
      const Tensor& t = item.value();
      lines.push_back(detail::concat(what, " ", item.key(), ": ", t.scalar_type(), " ", t.sizes(),
                                     ", strides ", t.strides(),
                                     t.requires_grad() ? ""
                                     : *what == 'p'    ? ", without gradient"
                                                       : ""));
    }
  };
  add("parameter", module.named_parameters());
  add("buffer", module.named_buffers());
  return lines;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

constexpr const char* kPrefix = "module.";

}  // namespace

DistributedDataParallelBase::DistributedDataParallelBase(std::shared_ptr<nn::Module> module,
                                                         DistributedDataParallelOptions options)
    : nn::Module("DistributedDataParallel"), wrapped_(std::move(module)), options_(options) {
  options_.group = group_of(options);
  register_module("module", wrapped_);
  std::vector<detail::Reducer::Parameter> parameters;
  for (const auto& item : wrapped_->named_parameters()) {
    if (!item.value().requires_grad()) continue;
    TENON_CHECK_NOT_IMPLEMENTED(item.value().is_cpu(), "[DistributedDataParallel] parameter ",
                                item.key(), " is on ", item.value().device(),
                                "; only those of the CPU are reduced");
    parameters.push_back({item.key(), item.value()});
  }
  TENON_CHECK_VALUE(options_.bucket_cap_mb > 0,
                    "[DistributedDataParallel] expected a positive bucket_cap_mb, got ",
                    options_.bucket_cap_mb);
  TENON_CHECK_VALUE(!parameters.empty(), "[DistributedDataParallel] ", wrapped_->name(),
                    " has no parameter that requires a gradient");
  check_same_model();
  broadcast_state(0, true);
  reducer_ = std::make_unique<detail::Reducer>(std::move(parameters), options_);
}

void DistributedDataParallelBase::check_same_model() const {
  const std::vector<std::string> own = describe(*wrapped_);
  std::string text;
  for (const std::string& line : own) text += line + "\n";
  const std::vector<std::string> all = all_gather_object(text, options_.group);
  const std::vector<std::string> first = split_lines(all[0]);
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    const std::vector<std::string> theirs = split_lines(all[r]);
    size_t i = 0;
    while (i < first.size() && i < theirs.size() && first[i] == theirs[i]) ++i;
    detail::raise<DistBackendError>(
        "[DistributedDataParallel] expected the same model on all ranks; rank 0 has ", first.size(),
        " parameters and buffers, rank ", r, " has ", theirs.size(),
        "; the first that differs: rank 0 has ",
        i < first.size() ? first[i] : std::string("no more"), "; rank ", r, " has ",
        i < theirs.size() ? theirs[i] : std::string("no more"));
  }
}

void DistributedDataParallelBase::broadcast_state(int src, bool parameters) const {
  // Those without gradients as well: they are part of the model.
  std::vector<WorkPtr> works;
  const auto send = [&](const Tensor& t) {
    works.push_back(options_.group->backend().broadcast(t, src, {.async_op = true}));
  };
  if (parameters) {
    for (const Tensor& t : wrapped_->parameters()) send(t);
  }
  for (const Tensor& t : wrapped_->buffers()) send(t);
  for (const WorkPtr& work : works) work->wait();
}

bool DistributedDataParallelBase::is_watching() const { return sync_ && GradMode::is_enabled(); }

void DistributedDataParallelBase::before_forward() {
  // A pass without gradients, or under no_sync(), is this rank's own affair.
  if (!is_watching()) return;
  const int src = joining_ ? find_active(true) : 0;
  reducer_->prepare_for_forward();
  if (options_.broadcast_buffers) broadcast_state(src, false);
}

int DistributedDataParallelBase::find_active(bool active) {
  const int size = options_.group->size();
  const Tensor map = zeros({size}, TensorOptions(kInt));
  const auto* entries = map.data_ptr<int32_t>();
  map.data_ptr<int32_t>()[options_.group->rank()] = active ? 1 : 0;
  options_.group->backend().all_reduce(map, ReduceOp::SUM, {})->wait();
  int count = 0, last = -1;
  std::string through;
  for (int r = 0; r < size; ++r) {
    if (entries[r]) {
      ++count;
      last = r;
    } else {
      through += (through.empty() ? "" : ", ") + std::to_string(r);
    }
  }
  TENON_CHECK_AS(DistBackendError,
                 !joining_->throw_on_early_termination || count == 0 || count == size,
                 "[join] ranks that have run out of inputs before others: ", through);
  if (count > 0) reducer_->set_divisor(joining_->divide_by_initial_world_size ? size : count);
  return last;
}

void DistributedDataParallelBase::join(const std::function<void()>& f, const JoinOptions& options) {
  TENON_CHECK(!joining_, "[join] a join of this module is under way");
  joining_ = options;
  struct Leave {
    DistributedDataParallelBase& self;
    ~Leave() {
      self.joining_.reset();
      self.reducer_->set_divisor(self.options_.group->size());
    }
  } leave{*this};
  f();
  // Ranks that need not stand in for others made the last iteration themselves.
  bool shadowed = false;
  for (int src = find_active(false); src >= 0; src = find_active(false)) {
    shadowed = true;
    reducer_->prepare_for_forward();
    if (options_.broadcast_buffers) broadcast_state(src, false);
    reducer_->shadow_backward();
  }
  const Tensor last = zeros({1}, TensorOptions(kInt));
  *last.data_ptr<int32_t>() = shadowed ? -1 : options_.group->rank();
  options_.group->backend().all_reduce(last, ReduceOp::MAX, {})->wait();
  broadcast_state(*last.data_ptr<int32_t>(), true);
}

nn::StateDict DistributedDataParallelBase::module_state_dict() const {
  return wrapped_->state_dict();
}

void DistributedDataParallelBase::load_state_dict(const nn::StateDict& state, bool strict) {
  nn::StateDict without;
  for (const auto& item : state)
    without.insert(item.key().starts_with(kPrefix) ? item.key().substr(7) : item.key(),
                   item.value());
  wrapped_->load_state_dict(without, strict);
}

}  // namespace tenon::distributed
