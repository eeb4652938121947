#include "runtime/serialization/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace tenon::serialization {
namespace {

constexpr size_t kBarWidth = 24;
constexpr size_t kNameWidth = 32;
constexpr std::chrono::milliseconds kInterval{100};

struct Unit {
  double bytes;
  const char* name;
};

Unit unit_for(double bytes) {
  constexpr std::array<Unit, 4> kUnits{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes) return unit;
  }
  return kUnits.back();
}

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  char text[160];
  std::snprintf(text, sizeof(text), pattern, arguments...);
  return text;
}

}  // namespace

std::string progress_line(const std::string& name, uint64_t done, std::optional<uint64_t> total,
                          double bytes_per_second) {
  std::string shown = name;
  if (shown.size() > kNameWidth) shown = "..." + shown.substr(shown.size() - (kNameWidth - 3));
  const Unit speed = unit_for(bytes_per_second);
  const std::string rate = format("%.1f %s/s", bytes_per_second / speed.bytes, speed.name);
  if (!total || *total == 0) {
    const Unit unit = unit_for(static_cast<double>(done));
    return format("%s  %.1f %s  %s", shown.c_str(), static_cast<double>(done) / unit.bytes,
                  unit.name, rate.c_str());
  }
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(*total));
  const auto filled = static_cast<size_t>(part * kBarWidth);
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  const Unit unit = unit_for(static_cast<double>(*total));
  return format("%s  %3d%% [%s]  %.1f/%.1f %s  %s", shown.c_str(), static_cast<int>(part * 100),
                bar.c_str(), static_cast<double>(done) / unit.bytes,
                static_cast<double>(*total) / unit.bytes, unit.name, rate.c_str());
}

ProgressBar::ProgressBar(std::string name, bool enabled)
    : name_(std::move(name)), enabled_(enabled && ::isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputc('\n', stderr);
}

void ProgressBar::update(uint64_t done, std::optional<uint64_t> total) {
  if (!enabled_) return;
  // What an earlier download left does not count as speed.
  if (!first_) first_ = done;
  const Clock::time_point now = Clock::now();
  if (now - last_ < kInterval && done != total) return;
  last_ = now;
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now - start_).count());
  const double got = done > *first_ ? static_cast<double>(done - *first_) : 0;
  std::fprintf(stderr, "\r\x1b[K%s", progress_line(name_, done, total, got / seconds).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::note(const std::string& text) {
  if (!enabled_) return;
  std::fprintf(stderr, "\r\x1b[K%s: %s\n", name_.c_str(), text.c_str());
}

}  // namespace tenon::serialization
