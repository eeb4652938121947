// The backend "nccl": a library of its own, loaded when it is asked for.

#include <nccl.h>

#include <cstring>
#include <optional>

#include "aten/core/thread_state.h"
#include "aten/cuda/cuda_allocator.h"
#include "runtime/distributed/backends/host_backend.h"
#include "runtime/distributed/backends/nccl/communicator.h"
#include "tenon/ops/contiguous.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/view.h"

namespace tenon::distributed::detail {
namespace {

/// NCCL's type of an element, and how many of it one element of Tenon's is.
struct ElementType {
  ncclDataType_t type;
  size_t per = 1;
};

/// For what is only moved.
ElementType bytes_of(const Tensor& t) { return {ncclUint8, t.element_size()}; }

/// For reductions. NotImplementedError for what NCCL does not reduce.
ElementType reduced_type(ScalarType dtype, ReduceOp op, const char* what) {
  const bool adds = op == ReduceOp::SUM || op == ReduceOp::AVG;
  switch (dtype) {
  case kByte: return {ncclUint8};
  case kChar: return {ncclInt8};
  case kInt: return {ncclInt32};
  case kLong: return {ncclInt64};
  case kHalf: return {ncclFloat16};
  case kBFloat16: return {ncclBfloat16};
  case kFloat: return {ncclFloat32};
  case kDouble: return {ncclFloat64};
  case kBool: return {ncclUint8};
  case kComplexFloat:
    if (adds) return {ncclFloat32, 2};
    break;
  case kComplexDouble:
    if (adds) return {ncclFloat64, 2};
    break;
  default: break;
  }
  raise<NotImplementedError>("[", what, "] ", to_string(op), " of ", dtype,
                             " is nothing that NCCL does");
}

ncclRedOp_t reduction(ReduceOp op, ScalarType dtype, const char* what) {
  const bool boolean = dtype == kBool;  // 0 or 1: or is the larger, and is the smaller
  switch (op) {
  case ReduceOp::SUM: return boolean ? ncclMax : ncclSum;
  case ReduceOp::AVG: return ncclAvg;
  case ReduceOp::PRODUCT: return boolean ? ncclMin : ncclProd;
  case ReduceOp::MIN: return ncclMin;
  case ReduceOp::MAX: return ncclMax;
  case ReduceOp::BAND:
    if (boolean) return ncclMin;
    break;
  case ReduceOp::BOR:
    if (boolean) return ncclMax;
    break;
  default: break;
  }
  raise<NotImplementedError>("[", what, "] ", to_string(op), " of ", dtype,
                             " is nothing that NCCL does");
}

/// As HostBackend, and CUDA tensors by NCCL: agreement goes the same way, so that calls that differ
/// are an error on every rank, and then the collective is put into the stream of the group's
/// communicator, behind what the calling thread's current stream holds. Messages from rank to rank
/// go by way of the host: NCCL has no tags, and two ranks that send first would wait for each
/// other.
class NcclBackend final : public HostBackend {
 public:
  explicit NcclBackend(const BackendArguments& arguments)
      : HostBackend("nccl", arguments, make_host_engine(arguments)), store_(arguments.store) {}
  ~NcclBackend() override {
    close();
    communicator_.reset();
  }

  WorkPtr broadcast(const Tensor& tensor, int root, const CallOptions& options) override {
    if (!is_gpu("broadcast", tensor)) return HostBackend::broadcast(tensor, root, options);
    check_root("broadcast", root);
    Collective c(*this, "broadcast", {tensor}, {tensor});
    const ElementType e = bytes_of(tensor);
    return c.submit(concat("broadcast from rank ", root, " of ", describe(tensor)), options,
                    [c, e, root](ncclComm_t comm, cuda::Stream s) {
                      return ncclBroadcast(c.in(0), c.out(0), c.count(0) * e.per, e.type, root,
                                           comm, s);
                    });
  }

  WorkPtr all_reduce(const Tensor& tensor, ReduceOp op, const CallOptions& options) override {
    if (!is_gpu("all_reduce", tensor)) return HostBackend::all_reduce(tensor, op, options);
    const ElementType e = reduced(tensor, op, "all_reduce");
    Collective c(*this, "all_reduce", {tensor}, {tensor});
    return c.submit(concat("all_reduce(", to_string(op), ") of ", describe(tensor)), options,
                    [c, e, how = reduction(op, tensor.scalar_type(), "all_reduce")](
                        ncclComm_t comm, cuda::Stream s) {
                      return ncclAllReduce(c.in(0), c.out(0), c.count(0) * e.per, e.type, how, comm,
                                           s);
                    });
  }

