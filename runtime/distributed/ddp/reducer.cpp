#include "runtime/distributed/ddp/reducer.h"

#include <algorithm>
#include <limits>

#include "aten/core/thread_state.h"
#include "autograd/engine/accumulate_grad.h"
#include "autograd/engine/engine.h"
#include "autograd/function.h"
#include "runtime/distributed/ddp/buckets.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/zero.h"
#include "tenon/ops/zeros.h"

namespace tenon::distributed::detail {

using autograd::variable_list;

/// The identity. Its backward runs before all other nodes of the module, and in the pass that the
/// user has started: reentrant checkpoints start others within it.
struct OutputHook : autograd::Function<OutputHook> {
  static variable_list forward(autograd::AutogradContext* context,
                               const std::vector<Tensor>& outputs,
                               const std::shared_ptr<Reducer>& reducer) {
    context->set_materialize_grads(false);
    context->state = reducer;
    variable_list same;
    for (const Tensor& t : outputs) same.push_back(Tensor(make_detached(t)));
    return same;
  }
  static variable_list backward(autograd::AutogradContext* context, variable_list grads) {
    std::any_cast<const std::shared_ptr<Reducer>&>(context->state)->on_output();
    grads.push_back(Tensor());  // of the reducer
    return grads;
  }
};

Reducer::Reducer(std::vector<Parameter> parameters, const DistributedDataParallelOptions& options)
    : options_(options), mode_(graph_mode(options)), group_(options.group),
      parameters_(std::move(parameters)), divisor_(options.group->size()),
      used_here_(parameters_.size()), counts_(parameters_.size()),
      used_somewhere_(parameters_.size(), true), log_(options.group->rank()) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& tensor = parameters_[i].tensor;
    tensors.push_back(tensor);
    accumulators_.push_back(autograd::AccumulateGrad::of(tensor));
    hooks_.push_back(accumulators_[i]->add_post_hook(
        [this, i](const variable_list& given, const variable_list& taken) {
          taken[0].defined() ? on_gradient(i) : on_no_gradient(i);
          return given;
        }));
  }
  // Until the order of the gradients is known, one bucket is best: it waits for all of them.
  std::vector<size_t> limits{std::numeric_limits<size_t>::max()};
  if (finds_unused_in_each_pass())
    limits = {options_.first_bucket_bytes, static_cast<size_t>(options_.bucket_cap_mb * 1048576)};
  auto assignment = compute_bucket_assignment_by_size(tensors, limits);
  std::reverse(assignment.begin(), assignment.end());
  build(std::move(assignment));
}

Reducer::GraphMode Reducer::graph_mode(const DistributedDataParallelOptions& options) {
  if (options.static_graph)
    return options.find_unused_parameters ? GraphMode::kStaticWithUnused : GraphMode::kStatic;
  return options.find_unused_parameters ? GraphMode::kFindUnused : GraphMode::kAllUsed;
}

Reducer::~Reducer() {
  for (const autograd::HookHandle& hook : hooks_) hook.remove();
}

void Reducer::build(std::vector<std::vector<size_t>> assignment) {
  const NoGradGuard no_grad;
  assignment_ = std::move(assignment);
  buckets_.clear();
  place_.assign(parameters_.size(), {});
  timeline_.bucket_bytes.clear();
  for (const std::vector<size_t>& indices : assignment_) {
    Bucket bucket{.indices = indices};
    int64_t total = 0;
    for (const size_t i : indices) total += parameters_[i].tensor.numel();
    bucket.flat = zeros({total}, parameters_[indices[0]].tensor.options());
    int64_t offset = 0;
    for (size_t k = 0; k < indices.size(); ++k) {
      const Tensor& p = parameters_[indices[k]].tensor;
      const DimVector rows = contiguous_strides(p.sizes());
      const IntArrayRef strides =
          p.is_non_overlapping_and_dense() ? p.strides() : IntArrayRef(rows);
      bucket.views.push_back(Tensor(make_view(bucket.flat, p.sizes(), strides, offset)));
      place_[indices[k]] = {buckets_.size(), k};
      offset += p.numel();
    }
    timeline_.bucket_bytes.push_back(bucket.flat.nbytes());
    buckets_.push_back(std::move(bucket));
  }
}

