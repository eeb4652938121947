#include "runtime/fusion/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "aten/core/error.h"

extern "C" char** environ;

namespace tenon::fusion {
namespace {

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Processes::~Processes() {
  for (const Running& one : running_) {
    // With what it has started: a compiler is several processes.
    kill(-one.pid, SIGKILL);
    wait_for(one.pid);
  }
}

void Processes::start(const Command& command, const std::string& log) {
  while (running_.size() >= limit_) wait_for_first();
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  TENON_CHECK(error == 0, "[fuse] cannot run ", command[0], ": ", std::strerror(error));
  running_.push_back({pid, command[0], log});
}

void Processes::wait_for_first() {
  const Running one = running_.front();
  running_.pop_front();
  if (wait_for(one.pid) == 0) return;
  std::ifstream file(one.log);
  std::stringstream output;
  output << file.rdbuf();
  tenon::detail::raise<Error>(what_, ": ", one.program, " has failed\n", output.str());
}

void Processes::wait() {
  while (!running_.empty()) wait_for_first();
}

}  // namespace tenon::fusion
