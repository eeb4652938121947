// tenon-run: runs a program several times at once, as the ranks of a run.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <list>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/distributed/stores/tcp_store.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  int processes = 1;
  int max_restarts = 0;
  double grace_seconds = 10;
  bool prefix = true;
  std::vector<std::string> command;
};

[[noreturn]] void usage(const std::string& problem) {
  if (!problem.empty()) std::cerr << "tenon-run: " << problem << "\n\n";
  (problem.empty() ? std::cout : std::cerr)
      << "usage: tenon-run [--nproc N] [--max-restarts N] [--grace SECONDS] [--no-prefix] PROGRAM "
         "[ARGUMENTS]\n\n"
         "Runs N processes of PROGRAM, the ranks of a run, and shows their output with \"[rank] \" "
         "before each\nline. A process finds in its environment RANK, LOCAL_RANK, WORLD_SIZE, "
         "LOCAL_WORLD_SIZE, GROUP_RANK,\nMASTER_ADDR, MASTER_PORT, RESTART_COUNT, RUN_ID and, "
         "unless it is set, OMP_NUM_THREADS=1.\n"
         "If one fails, all others are ended, and all are started again up to --max-restarts "
         "times. The exit\nstatus is that of the process that failed first.\n";
  std::exit(problem.empty() ? 0 : 2);
}

int number(const std::string& option, const std::string& text, int least, int most) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < least || value > most)
    usage(option + ": expected a number from " + std::to_string(least) + " to " +
          std::to_string(most) + ", got '" + text + "'");
  return value;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; ++i) {
    std::string option = argv[i];
    if (option == "--") {
      ++i;
      break;
    }
    if (option == "--help" || option == "-h") usage("");
    if (option == "--no-prefix") {
      settings.prefix = false;
      continue;
    }
    std::string value;
    if (const size_t equals = option.find('='); equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    }
    if (option == "--nproc" || option == "--nproc-per-node") {
      settings.processes = number(option, value, 1, 4096);
    } else if (option == "--max-restarts") {
      settings.max_restarts = number(option, value, 0, 1000000);
    } else if (option == "--grace") {
      settings.grace_seconds = number(option, value, 0, 3600);
    } else {
      usage("there is no option " + option);
    }
  }
  settings.command.assign(argv + i, argv + argc);
  if (settings.command.empty()) usage("expected a program");
  return settings;
}

/// Where signals are noted for the loop below: SIGCHLD, and those that end the launcher.
int signal_pipe[2];

void on_signal(int number) {
  const int saved = errno;
  const char byte = static_cast<char>(number);
  if (::write(signal_pipe[1], &byte, 1) < 0) {
    // The pipe is full of notes: one more says nothing new.
  }
  errno = saved;
}

