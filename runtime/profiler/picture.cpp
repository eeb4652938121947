#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "runtime/profiler/recorder.h"

namespace tenon::profiler {
namespace {

// In pixels.
constexpr double kWidth = 1200, kMargin = 12, kAxis = 22, kRow = 20, kMemory = 90;
constexpr double kPlot = kWidth - 2 * kMargin;
constexpr double kLetter = 6.6;  // of the font below
constexpr double kSmallest = 0.4;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    default: out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

const char* color(EventKind kind) {
  switch (kind) {
  case EventKind::Operator: return "#a6cee3";
  case EventKind::Backward: return "#fdbf6f";
  case EventKind::Range: break;
  }
  return "#dddddd";
}

/// "1.25 ms": the largest unit that leaves a digit before the point.
std::string scaled(double value, std::initializer_list<std::pair<double, const char*>> units) {
  for (const auto& [unit, name] : units) {
    if (std::abs(value) < unit) continue;
    std::ostringstream text;
    text.precision(4);
    text << value / unit << ' ' << name;
    return text.str();
  }
  return "0";
}

std::string duration(double ns) {
  return scaled(ns, {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
}

std::string bytes(int64_t n) {
  return scaled(static_cast<double>(n),
                {{0x1p30, "GiB"}, {0x1p20, "MiB"}, {1024, "KiB"}, {1, "B"}});
}

/// A round step that makes about ten of `length`: 1, 2 or 5 times a power of ten.
double round_step(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(length, 1.0) / 10)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (length / (factor * power) <= 10) return factor * power;
  }
  return 10 * power;
}

std::string description(const Event& e, const ProfileOptions& options) {
  std::string text = escaped(e.name) + ", " + duration(static_cast<double>(e.total_ns())) +
                     ", of its own " + duration(static_cast<double>(e.self_ns()));
  if (options.profile_memory) text += ", memory " + bytes(e.bytes);
  if (e.flops > 0) text += ", " + std::to_string(e.flops) + " flop";
  if (options.record_shapes) {
    for (const auto& shape : e.shapes) {
      text += " [";
      for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
      text += "]";
    }
  }
  return text;
}

/// How deep each event lies within others.
std::vector<size_t> depths(const std::vector<Event>& events) {
  std::vector<size_t> depth(events.size(), 0);
  // Parents stand before what is within them.
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].parent != Event::kNone) depth[i] = depth[events[i].parent] + 1;
  }
  return depth;
}

class Picture {
 public:
  Picture(const std::vector<Event>& events, const ProfileOptions& options)
      : events_(events), options_(options), depth_(depths(events)) {
    for (const Event& e : events) end_ = std::max(end_, static_cast<double>(e.end_ns));
    for (const size_t d : depth_) rows_ = std::max(rows_, d + 1);
  }

  std::string svg() {
    const double bottom = kAxis + static_cast<double>(rows_) * kRow + 8;
    const double height = bottom + (options_.profile_memory ? kMemory + 24 : 0) + kMargin;
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kWidth << ' ' << height
         << "\" font-family=\"monospace\" font-size=\"11\">\n<rect width=\"" << kWidth
         << "\" height=\"" << height << "\" fill=\"white\"/>\n";
    axis(bottom);
    for (size_t i = 0; i < events_.size(); ++i) box(i);
    for (const Event& e : events_) {
      if (e.forward != Event::kNone) arrow(e);
    }
    if (options_.profile_memory) memory(bottom + 16);
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  double x(int64_t ns) const { return kMargin + static_cast<double>(ns) / end_ * kPlot; }
  double y(const Event& e) const {
    return kAxis + static_cast<double>(depth_[static_cast<size_t>(&e - events_.data())]) * kRow;
  }

  void axis(double bottom) {
    const double step = round_step(end_);
    for (double t = 0; t <= end_; t += step) {
      const double at = x(static_cast<int64_t>(t));
      out_ << "<path d=\"M " << at << ' ' << kAxis - 4 << " V " << bottom
           << "\" stroke=\"#eeeeee\"/><text x=\"" << at << "\" y=\"" << kAxis - 8
           << "\" fill=\"#777777\">" << duration(t) << "</text>\n";
    }
  }

  void box(size_t i) {
    const Event& e = events_[i];
    const double left = x(e.start_ns), width = std::max(x(e.end_ns) - left, kSmallest);
    out_ << "<rect x=\"" << left << "\" y=\"" << y(e) << "\" width=\"" << width << "\" height=\""
         << kRow - 2 << "\" fill=\"" << color(e.kind)
         << "\" stroke=\"white\" stroke-width=\"0.3\"><title>" << description(e, options_)
         << "</title></rect>\n";
    std::string_view name = e.name;
    if (name.starts_with("aten::")) name.remove_prefix(6);
    const auto fits = static_cast<size_t>(std::max(0.0, (width - 4) / kLetter));
    if (fits < std::min<size_t>(name.size(), 4)) return;
    out_ << "<text x=\"" << left + 2 << "\" y=\"" << y(e) + kRow - 7
         << "\" pointer-events=\"none\">" << escaped(name.substr(0, fits)) << "</text>\n";
  }

  /// From the end of a forward call to the beginning of its backward node.
  void arrow(const Event& backward) {
    const Event& forward = events_[backward.forward];
    const double from = x(forward.end_ns), to = x(backward.start_ns);
    const double below = kAxis + static_cast<double>(rows_) * kRow + 6;
    out_ << "<path d=\"M " << from << ' ' << y(forward) + kRow - 2 << " C " << from << ' ' << below
         << ", " << to << ' ' << below << ", " << to << ' ' << y(backward) + kRow - 2
         << "\" fill=\"none\" stroke=\"#e31a1c\" stroke-width=\"0.6\" opacity=\"0.5\"/>\n";
  }

  /// The bytes in use, as steps: what an event left behind it.
  void memory(double top) {
    std::vector<const Event*> order;
    for (const Event& e : events_) order.push_back(&e);
    std::ranges::stable_sort(order, {}, &Event::end_ns);
    int64_t most = 1;
    for (const Event* e : order) most = std::max(most, e->live_bytes);
    const auto at = [&](int64_t n) {
      return top + kMemory * (1 - static_cast<double>(n) / static_cast<double>(most));
    };
    int64_t level = order.empty() ? 0 : order.front()->live_bytes - order.front()->bytes;
    out_ << "<path d=\"M " << kMargin << ' ' << top + kMemory << " V " << at(level);
    for (const Event* e : order) {
      if (e->live_bytes == level) continue;
      level = e->live_bytes;
      out_ << " H " << x(e->end_ns) << " V " << at(level);
    }
    out_ << " H " << kMargin + kPlot << " V " << top + kMemory
         << " Z\" fill=\"#b2df8a\"/>\n<text x=\"" << kMargin << "\" y=\"" << top - 4
         << "\">memory in use, at most " << bytes(most) << "</text>\n";
  }

  const std::vector<Event>& events_;
  const ProfileOptions& options_;
  const std::vector<size_t> depth_;
  double end_ = 1;
  size_t rows_ = 1;
  std::ostringstream out_;
};

}  // namespace

void Profile::export_svg(const std::string& path) const {
  const Recorder& recorder = recorded("export_svg");
  std::ofstream out(path, std::ios::trunc);
  out << Picture(recorder.events, recorder.options).svg();
  TENON_CHECK(out.flush(), "[Profile::export_svg] cannot write ", path);
}

}  // namespace tenon::profiler