void Reducer::rebuild() {
  rebuilt_ = true;
  // Rank 0's order, so that all have the same buckets; it may have had no gradients yet.
  Tensor order = zeros({static_cast<int64_t>(parameters_.size())}, TensorOptions(kLong));
  auto* numbers = order.data_ptr<int64_t>();
  const auto& own = timeline_.ready_order;
  for (size_t i = 0; i < parameters_.size(); ++i)
    numbers[i] = own.size() == parameters_.size()
                     ? static_cast<int64_t>(own[i])
                     : static_cast<int64_t>(parameters_.size() - 1 - i);
  group_->backend().broadcast(order, 0, {})->wait();
  std::vector<Tensor> tensors;
  for (const Parameter& p : parameters_) tensors.push_back(p.tensor);
  build(compute_bucket_assignment_by_size(
      tensors, {options_.first_bucket_bytes, static_cast<size_t>(options_.bucket_cap_mb * 1048576)},
      std::vector<size_t>(numbers, numbers + parameters_.size())));
}

void Reducer::prepare_for_forward() {
  forward_ = std::chrono::steady_clock::now();
  if (active_) {
    // The pass ended with an exception; others wait for the rest of its reductions.
    fail_pass("its backward pass ended with an error");
  }
  if (!rebuilt_ && !finds_unused_in_each_pass() && has_reduced_) rebuild();
}

std::vector<Tensor> Reducer::prepare_for_backward(std::vector<Tensor> outputs) {
  std::vector<Tensor> differentiable;
  for (const Tensor& t : outputs) {
    if (t.defined() && t.requires_grad()) differentiable.push_back(t);
  }
  if (differentiable.empty()) return outputs;
  const variable_list hooked = OutputHook::apply(differentiable, shared_from_this());
  size_t next = 0;
  for (Tensor& t : outputs) {
    if (t.defined() && t.requires_grad()) t = hooked[next++];
  }
  return outputs;
}

void Reducer::register_comm_hook(CommHook hook) {
  TENON_CHECK(!comm_hook_, "[register_comm_hook] there is a hook already");
  TENON_CHECK(hook, "[register_comm_hook] expected a function");
  comm_hook_ = std::move(hook);
}

int64_t Reducer::now() const {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
}

void Reducer::on_output() {
  // Another output of the same pass, of this forward call or of another one.
  if (active_ && pass_ == autograd::current_pass_id()) return;
  // grad(), or backward() to chosen leaves. Of another pass nothing is known: there may be
  // reentrant checkpoints.
  const bool accumulates =
      !autograd::current_task_is_pruned ||
      std::any_of(accumulators_.begin(), accumulators_.end(),
                  [](const auto& accumulator) { return autograd::will_apply(*accumulator); });
  if (!accumulates) {
    has_gradient_graph_ = has_gradient_graph_ || GradMode::is_enabled();
    return;
  }
  begin_in_pass();
  if (!finds_unused_in_each_pass()) return;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!autograd::will_apply(*accumulators_[i])) mark_ready(i);
  }
}

void Reducer::begin_in_pass() {
  TENON_CHECK(!active_, "[DistributedDataParallel] expected the reduction of one backward pass to "
                        "be over before another begins; a pass within a pass needs no_sync()");
  begin();
  autograd::queue_callback([self = shared_from_this()] { self->finalize(); });
  if (!is_static() || !counted_) return;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (counts_[i] == 0) mark_ready(i);
  }
}

void Reducer::begin() {
  active_ = true;
  pass_ = autograd::current_pass_id();
  has_gradient_graph_ = false;
  start_ = std::chrono::steady_clock::now();
  next_bucket_ = 0;
  ready_.assign(parameters_.size(), false);
  left_ = counts_;
  timeline_.launched.clear();
  timeline_.reduced.clear();
  timeline_.ready_order.clear();
  const std::chrono::nanoseconds before = start_ - forward_;
  timeline_.forward = before.count();
  timeline_.began = std::chrono::nanoseconds(start_.time_since_epoch()).count();
  for (Bucket& bucket : buckets_) {
    bucket.pending = bucket.indices.size();
    bucket.work = nullptr;
    bucket.finish = nullptr;
  }
  used_work_ = nullptr;
}