/// One end of a process's output: whole lines go to ours, with its rank before them.
class Output {
 public:
  Output(int rank, int from, int to, bool prefix)
      : from_(from), to_(to), prefix_(prefix ? "[" + std::to_string(rank) + "] " : "") {}
  ~Output() { close(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int descriptor() const { return from_; }
  /// Passes on what is there.
  void read() {
    char bytes[1 << 14];
    while (from_ >= 0) {
      const ssize_t n = ::read(from_, bytes, sizeof bytes);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (n <= 0) return close();
      line_.append(bytes, static_cast<size_t>(n));
      size_t end;
      while ((end = line_.find('\n')) != std::string::npos) {
        write(prefix_ + line_.substr(0, end + 1));
        line_.erase(0, end + 1);
      }
      // Something without lines is not kept back for ever.
      if (line_.size() > (1 << 20)) flush();
    }
  }
  void close() {
    if (from_ < 0) return;
    flush();
    ::close(from_);
    from_ = -1;
  }

 private:
  void flush() {
    if (!line_.empty()) write(prefix_ + line_ + "\n");
    line_.clear();
  }
  void write(const std::string& text) const {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(to_, text.data() + done, text.size() - done);
      if (n < 0 && errno != EINTR) return;
      done += n > 0 ? static_cast<size_t>(n) : 0;
    }
  }

  int from_, to_;
  std::string prefix_, line_;
};

struct Process {
  int rank = 0;
  pid_t id = -1;
  bool running = false;
  int status = 0;
  std::string error_file;
};

std::string cause_of(const Process& process) {
  std::ostringstream text;
  text << "rank " << process.rank << " (process " << process.id << ") ";
  if (WIFSIGNALED(process.status)) {
    text << "was ended by signal " << WTERMSIG(process.status) << " ("
         << ::strsignal(WTERMSIG(process.status)) << ")";
  } else {
    text << "ended with status " << WEXITSTATUS(process.status);
  }
  std::ifstream file(process.error_file);
  std::ostringstream reason;
  reason << file.rdbuf();
  if (!reason.str().empty()) text << ": " << reason.str();
  return text.str();
}

class Launcher {
 public:
  explicit Launcher(Settings settings)
      : settings_(std::move(settings)), store_("127.0.0.1", {.is_server = true}) {
    std::string folder = "/tmp/tenon_run_XXXXXX";
    if (const char* temporary = std::getenv("TMPDIR"))
      folder = std::string(temporary) + "/tenon_run_XXXXXX";
    if (!::mkdtemp(folder.data())) throw tenon::Error("tenon-run: no temporary folder " + folder);
    folder_ = folder;
    run_id_ = folder.substr(folder.rfind('_') + 1);
  }
  ~Launcher() {
    for (const Process& process : processes_) ::unlink(process.error_file.c_str());
    ::rmdir(folder_.c_str());
  }

  int run() {
    for (int attempt = 0;; ++attempt) {
      const int status = run_once(attempt);
      if (status == 0 || ending_ || attempt == settings_.max_restarts) return status;
      std::cerr << "tenon-run: starting all again, restart " << attempt + 1 << " of "
                << settings_.max_restarts << std::endl;
    }
  }

