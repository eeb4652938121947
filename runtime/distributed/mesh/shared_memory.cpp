#include "runtime/distributed/mesh/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <stdexcept>

namespace tenon::distributed::detail {
namespace {

// In cache while it is reduced; two barriers for each cost little beside it.
constexpr size_t kChunk = 256 << 10;
constexpr size_t kLine = 64;
constexpr int kSpins = 200;
constexpr auto kWaitSlice = std::chrono::milliseconds(20);

/// How far a rank is, in a cache line of its own.
struct alignas(kLine) Progress {
  std::atomic<uint32_t> steps;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void sleep_while(std::atomic<uint32_t>& word, uint32_t value) {
  const timespec slice{0, std::chrono::nanoseconds(kWaitSlice).count()};
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, &slice, nullptr, 0);
}

void wake_all(std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr,
            0);
}

/// Memory that all ranks see: their progress, and of the chunk under way every rank's elements and
/// the result.
class Segment {
 public:
  explicit Segment(int ranks) : ranks_(static_cast<size_t>(ranks)) {}
  ~Segment() {
    if (memory_) ::munmap(memory_, bytes());
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// False if there is no such memory here, or not enough.
  bool map(const std::string& name, bool create) {
    const int flags = create ? O_CREAT | O_EXCL | O_RDWR : O_RDWR;
    const int descriptor = ::shm_open(name.c_str(), flags, 0600);
    if (descriptor < 0) return false;
    // Taken now: memory that is missing later would end the process.
    const bool enough =
        !create || ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes())) == 0;
    void* memory = enough
                       ? ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                       : MAP_FAILED;
    ::close(descriptor);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<char*>(memory);
    return true;
  }
  std::atomic<uint32_t>& progress(size_t rank) const {
    return reinterpret_cast<Progress*>(memory_)[rank].steps;
  }
  char* slot(size_t rank) const { return memory_ + ranks_ * sizeof(Progress) + rank * kChunk; }
  char* result() const { return slot(ranks_); }

 private:
  size_t bytes() const { return ranks_ * sizeof(Progress) + (ranks_ + 1) * kChunk; }

  const size_t ranks_;
  char* memory_ = nullptr;
};

class SharedMemoryEngine final : public Engine {
 public:
  SharedMemoryEngine(const BackendArguments& arguments, Mesh& mesh,
                     std::function<std::unique_ptr<Engine>()> make_other)
      : rank_(static_cast<size_t>(arguments.rank)), size_(static_cast<size_t>(arguments.size)),
        make_other_(std::move(make_other)) {
    agree(arguments, mesh);
  }

  void broadcast(void* data, size_t bytes, int root, Deadline deadline) override {
    other().broadcast(data, bytes, root, deadline);
  }
  void all_gather(const void* in, void* out, const std::vector<size_t>& sizes,
                  Deadline deadline) override {
    other().all_gather(in, out, sizes, deadline);
  }
  void all_to_all(const void* in, const std::vector<size_t>& in_sizes, void* out,
                  const std::vector<size_t>& out_sizes, Deadline deadline) override {
    other().all_to_all(in, in_sizes, out, out_sizes, deadline);
  }

  void all_reduce(void* data, size_t n, ScalarType dtype, ReduceOp op, Deadline deadline) override {
    if (!segment_) return other().all_reduce(data, n, dtype, op, deadline);
    const ReduceFunction reduce = reduce_function(op, dtype, "all_reduce");
    const size_t element = element_size(dtype), most = kChunk / element;
    for (size_t at = 0; at < n; at += most) {
      const size_t count = std::min(most, n - at);
      char* const own = static_cast<char*>(data) + at * element;
      std::memcpy(segment_->slot(rank_), own, count * element);
      barrier(deadline);
      // Each rank reduces a part, in the order of the ranks; parts begin at lines of the cache.
      const size_t part = (count / size_ / kLine + 1) * kLine;
      const size_t begin = std::min(count, rank_ * part), end = std::min(count, begin + part);
      char* const result = segment_->result() + begin * element;
      const auto given = [&](size_t r) { return segment_->slot(r) + begin * element; };
      reduce(result, given(0), given(1), end - begin);
      for (size_t r = 2; r < size_; ++r) reduce(result, result, given(r), end - begin);
      barrier(deadline);
      // The next chunk's first barrier comes before anybody writes to the result again.
      std::memcpy(own, segment_->result(), count * element);
    }
  }

