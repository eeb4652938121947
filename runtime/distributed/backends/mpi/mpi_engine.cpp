// The backend "mpi": a library of its own, loaded when it is asked for.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>

#include "runtime/distributed/backends/host_backend.h"
#include "runtime/distributed/backends/mpi/mpi_library.h"
#include "runtime/distributed/mesh/engine.h"
#include "runtime/distributed/stores/rendezvous.h"
#include "runtime/distributed/stores/tcp_store.h"

namespace tenon::distributed::detail {
namespace {

using Memory = std::shared_ptr<std::vector<char>>;

// What each rank moves at once, through memory of the engine's own: a transfer that has to be
// abandoned goes on with that, and counts stay within MPI's int.
constexpr size_t kRound = 1 << 20;

Memory make_memory(size_t bytes) { return std::make_shared<std::vector<char>>(bytes); }

/// Moves data between the ranks of a group by MPI's collectives, reduction aside: it is done in the
/// order of the ranks, whatever algorithm MPI chooses, for every dtype.
class MpiEngine final : public Engine {
 public:
  explicit MpiEngine(const BackendArguments& arguments)
      : rank_(arguments.rank), size_(arguments.size) {
    // The group's members, in MPI's numbers.
    const auto key = [](int r) { return "mpi_rank/" + std::to_string(r); };
    Store& store = *arguments.store;
    store.set(key(arguments.rank), std::to_string(mpi_.rank()));
    std::vector<int> members;
    for (int r = 0; r < size_; ++r) {
      store.wait({key(r)}, arguments.timeout);
      members.push_back(std::stoi(store.get(key(r))));
    }
    // Groups may be made at the same time; each has a number of its own.
    static std::atomic<int> made{0};
    if (rank_ == 0)
      store.set("mpi_tag", std::to_string((made++ * mpi_.size() + mpi_.rank()) % 32768));
    store.wait({"mpi_tag"}, arguments.timeout);
    const int tag = std::stoi(store.get("mpi_tag"));
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MpiLibrary::check(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MpiLibrary::check(MPI_Group_incl(world, size_, members.data(), &group));
    MpiLibrary::check(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm_));
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~MpiEngine() override {
    int finalised = 0;
    MPI_Finalized(&finalised);
    // After a failure the others may never come to do the same.
    if (!finalised && !aborted_ && !failed_) MPI_Comm_free(&comm_);
  }

  void broadcast(void* data, size_t bytes, int root, Deadline deadline) override {
    for (size_t at = 0; at < bytes; at += kRound) {
      const size_t n = std::min(kRound, bytes - at);
      char* const part = static_cast<char*>(data) + at;
      const Memory memory = make_memory(n);
      if (rank_ == root) std::memcpy(memory->data(), part, n);
      transfer({memory}, deadline, [&](MPI_Request* request) {
        return MPI_Ibcast(memory->data(), static_cast<int>(n), MPI_BYTE, root, comm_, request);
      });
      if (rank_ != root) std::memcpy(part, memory->data(), n);
    }
  }

  void all_reduce(void* data, size_t n, ScalarType dtype, ReduceOp op, Deadline deadline) override {
    const ReduceFunction reduce = reduce_function(op, dtype, "all_reduce");
    const size_t element = element_size(dtype), ranks = static_cast<size_t>(size_);
    const size_t most = std::max<size_t>(kRound / element, ranks);
    for (size_t at = 0; at < n; at += most) {
      const size_t count = std::min(most, n - at), part = (count + ranks - 1) / ranks;
      char* const elements = static_cast<char*>(data) + at * element;
      // Rank r reduces its part of what all have, and gives it to all.
      const auto size_of = [&](size_t r) {
        return (std::min(count, (r + 1) * part) - std::min(count, r * part)) * element;
      };
      std::vector<size_t> parts;
      for (size_t r = 0; r < ranks; ++r) parts.push_back(size_of(r));
      const size_t own = parts[rank_];
      const Memory given = make_memory(own * ranks);
      exchange(elements, parts, given, std::vector<size_t>(ranks, own), deadline);
      for (size_t r = 1; r < ranks; ++r)
        reduce(given->data(), given->data(), given->data() + r * own, own / element);
      gather(given->data(), elements, parts, deadline);
    }
  }

  void all_gather(const void* in, void* out, const std::vector<size_t>& sizes,
                  Deadline deadline) override {
    // In rounds that all ranks count alike.
    const size_t most = kRound / sizes.size(),
                 longest = *std::max_element(sizes.begin(), sizes.end());
    if (longest <= most) return gather(in, out, sizes, deadline);
    for (size_t at = 0; at < longest; at += most) {
      std::vector<size_t> now;
      size_t total = 0;
      for (const size_t size : sizes) total += now.emplace_back(part_of(size, at, most));
      const Memory memory = make_memory(total);
      gather(static_cast<const char*>(in) + std::min(at, sizes[rank_]), memory->data(), now,
             deadline);
      const char* from = memory->data();
      char* to = static_cast<char*>(out);
      for (size_t r = 0; r < sizes.size(); from += now[r], to += sizes[r], ++r)
        if (now[r] > 0) std::memcpy(to + at, from, now[r]);
    }
  }

  void all_to_all(const void* in, const std::vector<size_t>& in_sizes, void* out,
                  const std::vector<size_t>& out_sizes, Deadline deadline) override {
    const size_t ranks = in_sizes.size(), most = kRound / ranks;
    // Others may have more to move than this rank.
    const Memory longest = make_memory(sizeof(uint64_t));
    const uint64_t own = std::max(*std::max_element(in_sizes.begin(), in_sizes.end()),
                                  *std::max_element(out_sizes.begin(), out_sizes.end()));
    std::memcpy(longest->data(), &own, sizeof own);
    transfer({longest}, deadline, [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, longest->data(), 1, MPI_UINT64_T, MPI_MAX, comm_,
                            request);
    });
    uint64_t end = 0;
    std::memcpy(&end, longest->data(), sizeof end);
    for (size_t at = 0; at < end; at += most) {
      std::vector<size_t> gives, takes;
      size_t given = 0, taken = 0;
      for (size_t r = 0; r < ranks; ++r) {
        given += gives.emplace_back(part_of(in_sizes[r], at, most));
        taken += takes.emplace_back(part_of(out_sizes[r], at, most));
      }
      const Memory from = make_memory(given), to = make_memory(taken);
      const char* source = static_cast<const char*>(in);
      char* target = from->data();
      for (size_t r = 0; r < ranks; source += in_sizes[r], target += gives[r], ++r)
        if (gives[r] > 0) std::memcpy(target, source + at, gives[r]);
      exchange(from, gives, to, takes, deadline);
      const char* got = to->data();
      char* place = static_cast<char*>(out);
      for (size_t r = 0; r < ranks; got += takes[r], place += out_sizes[r], ++r)
        if (takes[r] > 0) std::memcpy(place + at, got, takes[r]);
    }
  }