void Reducer::on_gradient(size_t index) {
  used_here_[index] = true;
  if (!active_ && has_gradient_graph_) begin_in_pass();
  if (!active_) return;
  if (is_static()) {
    if (!counted_) {
      ++counts_[index];
      if (counts_[index] == 1) timeline_.ready_order.push_back(index);
      return;
    }
    if (--left_[index] > 0) return;
    TENON_CHECK(left_[index] == 0,
                "[DistributedDataParallel] the graph has changed since the first iteration, which "
                "static_graph promises it does not: parameter ",
                parameters_[index].name, " has more gradients than the ", counts_[index],
                " of then");
  }
  TENON_CHECK(!ready_[index],
              "[DistributedDataParallel] expected each parameter to have one "
              "gradient in a pass, got a second one of ",
              parameters_[index].name, " (number ", index,
              "): it is used in several reentrant checkpoints or passes; set static_graph if that "
              "is so in every iteration");
  timeline_.ready_order.push_back(index);
  timeline_.last_gradient = now();
  mark_ready(index);
}

void Reducer::on_no_gradient(size_t index) {
  if (active_ && finds_unused_in_each_pass() && !ready_[index]) mark_ready(index);
}

void Reducer::mark_ready(size_t index) {
  ready_[index] = true;
  const NoGradGuard no_grad;
  Bucket& bucket = buckets_[place_[index].first];
  bucket.ordering.use(bucket.flat);
  Tensor& view = bucket.views[place_[index].second];
  Tensor& grad = parameters_[index].tensor.mutable_grad();
  // A parameter without a gradient from this pass may have one from passes under no_sync().
  if (!grad.defined()) {
    view.zero_();
  } else if (grad.data_ptr() == view.data_ptr()) {
    if (!comm_hook_) view.mul_(1.0 / divisor_);
  } else {
    if (comm_hook_) {
      view.copy_(grad);
    } else {
      mul_out(view, grad, Scalar(1.0 / divisor_));
    }
    if (options_.gradient_as_bucket_view) grad = view;
  }
  --bucket.pending;
  launch_ready();
}

void Reducer::launch_ready() {
  while (next_bucket_ < buckets_.size() && buckets_[next_bucket_].pending == 0) {
    timeline_.launched.push_back(now());
    launch(buckets_[next_bucket_++]);
    if (next_bucket_ == buckets_.size()) launch_used_map();
  }
}

void Reducer::launch(Bucket& bucket) {
  if (!comm_hook_) {
    bucket.work = group_->backend().all_reduce(bucket.flat, ReduceOp::SUM, {.async_op = true});
    bucket.reduced = std::make_shared<std::atomic<int64_t>>(0);
    bucket.work->then([done = bucket.reduced, start = start_] {
      *done = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    });
    return;
  }
  GradBucket seen{
      next_bucket_ - 1, next_bucket_ == buckets_.size(), bucket.flat, bucket.views, {}, group_};
  for (const size_t i : bucket.indices) seen.parameters.push_back(parameters_[i].tensor);
  bucket.finish = comm_hook_(seen);
}

void Reducer::launch_used_map() {
  if (!sends_used_map()) return;
  used_map_ = zeros({static_cast<int64_t>(parameters_.size())}, TensorOptions(kInt));
  for (size_t i = 0; i < parameters_.size(); ++i)
    used_map_.data_ptr<int32_t>()[i] = used_here_[i] ? 1 : 0;
  used_work_ = group_->backend().all_reduce(used_map_, ReduceOp::SUM, {.async_op = true});
}

std::string Reducer::names_of(const std::vector<size_t>& indices) const {
  std::string text;
  for (const size_t i : indices)
    text += concat(text.empty() ? "" : ", ", parameters_[i].name, " (number ", i, ")");
  return text;
}

