#include "runtime/distributed/backends/mpi/mpi_library.h"

#include <stdexcept>
#include <string>
#include <thread>

#include "runtime/distributed/error.h"

namespace tenon::distributed::detail {
namespace {

// While others are expected soon the processor is only offered; then the thread sleeps in between.
constexpr int kYields = 2000;
constexpr auto kNap = std::chrono::microseconds(50);

}  // namespace

MpiLibrary& MpiLibrary::get() {
  static MpiLibrary instance;
  return instance;
}

void MpiLibrary::check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string("MPI: ") + text);
}

MpiLibrary::MpiLibrary() {
  int initialised = 0, finalised = 0, level = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  TENON_CHECK_AS(DistBackendError, !finalised,
                 "[init_process_group] MPI has been finalised in this process");
  if (initialised) {
    MPI_Query_thread(&level);
  } else {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    own_ = true;
  }
  TENON_CHECK_AS(DistBackendError, level == MPI_THREAD_MULTIPLE,
                 "[init_process_group] the backend mpi calls MPI from several threads: expected ",
                 initialised ? "the program to initialise it with " : "this MPI to provide ",
                 "MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
  int here = 0;
  MPI_Comm_size(machine, &here);
  MPI_Comm_free(&machine);
  one_machine_ = here == size_;
}

MpiLibrary::~MpiLibrary() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  // With a transfer left over it would wait for ever; mpirun ends the others' processes then.
  if (own_ && !finalised && kept_.empty()) MPI_Finalize();
  // MPI may still use it.
  if (!kept_.empty()) new std::vector<std::shared_ptr<void>>(std::move(kept_));
}

void MpiLibrary::transfer(const std::function<int(MPI_Request*)>& start,
                          const std::vector<std::shared_ptr<void>>& memory,
                          const std::function<bool()>& aborted, Deadline deadline) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(start(&request));
  for (int tries = 0;; ++tries) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done) return;
    if (aborted() || Clock::now() >= deadline) {
      const std::lock_guard lock(mutex_);
      kept_.insert(kept_.end(), memory.begin(), memory.end());
      throw std::runtime_error(aborted() ? "the group has failed" : "MPI: not done in time");
    }
    if (tries < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
}

}  // namespace tenon::distributed::detail