  void abort() override { aborted_ = true; }

 private:
  /// Of `size` bytes those from `at` on, `most` at most.
  static size_t part_of(size_t size, size_t at, size_t most) {
    return size <= at ? 0 : std::min(most, size - at);
  }
  /// MPI's counts and the places where the parts begin.
  struct Layout {
    std::vector<int> counts, places;
    explicit Layout(const std::vector<size_t>& sizes) {
      int at = 0;
      for (const size_t size : sizes) {
        counts.push_back(static_cast<int>(size));
        places.push_back(at);
        at += static_cast<int>(size);
      }
    }
  };

  void transfer(const std::vector<std::shared_ptr<void>>& memory, Deadline deadline,
                const std::function<int(MPI_Request*)>& start) {
    try {
      mpi_.transfer(
          start, memory, [this] { return aborted_.load(); }, deadline);
    } catch (...) {
      failed_ = true;
      throw;
    }
  }
  void exchange(const Memory& from, const std::vector<size_t>& gives, const Memory& to,
                const std::vector<size_t>& takes, Deadline deadline) {
    // MPI may read the counts until it is done.
    const auto in = std::make_shared<Layout>(gives), out = std::make_shared<Layout>(takes);
    transfer({from, to, in, out}, deadline, [&](MPI_Request* request) {
      return MPI_Ialltoallv(from->data(), in->counts.data(), in->places.data(), MPI_BYTE,
                            to->data(), out->counts.data(), out->places.data(), MPI_BYTE, comm_,
                            request);
    });
  }
  void exchange(const char* in, const std::vector<size_t>& gives, const Memory& to,
                const std::vector<size_t>& takes, Deadline deadline) {
    size_t total = 0;
    for (const size_t size : gives) total += size;
    const Memory from = make_memory(total);
    if (total > 0) std::memcpy(from->data(), in, total);
    exchange(from, gives, to, takes, deadline);
  }
  void gather(const void* in, void* out, const std::vector<size_t>& sizes, Deadline deadline) {
    const auto layout = std::make_shared<Layout>(sizes);
    const size_t own = sizes[rank_];
    size_t total = 0;
    for (const size_t size : sizes) total += size;
    const Memory from = make_memory(own), to = make_memory(total);
    if (own > 0) std::memcpy(from->data(), in, own);
    transfer({from, to, layout}, deadline, [&](MPI_Request* request) {
      return MPI_Iallgatherv(from->data(), static_cast<int>(own), MPI_BYTE, to->data(),
                             layout->counts.data(), layout->places.data(), MPI_BYTE, comm_,
                             request);
    });
    if (total > 0) std::memcpy(out, to->data(), total);
  }

