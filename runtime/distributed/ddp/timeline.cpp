#include "runtime/distributed/ddp/timeline.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "aten/core/error.h"

namespace tenon::distributed {
namespace {

/// The time before `end` in which one of the reductions was under way. They begin in order.
int64_t busy(const DdpTimeline& t, int64_t end) {
  int64_t total = 0, until = 0;
  for (size_t i = 0; i < std::min(t.launched.size(), t.reduced.size()); ++i) {
    const int64_t begin = std::max(t.launched[i], until), stop = std::min(t.reduced[i], end);
    if (stop > begin) total += stop - begin;
    until = std::max(until, t.reduced[i]);
  }
  return total;
}

std::atomic<int> models{0};

}  // namespace

int64_t DdpTimeline::communication() const { return busy(*this, INT64_MAX); }
int64_t DdpTimeline::overlap() const { return busy(*this, last_gradient); }

namespace detail {

TimelineLog::TimelineLog(int rank) : rank_(rank), number_(models++) {
  const char* folder = std::getenv("TENON_DDP_TRACE");
  if (!folder || !*folder) return;
  std::error_code ignored;  // opening the file tells
  std::filesystem::create_directories(folder, ignored);
  const std::string path = std::string(folder) + "/ddp_rank_" + std::to_string(rank) + ".json";
  const bool is_first = number_ == 0 || !std::filesystem::exists(path);
  file_.open(path, is_first ? std::ios::trunc : std::ios::app);
  TENON_CHECK(file_, "[DistributedDataParallel] TENON_DDP_TRACE: cannot write ", path, ": ",
              std::strerror(errno));
  if (is_first) {
    file_ << "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" << rank_
          << ",\"args\":{\"name\":\"rank " << rank_ << "\"}},\n";
  }
  for (int thread = 0; thread < 2; ++thread) {
    file_ << "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":" << rank_
          << ",\"tid\":" << 2 * number_ + thread << ",\"args\":{\"name\":\"model " << number_
          << (thread == 0 ? ": computation" : ": reduction") << "\"}},\n";
  }
  file_.flush();
}

void TimelineLog::add(const DdpTimeline& t) {
  const int64_t iteration = iteration_++;
  if (!file_.is_open() || (iteration >= 10 && iteration % 100 != 0)) return;
  std::ostringstream arguments;
  arguments << "\"iteration\":" << iteration << ",\"communication_us\":" << t.communication() / 1000
            << ",\"overlap_us\":" << t.overlap() / 1000;
  if (t.forward > 0) event("forward", 0, t.began - t.forward, t.began, arguments.str());
  event("backward", 0, t.began, t.began + t.last_gradient, arguments.str());
  for (size_t i = 0; i < std::min(t.launched.size(), t.reduced.size()); ++i) {
    std::ostringstream bucket;
    bucket << "\"iteration\":" << iteration
           << ",\"bytes\":" << (i < t.bucket_bytes.size() ? t.bucket_bytes[i] : 0);
    event("bucket " + std::to_string(i), 1, t.began + t.launched[i], t.began + t.reduced[i],
          bucket.str());
  }
  file_.flush();
}

void TimelineLog::event(const std::string& name, int thread, int64_t begin, int64_t end,
                        const std::string& arguments) {
  file_ << "{\"name\":\"" << name << "\",\"ph\":\"X\",\"pid\":" << rank_
        << ",\"tid\":" << 2 * number_ + thread << std::fixed << std::setprecision(3)
        << ",\"ts\":" << static_cast<double>(begin) / 1e3
        << ",\"dur\":" << static_cast<double>(std::max<int64_t>(end - begin, 0)) / 1e3
        << ",\"args\":{" << arguments << "}},\n";
}

}  // namespace detail

}  // namespace tenon::distributed