void Reducer::finalize() {
  if (is_static() && !counted_) finalize_first_static();
  if (finds_unused_in_each_pass()) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!ready_[i]) mark_ready(i);
    }
  }
  std::vector<size_t> missing;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!ready_[i]) missing.push_back(i);
  }
  if (!missing.empty()) {
    const std::string text =
        is_static() && counted_
            ? concat("the graph has changed since the first iteration, which static_graph promises "
                     "it does not: no gradient for ",
                     names_of(missing))
            : concat("no gradient for parameters that were not used in producing the loss: ",
                     names_of(missing), "; find_unused_parameters allows that");
    fail_pass(text);
    raise<DistBackendError>("[DistributedDataParallel] rank ", group_->rank(), ": ", text);
  }
  complete();
}

void Reducer::finalize_first_static() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (counts_[i] > 0 || may_have_unused()) mark_ready(i);
  }
  timeline_.last_gradient = now();
}

void Reducer::fail_pass(const std::string& text) {
  size_t count = buckets_.size() - next_bucket_;
  if (sends_used_map() && !used_work_) ++count;
  // The collectives of a communication hook are unknown here, so they cannot be failed one by one.
  if (comm_hook_) {
    group_->backend().abort(text);
  } else {
    group_->backend().fail_next_collectives(text, static_cast<int>(count));
  }
  end_pass();  // its errors are those just caused, or one that the next collective reports
  if (!counted_) counts_.assign(parameters_.size(), 0);
}

void Reducer::complete() {
  if (const std::exception_ptr error = end_pass()) {
    if (!counted_) counts_.assign(parameters_.size(), 0);
    std::rethrow_exception(error);
  }
  has_reduced_ = true;
  if (is_static()) counted_ = true;
  used_here_.assign(parameters_.size(), false);
  for (Bucket& bucket : buckets_) copy_out(bucket);
  log_.add(timeline_);
}

std::exception_ptr Reducer::end_pass() {
  active_ = false;
  std::exception_ptr first;
  const auto attempt = [&](auto&& f) {
    try {
      f();
    } catch (const DistError&) {
      if (!first) first = std::current_exception();
    } catch (const std::exception& error) {
      // This rank's own: a hook's, or somebody no longer waits. Others would wait for it.
      if (!first) first = std::current_exception();
      group_->backend().abort(error.what());
    }
  };
  for (Bucket& bucket : buckets_) {
    attempt([&] {
      bucket.ordering.use(bucket.flat);
      if (bucket.work) bucket.work->wait();
      if (bucket.finish) bucket.finish();
    });
    // Whoever waits may be woken before the note is made.
    const int64_t done = bucket.reduced ? bucket.reduced->load() : 0;
    timeline_.reduced.push_back(done > 0 ? done : now());
    bucket.work = nullptr;
    bucket.finish = nullptr;
    bucket.reduced = nullptr;
  }
  if (used_work_) {
    attempt([&] {
      used_work_->wait();
      for (size_t i = 0; i < parameters_.size(); ++i)
        used_somewhere_[i] = used_map_.data_ptr<int32_t>()[i] > 0;
    });
  }
  used_work_ = nullptr;
  timeline_.finished = now();
  return first;
}

void Reducer::copy_out(Bucket& bucket) {
  const NoGradGuard no_grad;
  for (size_t k = 0; k < bucket.indices.size(); ++k) {
    const size_t i = bucket.indices[k];
    if (may_have_unused() && !used_somewhere_[i]) continue;
    Tensor& grad = parameters_[i].tensor.mutable_grad();
    const Tensor& view = bucket.views[k];
    if (options_.gradient_as_bucket_view) {
      grad = view;
    } else if (grad.defined()) {
      grad.copy_(view);
    } else {
      grad = Tensor(empty_strided(view.sizes(), view.strides(), view.scalar_type(), view.device()));
      grad.copy_(view);
    }
  }
}

void Reducer::shadow_backward() {
  begin();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Bucket& bucket = buckets_[place_[i].first];
    bucket.ordering.use(bucket.flat);
    bucket.views[place_[i].second].zero_();
    ready_[i] = true;
    if (--bucket.pending == 0) launch_ready();
  }
  complete();
}

}  // namespace tenon::distributed::detail
