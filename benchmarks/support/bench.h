#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <string>
#include <vector>

/// Measures pieces of code and prints one JSON line for each:
///     bench::Runner run(argc, argv);
///     run("add/16M", {.bytes = 3 * 4.0 * n}, [&] { bench::keep(a + b); });
/// Options: --filter REGEX (names to run), --threads N, --quick (fewer, shorter samples), --list.
namespace bench {

/// Makes the compiler believe that `value` is used.
template <class T>
void keep(T&& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// What one call moves and computes; set is compared with the machine's ceiling.
struct Work {
  double bytes = 0;  ///< read and written in memory
  double flops = 0;
  double memory = 0;  ///< the most bytes that it holds at a time; 0: not measured
  double per = 1;     ///< the time is divided by this: nodes of a chain, say
};

class Runner {
 public:
  Runner(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string option = argv[i];
      const bool has_value = i + 1 < argc;
      if (option == "--quick") {
        quick_ = true;
      } else if (option == "--list") {
        list_ = true;
      } else if (option == "--filter" && has_value) {
        filter_ = std::regex(argv[++i]);
      } else if (option == "--threads" && has_value) {
        threads_ = std::atoi(argv[++i]);
      } else {
        std::fprintf(stderr, "usage: %s [--filter REGEX] [--threads N] [--quick] [--list]\n",
                     argv[0]);
        std::exit(2);
      }
    }
  }

  int threads() const { return threads_; }
  bool quick() const { return quick_; }
  bool listing() const { return list_; }
  /// Whether a case of this name will run: asked before costly preparations.
  bool wants(const std::string& name) const { return std::regex_search(name, filter_); }

  /// Runs `body` often enough to be timed, several times over, and prints the median time of one
  /// call.
  template <class F>
  void operator()(const std::string& name, Work work, F&& body) {
    if (!wants(name)) return;
    if (list_) {
      std::printf("%s\n", name.c_str());
      return;
    }
    const double sample_seconds = quick_ ? 0.004 : 0.01;
    body();  // first touch, caches of primitives
    int64_t calls = 1;
    double seconds = std::min(time(calls, body), time(calls, body));
    while (seconds < sample_seconds / 2 && calls < (int64_t{1} << 30)) {
      calls *= seconds <= 0
                   ? 10
                   : std::clamp<int64_t>(static_cast<int64_t>(sample_seconds / seconds), 2, 10);
      // The better of two: an interruption must not pass for the work.
      seconds = std::min(time(calls, body), time(calls, body));
    }
    const int sample_count = quick_ || seconds > kLong ? 3 : 5;
    std::vector<double> samples;
    for (int i = 0; i < sample_count; ++i) {
      samples.push_back(1e9 * time(calls, body) / static_cast<double>(calls) / work.per);
    }
    std::sort(samples.begin(), samples.end());
    std::printf("{\"name\": \"%s\", \"ns\": %.6g, \"best\": %.6g, \"bytes\": %.17g, \"flops\": "
                "%.17g, \"memory\": %.17g, \"calls\": %lld}\n",
                name.c_str(), samples[samples.size() / 2], samples[0], work.bytes / work.per,
                work.flops / work.per, work.memory, static_cast<long long>(calls));
    std::fflush(stdout);
  }

 private:
  /// Seconds from which on a call is measured less often.
  static constexpr double kLong = 0.1;

  template <class F>
  static double time(int64_t calls, F&& body) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < calls; ++i) body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::regex filter_{""};
  int threads_ = 1;
  bool quick_ = false;
  bool list_ = false;
};

}  // namespace bench
