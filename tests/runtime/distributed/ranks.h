#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/distributed/process_group.h"
#include "tests/runtime/serialization/temporary_folder.h"

namespace tenon::test {

/// What goes wrong on a rank, where Catch's checks cannot be used: they are for one thread.
void require(bool condition, const std::string& text);
#define RANK_REQUIRE(...) ::tenon::test::require(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)

struct ThreadOptions {
  std::string backend = "gloo";
  std::chrono::milliseconds timeout{120000};
};
/// Calls f on a thread for each rank, with a group of them all: the text of each one's error, empty
/// if it had none. With TENON_TEST_MPI=1 in the environment ranks of "gloo" are processes instead,
/// of the backend "mpi": every process must make the same calls, and gets the errors of all; what f
/// changes of the caller's is changed in its process alone.
std::vector<std::string> on_threads(int ranks,
                                    const std::function<void(const distributed::GroupPtr&)>& f,
                                    const ThreadOptions& options = {});
/// While it lives, groups move large data by Gloo alone.
struct WithoutSharedMemory {
  WithoutSharedMemory() { ::setenv("TENON_SHARED_MEMORY", "0", 1); }
  ~WithoutSharedMemory() { ::unsetenv("TENON_SHARED_MEMORY"); }
};
/// Whether no rank had an error; shows them.
bool all_well(const std::vector<std::string>& errors);
/// The text of the error that f throws, or "no error".
std::string error_of(const std::function<void()>& f);
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Processes that run a hidden test case of this program, one for each rank. They find each other
/// through the environment, a file store.
class Processes {
 public:
  /// `first_rank`: the others are this program's, or nobody's.
  Processes(const std::string& test_case, int ranks,
            const std::map<std::string, std::string>& environment = {});
  ~Processes();
  pid_t id(int rank) const { return ids_[rank]; }
  /// Waits until the rank has written the file `name`, see reached().
  void wait_until_reached(int rank, const std::string& name);
  void signal(int rank, int number);
  /// Waits for its end: the exit status, or -signal. Kills it after two minutes.
  int status(int rank);
  /// What it wrote with say().
  std::string said(int rank);

 private:
  TemporaryFolder folder_;
  std::vector<pid_t> ids_;
  std::vector<int> statuses_;
};

// In a process of Processes:
int own_rank();
int own_world_size();
/// The group of all processes, by the file store.
distributed::GroupPtr join_group(std::chrono::milliseconds timeout = std::chrono::seconds(120));
void say(const std::string& text);
void reached(const std::string& name);
void wait_for_file(const std::string& name);

}  // namespace tenon::test