 private:
  int run_once(int attempt) {
    processes_.clear();
    outputs_.clear();
    first_failure_ = -1;
    told_to_end_ = false;
    for (int rank = 0; rank < settings_.processes; ++rank) start(rank, attempt);
    while (running() > 0 || !outputs_.empty()) {
      wait_for_news();
      reap();
      const bool failed = first_failure_ >= 0 || ending_;
      if (failed && !told_to_end_) {
        told_to_end_ = true;
        end_at_ = Clock::now() +
                  std::chrono::milliseconds(static_cast<int64_t>(settings_.grace_seconds * 1000));
        if (first_failure_ >= 0)
          std::cerr << "tenon-run: " << cause_of(processes_[first_failure_])
                    << "; ending the others" << std::endl;
        signal_all(SIGTERM);
      }
      if (told_to_end_ && Clock::now() >= end_at_) signal_all(SIGKILL);
      // What a process leaves behind may hold the pipes open.
      if (running() == 0 && told_to_end_) {
        signal_all(SIGKILL);
        for (Output& output : outputs_) {
          output.read();
          output.close();
        }
      }
      std::erase_if(outputs_, [](const Output& output) { return output.descriptor() < 0; });
    }
    if (ending_) return 128 + ending_;
    if (first_failure_ < 0) return 0;
    const int status = processes_[first_failure_].status;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  void start(int rank, int attempt) {
    Process process;
    process.rank = rank;
    process.error_file = folder_ + "/error_" + std::to_string(rank);
    ::unlink(process.error_file.c_str());
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
      throw tenon::Error("tenon-run: no pipes for rank " + std::to_string(rank));
    const pid_t parent = ::getpid();
    process.id = ::fork();
    if (process.id < 0) throw tenon::Error("tenon-run: cannot start a process");
    if (process.id == 0) {
      ::setpgid(0, 0);  // its own children end with it
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        ::signal(number, SIG_DFL);
      set_environment(rank, attempt, process.error_file);
      std::vector<char*> arguments;
      for (std::string& argument : settings_.command) arguments.push_back(argument.data());
      arguments.push_back(nullptr);
      ::execvp(arguments[0], arguments.data());
      std::cerr << "cannot run " << settings_.command[0] << ": " << std::strerror(errno)
                << std::endl;
      ::_exit(127);
    }
    ::setpgid(process.id, process.id);
    process.running = true;
    ::close(out[1]);
    ::close(err[1]);
    for (const int end : {out[0], err[0]}) ::fcntl(end, F_SETFL, O_NONBLOCK);
    outputs_.emplace_back(rank, out[0], STDOUT_FILENO, settings_.prefix);
    outputs_.emplace_back(rank, err[0], STDERR_FILENO, settings_.prefix);
    processes_.push_back(process);
  }

  void set_environment(int rank, int attempt, const std::string& error_file) const {
    const auto set = [](const char* name, const std::string& value) {
      ::setenv(name, value.c_str(), 1);
    };
    const std::string size = std::to_string(settings_.processes);
    set("RANK", std::to_string(rank));
    set("LOCAL_RANK", std::to_string(rank));
    set("GROUP_RANK", "0");
    set("WORLD_SIZE", size);
    set("LOCAL_WORLD_SIZE", size);
    set("MASTER_ADDR", "127.0.0.1");
    set("MASTER_PORT", std::to_string(store_.port()));
    set("RESTART_COUNT", std::to_string(attempt));
    set("RUN_ID", run_id_);
    set("TENON_RUN_STORE", "1");
    set("TENON_RUN_ERROR_FILE", error_file);
    // Every process taking all processors would be slower for all.
    ::setenv("OMP_NUM_THREADS", "1", 0);
  }

  void wait_for_news() {
    std::vector<pollfd> entries{{signal_pipe[0], POLLIN, 0}};
    for (const Output& output : outputs_) entries.push_back({output.descriptor(), POLLIN, 0});
    int timeout = -1;
    if (told_to_end_) timeout = 100;
    ::poll(entries.data(), entries.size(), timeout);
    char notes[256];
    const ssize_t n = ::read(signal_pipe[0], notes, sizeof notes);
    for (ssize_t i = 0; i < n; ++i) {
      if (notes[i] != SIGCHLD && !ending_) ending_ = notes[i];
    }
    for (Output& output : outputs_) output.read();
  }

  void reap() {
    std::vector<Process*> ended;
    for (Process& process : processes_) {
      if (!process.running || ::waitpid(process.id, &process.status, WNOHANG) != process.id)
        continue;
      process.running = false;
      ended.push_back(&process);
    }
    if (first_failure_ >= 0 || ending_) return;
    // Of those that are found at once, one that a signal ended, or that says why, is the cause:
    // others fail because it did.
    const auto weight = [](const Process* p) { return WIFSIGNALED(p->status) ? 0 : 1; };
    std::stable_sort(ended.begin(), ended.end(),
                     [&](const Process* a, const Process* b) { return weight(a) < weight(b); });
    for (const Process* process : ended) {
      if (process->status != 0) {
        first_failure_ = process->rank;
        return;
      }
    }
  }

  int running() const {
    return static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                          [](const Process& p) { return p.running; }));
  }
  /// To the processes and their children.
  void signal_all(int number) const {
    for (const Process& process : processes_) ::kill(-process.id, number);
  }

  Settings settings_;
  tenon::distributed::TCPStore store_;
  std::string folder_, run_id_;
  std::vector<Process> processes_;
  std::list<Output> outputs_;
  int first_failure_ = -1;
  bool told_to_end_ = false;
  Clock::time_point end_at_;
  int ending_ = 0;  // the signal that ends the launcher
};

}  // namespace

int main(int argc, char** argv) try {
  Settings settings = parse(argc, argv);
  if (::pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return 1;
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
  return Launcher(std::move(settings)).run();
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