  MpiLibrary& mpi_ = MpiLibrary::get();
  const int rank_, size_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::atomic<bool> aborted_{false};
  bool failed_ = false;
};

std::shared_ptr<Backend> make_mpi_backend(const BackendArguments& arguments) {
  MpiLibrary& mpi = MpiLibrary::get();
  TENON_CHECK_VALUE(arguments.size <= mpi.size(),
                    "[init_process_group] the backend mpi: a group of ", arguments.size,
                    " ranks, where mpirun started ", mpi.size(),
                    mpi.size() == 1 ? " process" : " processes");
  return make_host_backend("mpi", arguments,
                           [arguments] { return std::make_unique<MpiEngine>(arguments); });
}

/// mpi://: rank and size are MPI's, and so is the way to the store, which rank 0 keeps.
Rendezvous mpi_rendezvous(const std::string& url, int rank, int world_size, Milliseconds timeout) {
  MpiLibrary& mpi = MpiLibrary::get();
  TENON_CHECK_VALUE((rank < 0 || rank == mpi.rank()) &&
                        (world_size < 0 || world_size == mpi.size()),
                    "[init_process_group] ", url, ": MPI has rank ", mpi.rank(), " of ", mpi.size(),
                    ", got rank ", rank, " of ", world_size);
  char host[256] = "127.0.0.1";
  if (mpi.rank() == 0 && !mpi.is_one_machine()) ::gethostname(host, sizeof host - 1);
  std::shared_ptr<TCPStore> store;
  std::exception_ptr error;
  int port = 0;
  if (mpi.rank() == 0) {
    try {
      store = std::make_shared<TCPStore>(host, TCPStoreOptions{0, true, timeout});
      port = store->port();
    } catch (...) {
      error = std::current_exception();  // when the others, which wait for it, know
    }
  }
  MpiLibrary::check(MPI_Bcast(host, sizeof host, MPI_CHAR, 0, MPI_COMM_WORLD));
  MpiLibrary::check(MPI_Bcast(&port, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (error) std::rethrow_exception(error);
  TENON_CHECK_AS(DistStoreError, port != 0, "[init_process_group] ", url,
                 ": rank 0 could not open a store");
  if (!store) store = std::make_shared<TCPStore>(host, TCPStoreOptions{port, false, timeout});
  meet(*store, mpi.rank(), mpi.size(), timeout);
  return {store, mpi.rank(), mpi.size()};
}

}  // namespace
}  // namespace tenon::distributed::detail

/// Called once, when the library has been loaded.
extern "C" TENON_API void tenon_register_backend() {
  using namespace tenon::distributed;
  register_backend("mpi", detail::make_mpi_backend);
  register_rendezvous_handler("mpi", detail::mpi_rendezvous);
}