  WorkPtr reduce(const Tensor& tensor, int root, ReduceOp op, const CallOptions& options) override {
    if (!is_gpu("reduce", tensor)) return HostBackend::reduce(tensor, root, op, options);
    check_root("reduce", root);
    const ElementType e = reduced(tensor, op, "reduce");
    // The others' tensors stay as they are.
    Collective c(*this, "reduce", {tensor},
                 rank() == root ? std::vector<Tensor>{tensor} : std::vector<Tensor>{});
    return c.submit(
        concat("reduce(", to_string(op), ") to rank ", root, " of ", describe(tensor)), options,
        [c, e, root, own = rank() == root,
         how = reduction(op, tensor.scalar_type(), "reduce")](ncclComm_t comm, cuda::Stream s) {
          return ncclReduce(c.in(0), own ? c.out(0) : nullptr, c.count(0) * e.per, e.type, how,
                            root, comm, s);
        });
  }

  WorkPtr all_gather(const std::vector<Tensor>& outputs, const Tensor& input,
                     const CallOptions& options) override {
    if (!is_gpu("all_gather", input)) return HostBackend::all_gather(outputs, input, options);
    check_count("all_gather", "outputs", outputs.size());
    return exchange("all_gather", concat("all_gather of ", input.scalar_type()),
                    std::vector<Tensor>(outputs.size(), input), outputs, options);
  }

  WorkPtr gather(const std::vector<Tensor>& outputs, const Tensor& input, int root,
                 const CallOptions& options) override {
    if (!is_gpu("gather", input)) return HostBackend::gather(outputs, input, root, options);
    check_root("gather", root);
    if (rank() == root) check_count("gather", "outputs", outputs.size());
    TENON_CHECK_VALUE(rank() == root || outputs.empty(), "[gather] outputs are rank ", root,
                      "'s alone, got ", outputs.size(), " on rank ", rank());
    std::vector<Tensor> inputs(static_cast<size_t>(size()));
    inputs[root] = input;
    return exchange("gather", concat("gather to rank ", root, " of ", input.scalar_type()), inputs,
                    rank() == root ? outputs : std::vector<Tensor>(inputs.size()), options);
  }

  WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root,
                  const CallOptions& options) override {
    if (!is_gpu("scatter", output)) return HostBackend::scatter(output, inputs, root, options);
    check_root("scatter", root);
    if (rank() == root) check_count("scatter", "inputs", inputs.size());
    TENON_CHECK_VALUE(rank() == root || inputs.empty(), "[scatter] inputs are rank ", root,
                      "'s alone, got ", inputs.size(), " on rank ", rank());
    std::vector<Tensor> outputs(static_cast<size_t>(size()));
    outputs[root] = output;
    return exchange("scatter", concat("scatter from rank ", root, " of ", output.scalar_type()),
                    rank() == root ? inputs : std::vector<Tensor>(outputs.size()), outputs,
                    options);
  }

  WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                     const CallOptions& options) override {
    check_count("all_to_all", "inputs", inputs.size());
    check_count("all_to_all", "outputs", outputs.size());
    if (!is_gpu("all_to_all", inputs[0])) return HostBackend::all_to_all(outputs, inputs, options);
    return exchange("all_to_all", concat("all_to_all of ", inputs[0].scalar_type()), inputs,
                    outputs, options);
  }

  WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs, ReduceOp op,
                         const CallOptions& options) override {
    if (!is_gpu("reduce_scatter", output))
      return HostBackend::reduce_scatter(output, inputs, op, options);
    check_count("reduce_scatter", "inputs", inputs.size());
    const ElementType e = reduced(output, op, "reduce_scatter");
    Collective c(*this, "reduce_scatter", inputs, {output});
    std::string text =
        concat("reduce_scatter(", to_string(op), ") of ", output.scalar_type(), " [");
    for (const Tensor& t : inputs) text += std::to_string(t.numel()) + ", ";
    TENON_CHECK_VALUE(output.numel() == inputs[rank()].numel(),
                      "[reduce_scatter] expected an output of ", inputs[rank()].numel(),
                      " elements, got ", output.numel());
    // Parts may have different sizes: one reduction for each rank, together.
    return c.submit(text + "]", options,
                    [c, e, own = rank(), ranks = size(),
                     how = reduction(op, output.scalar_type(), "reduce_scatter")](ncclComm_t comm,
                                                                                  cuda::Stream s) {
                      ncclGroupStart();
                      for (int r = 0; r < ranks; ++r)
                        ncclReduce(c.in(r), r == own ? c.out(0) : nullptr, c.count(r) * e.per,
                                   e.type, how, r, comm, s);
                      return ncclGroupEnd();
                    });
  }

 private:
  static bool is_gpu(const char* what, const Tensor& t) {
    TENON_CHECK_VALUE(t.defined(), "[", what, "] expected a tensor, got an undefined one");
    return t.is_cuda();
  }
  static std::string describe(const Tensor& t) { return concat(t.scalar_type(), " ", t.sizes()); }
  static ElementType reduced(const Tensor& t, ReduceOp op, const char* what) {
    reduce_function(op, t.scalar_type(), what);  // what is not defined is the same error everywhere
    return reduced_type(t.scalar_type(), op, what);
  }

  /// The tensors of one call. What is not contiguous goes through copies, made in the caller's
  /// stream and copied back in the communicator's.
  class Collective {
   public:
    Collective(NcclBackend& backend, const char* what, const std::vector<Tensor>& inputs,
               const std::vector<Tensor>& outputs)
        : backend_(backend), what_(what), state_(std::make_shared<State>()) {
      const NoGradGuard no_grad;
      State& s = *state_;
      const auto check = [&](const Tensor& t) {
        if (!t.defined()) return;
        if (!s.like.defined()) s.like = t;
        TENON_CHECK_VALUE(t.is_cuda() && t.device() == s.like.device(), "[", what,
                          "] expected all tensors on one GPU, got ", s.like.device(), " and ",
                          t.device());
        TENON_CHECK_TYPE(t.scalar_type() == s.like.scalar_type(), "[", what,
                         "] expected all tensors to have one dtype, got ", s.like.scalar_type(),
                         " and ", t.scalar_type());
      };
      for (const Tensor& t : inputs) check(t);
      for (const Tensor& t : outputs) check(t);
      const std::optional<DeviceIndex> used = backend.device_;
      TENON_CHECK_VALUE(!used || *used == s.like.device().index(), "[", what,
                        "] this rank's tensors are on cuda:", used.value_or(0),
                        " in this group, got one on ", s.like.device());
      backend.device_ = s.like.device().index();
      for (const Tensor& t : inputs) s.inputs.push_back(t.defined() ? t.detach().contiguous() : t);
      for (const Tensor& t : outputs) {
        s.targets.push_back(t);
        // One that is also an input is read from there.
        const bool direct = !t.defined() || t.is_contiguous();
        s.outputs.push_back(!t.defined() ? t
                            : direct     ? t.detach()
                                         : Tensor(empty(t.sizes(), t.scalar_type(), t.device())));
      }
      s.work = std::make_shared<GpuWork>(s.like.device().index());
      s.start.record(cuda::current_stream(s.like.device().index()));
    }

    const void* in(size_t i) const { return pointer(state_->inputs[i]); }
    void* out(size_t i) const { return pointer(state_->outputs[i]); }
    size_t count(size_t i) const { return number(state_->inputs[i]); }
    size_t out_count(size_t i) const { return number(state_->outputs[i]); }

    using Check = std::function<void(const std::vector<std::vector<int64_t>>&)>;
    WorkPtr submit(const std::string& text, const CallOptions& options,
                   std::function<ncclResult_t(ncclComm_t, cuda::Stream)> f,
                   std::vector<int64_t> sizes = {}, Check check = {}) const {
      Call call{.what = what_};
      call.header.text = text + " on GPUs";
      call.header.sizes = std::move(sizes);
      call.work = state_->work;
      if (check) {
        call.check = [check](const Peers& peers) {
          std::vector<std::vector<int64_t>> all;
          for (const Header& header : peers.headers) all.push_back(header.sizes);
          check(all);
        };
      }
      call.run = [state = state_, what = what_, backend = &backend_,
                  f = std::move(f)](const Peers&, Deadline deadline) {
        Communicator& c = backend->communicator(state->like.device().index(), deadline);
        c.launch(what, state->work, state->start, deadline, f, [&] {
          for (size_t i = 0; i < state->targets.size(); ++i) {
            const Tensor &target = state->targets[i], &result = state->outputs[i];
            if (target.defined() && !target.is_contiguous()) target.data().copy_(result);
          }
          // The memory is not given away before this stream has done with it.
          for (const auto* tensors : {&state->inputs, &state->outputs, &state->targets}) {
            for (const Tensor& t : *tensors)
              if (t.defined()) cuda::record_stream(t, c.stream());
          }
        });
      };
      return backend_.submit(std::move(call), options);
    }

   private:
    static void* pointer(const Tensor& t) {
      return t.defined() && t.numel() > 0 ? t.data_ptr() : nullptr;
    }
    static size_t number(const Tensor& t) {
      return t.defined() ? static_cast<size_t>(t.numel()) : 0;
    }
    struct State {
      Tensor like;
      std::vector<Tensor> inputs, outputs, targets;
      std::shared_ptr<GpuWork> work;
      cuda::Event start;
    };
    NcclBackend& backend_;
    const char* what_;
    std::shared_ptr<State> state_;
  };

  /// Every rank gives inputs[r] to rank r and takes outputs[r] from it; undefined ones are nothing.
  WorkPtr exchange(const char* what, const std::string& text, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& outputs, const CallOptions& options) {
    Collective c(*this, what, inputs, outputs);
    const auto ranks = static_cast<size_t>(size());
    std::vector<int64_t> sizes;
    for (size_t r = 0; r < ranks; ++r) sizes.push_back(static_cast<int64_t>(c.count(r)));
    for (size_t r = 0; r < ranks; ++r) sizes.push_back(static_cast<int64_t>(c.out_count(r)));
    size_t element = 1;
    for (const Tensor& t : inputs)
      if (t.defined()) element = t.element_size();
    for (const Tensor& t : outputs)
      if (t.defined()) element = t.element_size();
    return c.submit(
        text, options,
        [c, ranks, element](ncclComm_t comm, cuda::Stream s) {
          ncclGroupStart();
          for (size_t r = 0; r < ranks; ++r) {
            const int peer = static_cast<int>(r);
            if (c.count(r) > 0) ncclSend(c.in(r), c.count(r) * element, ncclUint8, peer, comm, s);
            if (c.out_count(r) > 0)
              ncclRecv(c.out(r), c.out_count(r) * element, ncclUint8, peer, comm, s);
          }
          return ncclGroupEnd();
        },
        sizes,
        [what, text, ranks](const std::vector<std::vector<int64_t>>& all) {
          for (size_t from = 0; from < ranks; ++from) {
            for (size_t to = 0; to < ranks; ++to) {
              const int64_t gives = all[from][to], takes = all[to][ranks + from];
              TENON_CHECK_AS(DistBackendError, gives == takes, "[", what, "] ", text, ": rank ",
                             from, " gives ", gives, " elements to rank ", to, ", which expects ",
                             takes);
            }
          }
        });
  }

  /// Made by all ranks at their first collective on GPUs.
  Communicator& communicator(DeviceIndex device, Deadline deadline) {
    if (communicator_) return *communicator_;
    ncclUniqueId id;
    const std::string key = "nccl_id";
    if (rank() == 0) {
      const ncclResult_t result = ncclGetUniqueId(&id);
      TENON_CHECK_AS(DistBackendError, result == ncclSuccess,
                     "[nccl] NCCL: ", ncclGetErrorString(result));
      store_->set(key, std::string(id.internal, sizeof id.internal));
    } else {
      while (!store_->wait_for({key}, Milliseconds(50))) {
        throw_if_failed("nccl");
        if (Clock::now() >= deadline) store_->wait({key}, Milliseconds(0));
      }
      const std::string bytes = store_->get(key);
      std::memcpy(id.internal, bytes.data(), std::min(bytes.size(), sizeof id.internal));
    }
    communicator_ = std::make_unique<Communicator>(
        id, rank(), size(), device,
        GroupHealth{[this](const std::string& what) { throw_if_failed(what); },
                    [this] { return has_failed(); },
                    [this](const std::string& text) { abort(text); }},
        deadline);
    return *communicator_;
  }

  const std::shared_ptr<Store> store_;
  std::optional<DeviceIndex> device_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace
}  // namespace tenon::distributed::detail

/// Called once, when the library has been loaded.
extern "C" TENON_API void tenon_register_backend() {
  using namespace tenon::distributed;
  register_backend("nccl", [](const BackendArguments& arguments) -> std::shared_ptr<Backend> {
    return std::make_shared<detail::NcclBackend>(arguments);
  });
}
