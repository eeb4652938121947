// NCCL's collectives by their definition, for ranks that are threads of this process: what ranks
// have asked for is done at once, in the last one's stream, when all their streams have come so
// far.
#include "nccl.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "tests/cuda_emulation/emulator.h"

namespace {

using cuda_emulation::mutex;

enum class Kind : uint8_t { Broadcast, AllReduce, Reduce, Send, Receive };
struct Call {
  Kind kind;
  const void* in;
  void* out;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;  // or the root
};
/// What a rank asks for at once: one call, or those of a group.
struct Batch {
  std::vector<Call> calls;
  cudaStream_t stream = nullptr;
};
struct World {
  std::vector<std::deque<Batch>> waiting;  // by rank
  int joined = 0;
  bool aborted = false;
};

std::map<std::string, std::shared_ptr<World>>& worlds() {
  static auto* all = new std::map<std::string, std::shared_ptr<World>>;
  return *all;
}
ncclResult_t async_error = ncclSuccess;

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank;
  int device;
};

namespace {

size_t size_of(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8: return 1;
  case ncclFloat16:
  case ncclBfloat16: return 2;
  case ncclInt32:
  case ncclFloat32: return 4;
  default: return 8;
  }
}

template <class T>
T combined(T a, T b, ncclRedOp_t op) {
  switch (op) {
  case ncclProd: return static_cast<T>(a * b);
  case ncclMax: return a < b ? b : a;
  case ncclMin: return b < a ? b : a;
  default: return static_cast<T>(a + b);
  }
}

struct Half {
  using Bits = __half;
  static float load(Bits x) { return __half2float(x); }
  static Bits store(float x) { return __float2half_rn(x); }
};
struct BFloat {
  using Bits = __nv_bfloat16;
  static float load(Bits x) { return __bfloat162float(x); }
  static Bits store(float x) { return __float2bfloat16_rn(x); }
};
template <class T>
struct Plain {
  using Bits = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};

template <class Type>
void reduce_as(const std::vector<const void*>& in, void* out, size_t count, ncclRedOp_t op) {
  using Bits = typename Type::Bits;
  for (size_t i = 0; i < count; ++i) {
    auto x = Type::load(static_cast<const Bits*>(in[0])[i]);
    for (size_t r = 1; r < in.size(); ++r)
      x = combined(x, Type::load(static_cast<const Bits*>(in[r])[i]), op);
    if (op == ncclAvg) x = static_cast<decltype(x)>(x / static_cast<decltype(x)>(in.size()));
    static_cast<Bits*>(out)[i] = Type::store(x);
  }
}

void reduce(const std::vector<const void*>& in, void* out, size_t count, ncclDataType_t type,
            ncclRedOp_t op) {
  switch (type) {
  case ncclInt8: return reduce_as<Plain<int8_t>>(in, out, count, op);
  case ncclUint8: return reduce_as<Plain<uint8_t>>(in, out, count, op);
  case ncclInt32: return reduce_as<Plain<int32_t>>(in, out, count, op);
  case ncclInt64: return reduce_as<Plain<int64_t>>(in, out, count, op);
  case ncclFloat16: return reduce_as<Half>(in, out, count, op);
  case ncclBfloat16: return reduce_as<BFloat>(in, out, count, op);
  case ncclFloat32: return reduce_as<Plain<float>>(in, out, count, op);
  case ncclFloat64: return reduce_as<Plain<double>>(in, out, count, op);
  }
}

void check(const Call& call, int device) {
  const size_t bytes = call.count * size_of(call.type);
  if (call.in) cuda_emulation::check_device_range(device, call.in, bytes, "the input of NCCL");
  if (call.out) cuda_emulation::check_device_range(device, call.out, bytes, "the output of NCCL");
}

