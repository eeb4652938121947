#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "runtime/profiler/recorder.h"

namespace tenon::profiler {
namespace {

template <class... Args>
std::string print(const char* format, Args... args) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, args...);
  return text.data();
}

std::string time_text(double ns) {
  if (ns >= 1e9) return print("%.3fs", ns / 1e9);
  if (ns >= 1e6) return print("%.3fms", ns / 1e6);
  return print("%.3fus", ns / 1e3);
}

std::string memory_text(int64_t bytes) {
  const double size = static_cast<double>(bytes);
  constexpr double kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
  if (std::abs(size) >= kGiB) return print("%.2f GiB", size / kGiB);
  if (std::abs(size) >= kMiB) return print("%.2f MiB", size / kMiB);
  if (std::abs(size) >= kKiB) return print("%.2f KiB", size / kKiB);
  return print("%.0f B", size);
}

std::string percent_text(int64_t part, int64_t whole) {
  const double share =
      whole > 0 ? 100. * static_cast<double>(part) / static_cast<double>(whole) : 0;
  return print("%.2f%%", share);
}

std::string flops_text(int64_t flops) {
  if (flops == 0) return "--";
  const double f = static_cast<double>(flops);
  if (f >= 1e12) return print("%.3f T", f / 1e12);
  if (f >= 1e9) return print("%.3f G", f / 1e9);
  if (f >= 1e6) return print("%.3f M", f / 1e6);
  return print("%.3f K", f / 1e3);
}

std::string shapes_text(const std::vector<std::vector<int64_t>>& shapes) {
  std::string text = "[";
  for (const auto& shape : shapes) {
    if (text.size() > 1) text += ", ";
    text += '[';
    for (size_t i = 0; i < shape.size(); ++i)
      text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    text += ']';
  }
  return text + "]";
}

/// Lines of cells: the first column to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string rule;
  for (const size_t width : widths) rule += std::string(width, '-') + "  ";
  rule.replace(rule.size() - 2, 2, "\n");
  std::string text = rule;
  for (size_t l = 0; l < lines.size(); ++l) {
    for (size_t i = 0; i < lines[l].size(); ++i) {
      const std::string space(widths[i] - lines[l][i].size(), ' ');
      text += i == 0 ? lines[l][i] + space : "  " + space + lines[l][i];
    }
    text += '\n';
    if (l == 0) text += rule;
  }
  return text + rule;
}

}  // namespace

std::vector<Average> Profile::averages(bool by_shapes) const {
  std::map<std::pair<std::string, std::vector<std::vector<int64_t>>>, Average> found;
  for (const Event& e : recorded("averages").events) {
    auto shapes = by_shapes ? e.shapes : std::vector<std::vector<int64_t>>();
    Average& a = found[{e.name, shapes}];
    a.name = e.name;
    a.shapes = std::move(shapes);
    ++a.count;
    a.self_ns += e.self_ns();
    a.total_ns += e.total_ns();
    a.bytes += e.bytes;
    a.peak_live_bytes = std::max(a.peak_live_bytes, e.live_bytes);
    a.flops += e.flops;
  }
  std::vector<Average> result;
  for (auto& [key, average] : found) result.push_back(std::move(average));
  return result;
}

std::string Profile::table(SortBy sort, size_t rows, bool by_shapes) const {
  const ProfileOptions& options = recorded("table").options;
  std::vector<Average> all = averages(by_shapes);
  const auto key = [sort](const Average& a) {
    switch (sort) {
    case SortBy::SelfTime: return a.self_ns;
    case SortBy::TotalTime: return a.total_ns;
    case SortBy::Count: return a.count;
    case SortBy::Bytes: break;
    }
    return a.bytes;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Average& a, const Average& b) { return key(a) > key(b); });
  int64_t whole = 0;
  for (const Average& a : all) whole += a.self_ns;

  std::vector<std::vector<std::string>> lines(1);
  lines[0] = {"Name",      "Self CPU %",   "Self CPU",  "CPU total %",
              "CPU total", "CPU time avg", "# of Calls"};
  if (options.profile_memory) lines[0].insert(lines[0].end(), {"CPU Mem", "Peak in use"});
  if (options.with_flops) lines[0].push_back("FLOPs");
  if (by_shapes) lines[0].push_back("Input Shapes");
  for (size_t i = 0; i < std::min(rows, all.size()); ++i) {
    const Average& a = all[i];
    auto& line = lines.emplace_back();
    line = {a.name,
            percent_text(a.self_ns, whole),
            time_text(static_cast<double>(a.self_ns)),
            percent_text(a.total_ns, whole),
            time_text(static_cast<double>(a.total_ns)),
            time_text(static_cast<double>(a.total_ns) / static_cast<double>(a.count)),
            std::to_string(a.count)};
    if (options.profile_memory)
      line.insert(line.end(), {memory_text(a.bytes), memory_text(a.peak_live_bytes)});
    if (options.with_flops) line.push_back(flops_text(a.flops));
    if (by_shapes) line.push_back(shapes_text(a.shapes));
  }
  return aligned(lines) + "Self CPU time total: " + time_text(static_cast<double>(whole)) + "\n";
}

}  // namespace tenon::profiler
