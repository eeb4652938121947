#include "runtime/distributed/ddp/distributed_data_parallel.h"

namespace tenon::distributed {
namespace {

constexpr std::string_view kPrefix = "module.";

detail::Replica::Named named(const OrderedDict<std::string, Tensor>& all) {
  detail::Replica::Named list;
  for (const auto& item : all) list.emplace_back(item.key(), item.value());
  return list;
}

}  // namespace

DistributedDataParallelBase::DistributedDataParallelBase(std::shared_ptr<nn::Module> module,
                                                         DistributedDataParallelOptions options)
    : nn::Module("DistributedDataParallel"), wrapped_(std::move(module)),
      replica_(wrapped_->name(), named(wrapped_->named_parameters()),
               named(wrapped_->named_buffers()), std::move(options)) {
  register_module("module", wrapped_);
}

void DistributedDataParallelBase::before_forward() {
  if (requires_grad_sync()) replica_.before_forward(wrapped_->buffers());
}

void DistributedDataParallelBase::join(const std::function<void()>& f, const JoinOptions& options) {
  replica_.begin_join(options);
  struct Leave {
    detail::Replica& replica;
    ~Leave() { replica.end_join(); }
  } leave{replica_};
  f();
  replica_.finish_join(wrapped_->buffers());
}

nn::StateDict DistributedDataParallelBase::module_state_dict() const {
  return wrapped_->state_dict();
}

void DistributedDataParallelBase::load_state_dict(const nn::StateDict& state, bool strict) {
  nn::StateDict without;
  for (const auto& item : state)
    without.insert(item.key().starts_with(kPrefix) ? item.key().substr(kPrefix.size()) : item.key(),
                   item.value());
  wrapped_->load_state_dict(without, strict);
}

}  // namespace tenon::distributed
