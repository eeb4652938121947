#include "tests/runtime/distributed/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <thread>

extern char** environ;

namespace tenon::test {
namespace {

constexpr auto kLongest = std::chrono::seconds(120);

std::string shared_path(const std::string& name) {
  return std::string(std::getenv("TENON_TEST_FOLDER")) + "/" + name;
}
bool wait_for_path(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (!std::filesystem::exists(path)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::vector<std::string> on_processes(int ranks,
                                      const std::function<void(const distributed::GroupPtr&)>& f,
                                      const ThreadOptions& options) {
  distributed::check_backend("mpi");  // loads it
  static const distributed::Rendezvous world = distributed::rendezvous("mpi://");
  static int calls = 0;
  TENON_CHECK(ranks <= world.world_size, "expected ", ranks, " processes");
  const auto store =
      std::make_shared<distributed::PrefixStore>("call_" + std::to_string(calls++), world.store);
  const auto key = [](int r) { return "error/" + std::to_string(r); };
  if (world.rank < ranks) {
    std::string error;
    try {
      f(std::make_shared<distributed::ProcessGroup>("mpi", store, world.rank, ranks,
                                                    options.timeout));
    } catch (const std::exception& e) {
      error = e.what();
    }
    store->set(key(world.rank), error);
  }
  std::vector<std::string> errors;
  for (int r = 0; r < ranks; ++r) errors.push_back(store->get(key(r)));
  // Rank 0, which keeps the store, goes on when all have read.
  store->add("read", 1);
  while (world.rank == 0 && store->add("read", 0) < world.world_size)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return errors;
}

}  // namespace

void require(bool condition, const std::string& text) { TENON_CHECK(condition, "expected ", text); }

std::vector<std::string> on_threads(int ranks,
                                    const std::function<void(const distributed::GroupPtr&)>& f,
                                    const ThreadOptions& options) {
  if (std::getenv("TENON_TEST_MPI") && options.backend == "gloo")
    return on_processes(ranks, f, options);
  const auto store = std::make_shared<distributed::HashStore>();
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      try {
        f(std::make_shared<distributed::ProcessGroup>(options.backend, store, r, ranks,
                                                      options.timeout));
      } catch (const std::exception& error) {
        errors[r] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

bool all_well(const std::vector<std::string>& errors) {
  bool well = true;
  for (size_t r = 0; r < errors.size(); ++r) {
    if (errors[r].empty()) continue;
    UNSCOPED_INFO("rank " << r << ": " << errors[r]);
    well = false;
  }
  return well;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

Processes::Processes(const std::string& test_case, int ranks,
                     const std::map<std::string, std::string>& environment)
    : statuses_(static_cast<size_t>(ranks), 1 << 20) {
  for (int r = 0; r < ranks; ++r) {
    std::vector<std::string> variables{"RANK=" + std::to_string(r),
                                       "WORLD_SIZE=" + std::to_string(ranks), "OMP_NUM_THREADS=1",
                                       "TENON_TEST_FOLDER=" + (folder_ / "")};
    for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
    for (char** v = environ; *v; ++v) {
      const std::string name(*v, std::strcspn(*v, "="));
      if (name != "RANK" && name != "WORLD_SIZE" && name != "OMP_NUM_THREADS")
        variables.push_back(*v);
    }
    std::vector<char*> raw;
    for (std::string& v : variables) raw.push_back(v.data());
    raw.push_back(nullptr);
    std::string program = "/proc/self/exe", name = test_case;
    std::vector<char*> arguments{program.data(), name.data(), nullptr};
    const std::string output = folder_ / ("output_" + std::to_string(r));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_CREAT | O_WRONLY, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t id = 0;
    const int error =
        ::posix_spawn(&id, program.c_str(), &actions, nullptr, arguments.data(), raw.data());
    ::posix_spawn_file_actions_destroy(&actions);
    TENON_CHECK(error == 0, "cannot start a process: ", std::strerror(error));
    ids_.push_back(id);
  }
}

Processes::~Processes() {
  for (size_t r = 0; r < ids_.size(); ++r) {
    if (statuses_[r] == 1 << 20) {
      ::kill(ids_[r], SIGKILL);
      ::waitpid(ids_[r], nullptr, 0);
    }
  }
}

void Processes::wait_until_reached(int rank, const std::string& name) {
  TENON_CHECK(wait_for_path(folder_ / (name + "_" + std::to_string(rank))), "rank ", rank,
              " did not reach ", name, "; it wrote: ", said(rank));
}

void Processes::signal(int rank, int number) { ::kill(ids_[rank], number); }

int Processes::status(int rank) {
  int& status = statuses_[rank];
  if (status != 1 << 20) return status;
  const auto end = std::chrono::steady_clock::now() + kLongest;
  int raw = 0;
  while (::waitpid(ids_[rank], &raw, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) ::kill(ids_[rank], SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw);
  if (status != 0) {
    std::ifstream file(folder_ / ("output_" + std::to_string(rank)));
    std::ostringstream text;
    text << file.rdbuf();
    UNSCOPED_INFO("rank " << rank << " printed: " << text.str());
  }
  return status;
}

std::string Processes::said(int rank) {
  std::ifstream file(folder_ / ("said_" + std::to_string(rank)));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int own_rank() { return std::atoi(std::getenv("RANK")); }
int own_world_size() { return std::atoi(std::getenv("WORLD_SIZE")); }

distributed::GroupPtr join_group(std::chrono::milliseconds timeout) {
  const auto found =
      distributed::rendezvous("file://" + shared_path("store"), -1, -1, std::chrono::seconds(120));
  return std::make_shared<distributed::ProcessGroup>("gloo", found.store, found.rank,
                                                     found.world_size, timeout);
}

void say(const std::string& text) {
  std::ofstream(shared_path("said_" + std::to_string(own_rank())), std::ios::app) << text;
}
void reached(const std::string& name) {
  std::ofstream(shared_path(name + "_" + std::to_string(own_rank())));
}
void wait_for_file(const std::string& name) {
  TENON_CHECK(wait_for_path(shared_path(name)), "no file ", name);
}

}  // namespace tenon::test