  void abort() override {
    aborted_ = true;
    const std::lock_guard lock(mutex_);
    if (other_) other_->abort();
  }

 private:
  /// Whether all ranks see the same memory. Each asks all others, so that all find the same.
  void agree(const BackendArguments& arguments, Mesh& mesh) {
    Store& store = *arguments.store;
    const auto read = [&](const std::string& key) {
      const Deadline end = Clock::now() + arguments.timeout;
      while (!store.wait_for({key}, Milliseconds(std::min(50, milliseconds_until(end))))) {
        mesh.throw_if_failed("shared memory");
        if (Clock::now() >= end) store.wait({key}, Milliseconds(0));
      }
      return store.get(key);
    };
    const char* wish = std::getenv("TENON_SHARED_MEMORY");
    const bool wanted = !wish || std::strcmp(wish, "0") != 0;
    auto segment = std::make_unique<Segment>(arguments.size);
    std::string name;
    bool mapped = false;
    if (rank_ == 0) {
      std::random_device device;
      name = concat("/tenon_", ::getpid(), "_", device(), device());
      mapped = wanted && segment->map(name, true);
      store.set("shared_memory", mapped ? name : "");
    } else {
      name = read("shared_memory");
      mapped = wanted && !name.empty() && segment->map(name, false);
    }
    const auto key = [](size_t r) { return "shared_memory/" + std::to_string(r); };
    store.set(key(rank_), mapped ? "+" : "-");
    bool all = true;
    try {
      for (size_t r = 0; r < size_; ++r) all = read(key(r)) == "+" && all;
    } catch (...) {
      if (rank_ == 0) ::shm_unlink(name.c_str());
      throw;
    }
    // Nobody else needs the name: the memory goes with the last process that has it.
    if (rank_ == 0) ::shm_unlink(name.c_str());
    if (all) segment_ = std::move(segment);
  }

  /// Returns when all ranks are here.
  void barrier(Deadline deadline) {
    ++steps_;
    std::atomic<uint32_t>& own = segment_->progress(rank_);
    own.store(steps_, std::memory_order_release);
    wake_all(own);
    for (size_t r = 0; r < size_; ++r) {
      std::atomic<uint32_t>& theirs = segment_->progress(r);
      int spins = 0;
      while (true) {
        const uint32_t seen = theirs.load(std::memory_order_acquire);
        if (static_cast<int32_t>(seen - steps_) >= 0) break;
        if (++spins < kSpins) {
          spin_pause();
          continue;
        }
        if (aborted_) throw std::runtime_error("the group has failed");
        if (Clock::now() >= deadline)
          throw std::runtime_error(concat("timed out waiting for rank ", r));
        sleep_while(theirs, seen);
      }
    }
  }

  Engine& other() {
    {
      const std::lock_guard lock(mutex_);
      if (other_) return *other_;
    }
    auto made = make_other_();
    const std::lock_guard lock(mutex_);
    other_ = std::move(made);
    return *other_;
  }

  const size_t rank_, size_;
  const std::function<std::unique_ptr<Engine>()> make_other_;
  std::unique_ptr<Segment> segment_;  // null if the ranks share no memory
  uint32_t steps_ = 0;
  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::unique_ptr<Engine> other_;
};

}  // namespace

std::unique_ptr<Engine>
make_shared_memory_engine(const BackendArguments& arguments, Mesh& mesh,
                          std::function<std::unique_ptr<Engine>()> make_other) {
  return std::make_unique<SharedMemoryEngine>(arguments, mesh, std::move(make_other));
}

}  // namespace tenon::distributed::detail
