#include "runtime/distributed/ddp/replica.h"

#include <sstream>

#include "aten/core/thread_state.h"
#include "tenon/ops/zeros.h"

namespace tenon::distributed::detail {
namespace {

/// What of a model must be the same on all ranks, a line for each parameter and buffer.
std::string describe(const Replica::Named& parameters, const Replica::Named& buffers) {
  std::string text;
  const auto add = [&](const char* what, const Replica::Named& all) {
    for (const auto& [name, t] : all) {
      text +=
          concat(what, " ", name, ": ", t.scalar_type(), " ", t.sizes(), ", strides ", t.strides(),
                 t.is_cpu() ? std::string() : concat(", on ", to_string(t.device().type())),
                 t.requires_grad() ? ""
                 : *what == 'p'    ? ", without gradient"
                                   : "",
                 "\n");
    }
  };
  add("parameter", parameters);
  add("buffer", buffers);
  return text;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void check_same_model(const std::string& own, const GroupPtr& group) {
  const std::vector<std::string> all = all_gather_object(own, group);
  const std::vector<std::string> first = split_lines(all[0]);
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    const std::vector<std::string> theirs = split_lines(all[r]);
    size_t i = 0;
    while (i < first.size() && i < theirs.size() && first[i] == theirs[i]) ++i;
    raise<DistBackendError>("[DistributedDataParallel] expected the same model on all ranks; rank "
                            "0 has ",
                            first.size(), " parameters and buffers, rank ", r, " has ",
                            theirs.size(), "; the first that differs: rank 0 has ",
                            i < first.size() ? first[i] : std::string("no more"), "; rank ", r,
                            " has ", i < theirs.size() ? theirs[i] : std::string("no more"));
  }
}

}  // namespace

Replica::Replica(const std::string& name, Named parameters, const Named& buffers,
                 DistributedDataParallelOptions options)
    : options_(std::move(options)) {
  if (!options_.group) options_.group = default_group();
  std::vector<Reducer::Parameter> trained;
  for (const auto& [key, tensor] : parameters) {
    parameters_.push_back(tensor);
    if (!tensor.requires_grad()) continue;
    TENON_CHECK_NOT_IMPLEMENTED(tensor.is_cpu() || tensor.is_cuda(),
                                "[DistributedDataParallel] parameter ", key, " is on ",
                                tensor.device(), "; only those of CPUs and GPUs are reduced");
    trained.push_back({key, tensor});
  }
  TENON_CHECK_VALUE(options_.bucket_cap_mb > 0,
                    "[DistributedDataParallel] expected a positive bucket_cap_mb, got ",
                    options_.bucket_cap_mb);
  TENON_CHECK_VALUE(!trained.empty(), "[DistributedDataParallel] ", name,
                    " has no parameter that requires a gradient");
  if (options_.init_sync) {
    check_same_model(describe(parameters, buffers), options_.group);
    std::vector<Tensor> all = parameters_;
    for (const auto& [key, tensor] : buffers) all.push_back(tensor);
    broadcast_all(all, 0);
  }
  reducer_ = std::make_shared<Reducer>(std::move(trained), options_);
}

void Replica::broadcast_all(const std::vector<Tensor>& tensors, int src) const {
  broadcast_coalesced(tensors, options_.group->global_ranks()[src], options_.group);
}

bool Replica::requires_grad_sync() const { return sync_ && GradMode::is_enabled(); }

void Replica::before_forward(const std::vector<Tensor>& buffers) {
  // A pass without gradients, or under no_sync(), is this rank's own affair.
  if (!requires_grad_sync()) return;
  const int src = joining_ ? find_active(true) : 0;
  reducer_->prepare_for_forward();
  if (options_.broadcast_buffers) broadcast_all(buffers, src);
}

int Replica::find_active(bool active) {
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

void Replica::begin_join(const JoinOptions& options) {
  TENON_CHECK(!joining_, "[join] a join of this module is under way");
  joining_ = options;
}

void Replica::finish_join(const std::vector<Tensor>& buffers) {
  TENON_CHECK(joining_, "[join] no join of this module is under way");
  // A rank that shadows no iteration made the last one itself.
  bool is_last = true;
  while (shadow_iteration(buffers)) is_last = false;
  agree_with_last(is_last, buffers);
}

bool Replica::shadow_iteration(const std::vector<Tensor>& buffers) {
  TENON_CHECK(joining_, "[join] no join of this module is under way");
  const int src = find_active(false);
  if (src < 0) return false;
  reducer_->prepare_for_forward();
  if (options_.broadcast_buffers) broadcast_all(buffers, src);
  reducer_->shadow_backward();
  return true;
}

void Replica::agree_with_last(bool is_last, const std::vector<Tensor>& buffers) {
  const Tensor last = zeros({1}, TensorOptions(kInt));
  *last.data_ptr<int32_t>() = is_last ? options_.group->rank() : -1;
  options_.group->backend().all_reduce(last, ReduceOp::MAX, {})->wait();
  std::vector<Tensor> all = parameters_;
  all.insert(all.end(), buffers.begin(), buffers.end());
  broadcast_all(all, *last.data_ptr<int32_t>());
}

void Replica::end_join() {
  joining_.reset();
  reducer_->set_divisor(options_.group->size());
}

}  // namespace tenon::distributed::detail