/// All ranks' batches, with the devices they are for.
void carry_out(const std::vector<Batch>& batches) {
  const size_t ranks = batches.size();
  for (const Batch& batch : batches) {
    for (const Call& call : batch.calls) check(call, cuda_emulation::device_of(batch.stream));
  }
  // Results are written when everything has been read: outputs may be others' inputs.
  std::vector<std::pair<void*, std::string>> results;
  const auto write = [&](void* to, std::string bytes) {
    results.emplace_back(to, std::move(bytes));
  };
  const auto bytes_at = [](const void* data, size_t bytes) {
    return bytes ? std::string(static_cast<const char*>(data), bytes) : std::string();
  };
  std::map<std::pair<size_t, size_t>, std::deque<const Call*>> messages;
  for (size_t r = 0; r < ranks; ++r) {
    for (const Call& call : batches[r].calls)
      if (call.kind == Kind::Send) messages[{r, call.peer}].push_back(&call);
  }
  for (size_t r = 0; r < ranks; ++r) {
    for (size_t i = 0; i < batches[r].calls.size(); ++i) {
      const Call& call = batches[r].calls[i];
      const size_t bytes = call.count * size_of(call.type);
      if (call.kind == Kind::Receive) {
        auto& from = messages[{static_cast<size_t>(call.peer), r}];
        if (from.empty() || from.front()->count != call.count)
          cuda_emulation::fail("NCCL: a message that nobody sends, or of another size");
        write(call.out, bytes_at(from.front()->in, bytes));
        from.pop_front();
      } else if (call.kind != Kind::Send) {
        std::vector<const void*> in;
        for (const Batch& batch : batches) {
          if (i >= batch.calls.size() || batch.calls[i].kind != call.kind ||
              batch.calls[i].count != call.count || batch.calls[i].type != call.type ||
              batch.calls[i].peer != call.peer || batch.calls[i].op != call.op)
            cuda_emulation::fail("NCCL: the ranks make different calls");
          in.push_back(batch.calls[i].in);
        }
        if (call.kind == Kind::Broadcast) {
          write(call.out, bytes_at(in[call.peer], bytes));
        } else if (call.kind == Kind::AllReduce || call.peer == static_cast<int>(r)) {
          std::string result(bytes, 0);
          reduce(in, result.data(), call.count, call.type, call.op);
          write(call.out, std::move(result));
        }
      }
    }
  }
  for (const auto& [to, bytes] : results)
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

/// The ranks that `rank`'s next batch needs: all for a collective, those that messages go to and
/// come from, and whom these need. Empty if one of them has not asked yet.
std::vector<bool> needed(const World& world, size_t rank) {
  std::vector<bool> members(world.waiting.size());
  std::vector<size_t> open{rank};
  while (!open.empty()) {
    const size_t r = open.back();
    open.pop_back();
    if (members[r]) continue;
    members[r] = true;
    if (world.waiting[r].empty()) return {};
    for (const Call& call : world.waiting[r].front().calls) {
      if (call.kind == Kind::Send || call.kind == Kind::Receive) {
        open.push_back(static_cast<size_t>(call.peer));
      } else {
        for (size_t other = 0; other < members.size(); ++other) open.push_back(other);
      }
    }
  }
  return members;
}

/// Puts into the streams what `rank` has asked for, when those whom it needs have as well.
void issue(World& world, size_t rank) {
  const std::vector<bool> members = needed(world, rank);
  if (members.empty()) return;
  std::vector<Batch> batches(members.size());
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  const cudaStream_t first = world.waiting[rank].front().stream;
  for (size_t r = 0; r < members.size(); ++r) {
    if (!members[r]) continue;
    batches[r] = std::move(world.waiting[r].front());
    world.waiting[r].pop_front();
    cudaEventRecord(event, batches[r].stream);
    cudaStreamWaitEvent(first, event, 0);
  }
  cuda_emulation::submit(first, [batches] { carry_out(batches); });
  cudaEventRecord(event, first);
  for (const Batch& batch : batches)
    if (batch.stream && batch.stream != first) cudaStreamWaitEvent(batch.stream, event, 0);
  cudaEventDestroy(event);
}

thread_local int group_depth = 0;
thread_local std::vector<Call> group_calls;
thread_local ncclComm_t group_comm = nullptr;
thread_local cudaStream_t group_stream = nullptr;

ncclResult_t ask(ncclComm_t comm, Batch batch) {
  const std::lock_guard lock(mutex());
  World& world = *comm->world;
  if (world.aborted) return ncclRemoteError;
  world.waiting[comm->rank].push_back(std::move(batch));
  issue(world, static_cast<size_t>(comm->rank));
  return world.waiting[comm->rank].empty() ? ncclSuccess : ncclInProgress;
}

ncclResult_t ask(ncclComm_t comm, cudaStream_t stream, const Call& call) {
  if (group_depth == 0) return ask(comm, {{call}, stream});
  group_comm = comm;
  group_stream = stream;
  group_calls.push_back(call);
  return ncclSuccess;
}

}  // namespace

extern "C" {

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess: return "no error";
  case ncclInternalError: return "internal error";
  case ncclRemoteError: return "remote process exited or there was a network error";
  case ncclInProgress: return "NCCL operation in progress";
  default: return "invalid usage";
  }
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::lock_guard lock(mutex());
  static int made = 0;
  *id = {};
  std::strcpy(id->internal, std::to_string(++made).c_str());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  const std::lock_guard lock(mutex());
  if (config->blocking) return ncclInvalidUsage;  // a thread that waits here would keep the lock
  auto& world = worlds()[id.internal];
  if (!world) {
    world = std::make_shared<World>();
    world->waiting.resize(static_cast<size_t>(ranks));
  }
  *comm = new ncclComm{world, rank, cuda_emulation::current_device()};
  return ++world->joined == ranks ? ncclSuccess : ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const std::lock_guard lock(mutex());
  const World& world = *comm->world;
  const bool waits =
      world.joined < static_cast<int>(world.waiting.size()) || !world.waiting[comm->rank].empty();
  *error = async_error != ncclSuccess ? async_error
           : world.aborted            ? ncclRemoteError
           : waits                    ? ncclInProgress
                                      : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const std::lock_guard lock(mutex());
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const std::lock_guard lock(mutex());
  comm->world->aborted = true;
  comm->world->waiting[comm->rank].clear();
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return ask(comm, stream, {Kind::Broadcast, in, out, count, type, ncclSum, root});
}
ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return ask(comm, stream, {Kind::AllReduce, in, out, count, type, op, 0});
}
ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return ask(comm, stream, {Kind::Reduce, in, out, count, type, op, root});
}
ncclResult_t ncclSend(const void* in, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return ask(comm, stream, {Kind::Send, in, nullptr, count, type, ncclSum, peer});
}
ncclResult_t ncclRecv(void* out, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return ask(comm, stream, {Kind::Receive, nullptr, out, count, type, ncclSum, peer});
}

ncclResult_t ncclGroupStart() {
  ++group_depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (--group_depth > 0) return ncclSuccess;
  Batch batch{std::exchange(group_calls, {}), group_stream};
  if (batch.calls.empty()) return ncclSuccess;
  return ask(group_comm, std::move(batch));
}

void ncclEmulationSetAsyncError(ncclResult_t error) {
  const std::lock_guard lock(mutex());
  async_error = error;
}
}
