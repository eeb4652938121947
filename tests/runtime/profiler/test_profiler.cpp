#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "aten/core/allocator.h"
#include "aten/core/error.h"
#include "aten/core/thread_state.h"
#include "aten/generated_support/tensor_factories.h"
#include "runtime/profiler/profiler.h"
#include "tenon/ops/add.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/mm.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/sum.h"
#include "tenon/tensor.h"

using namespace tenon;
using profiler::Event;
using profiler::EventKind;
using profiler::Profile;

namespace {

std::vector<std::string> names(const Profile& profile) {
  std::vector<std::string> found;
  for (const Event& e : profile.events()) found.push_back(e.name);
  return found;
}

const Event& event(const Profile& profile, const std::string& name) {
  for (const Event& e : profile.events()) {
    if (e.name == name) return e;
  }
  FAIL("no event " << name);
  throw 0;
}

}  // namespace

TEST_CASE("profiler: operators in their order, and none before or after") {
  const Tensor a = ones({2, 3});
  a + a;
  Profile profile({.record_shapes = true});
  const Tensor b = a * 2;
  (b + a).sum();
  profile.stop();
  a + a;
  CHECK(names(profile) ==
        std::vector<std::string>{"aten::mul.Scalar", "aten::add.Tensor", "aten::sum"});
  const Event& add = event(profile, "aten::add.Tensor");
  CHECK(add.shapes == std::vector<std::vector<int64_t>>{{2, 3}, {2, 3}});
  CHECK(add.kind == EventKind::Operator);
  CHECK(add.device == Device(kCPU));
  CHECK(add.end_ns >= add.start_ns);
  CHECK(thread_state.skipped_layers == kThreadLayers);
}

TEST_CASE("profiler: a backward node knows its forward call") {
  Tensor w = ones({3, 3}).requires_grad_();
  const Tensor x = ones({3, 3});
  Profile profile;
  const Tensor y = mm(x, w);
  const Tensor z = y * y;
  z.sum().backward();
  profile.stop();
  const Event& node = event(profile, "MmBackward0");
  CHECK(node.kind == EventKind::Backward);
  REQUIRE(node.forward != Event::kNone);
  CHECK(profile.events()[node.forward].name == "aten::mm");
  const Event& mul = event(profile, "MulBackward0");
  REQUIRE(mul.forward != Event::kNone);
  CHECK(profile.events()[mul.forward].name == "aten::mul.Tensor");
  // The operators that a node calls are within it.
  std::set<std::string> within;
  for (const Event& e : profile.events()) {
    if (e.parent != Event::kNone) within.insert(profile.events()[e.parent].name);
  }
  CHECK(within.count("MmBackward0") == 1);
  CHECK(event(profile, "AccumulateGrad").forward == Event::kNone);
}

TEST_CASE("profiler: ranges nest, own time is what is not within") {
  const Tensor a = ones({64, 64});
  Profile profile;
  {
    const profiler::RecordFunction outer("outer");
    const profiler::RecordFunction inner("inner");
    mm(a, a);
  }
  profile.stop();
  REQUIRE(names(profile) == std::vector<std::string>{"outer", "inner", "aten::mm"});
  const auto& events = profile.events();
  CHECK(events[0].parent == Event::kNone);
  CHECK(events[1].parent == 0);
  CHECK(events[2].parent == 1);
  CHECK(events[1].self_ns() == events[1].total_ns() - events[2].total_ns());
  CHECK(events[0].self_ns() == events[0].total_ns() - events[1].total_ns());
  CHECK(events[0].total_ns() >= events[1].total_ns());
  CHECK(events[1].total_ns() >= events[2].total_ns());
}

TEST_CASE("profiler: memory and floating-point operations") {
  const Tensor a = ones({128, 64}), b = ones({64, 256});
  Tensor kept;
  Profile profile({.profile_memory = true, .with_flops = true});
  kept = mm(a, b);
  a + a;  // given back at once, but after the call
  kept.reset();
  profile.stop();
  const Event& product = event(profile, "aten::mm");
  CHECK(product.bytes >= 128 * 256 * 4);
  CHECK(product.flops == int64_t{2} * 128 * 64 * 256);
  CHECK(event(profile, "aten::add.Tensor").flops == 0);
  CHECK(product.live_bytes >= product.bytes);
}

TEST_CASE("profiler: operations by operator") {
  using profiler::flops;
  CHECK(flops("aten::bmm", {{5, 2, 3}, {5, 3, 4}}, {5, 2, 4}) == 2 * 5 * 2 * 3 * 4);
  CHECK(flops("aten::addmm", {{4}, {2, 3}, {3, 4}}, {2, 4}) == 2 * 2 * 3 * 4);
  CHECK(flops("aten::linear", {{7, 3}, {4, 3}, {4}}, {7, 4}) == 2 * 7 * 3 * 4);
  CHECK(flops("aten::conv2d", {{1, 4, 8, 8}, {6, 2, 3, 3}}, {1, 6, 6, 6}) ==
        2 * 6 * 6 * 6 * 2 * 3 * 3);
  CHECK(flops("aten::relu", {{7}}, {7}) == 0);
}

TEST_CASE("profiler: averages and the table") {
  const Tensor a = ones({4}), b = ones({8});
  Profile profile({.record_shapes = true});
  a + a;
  a + a;
  b + b;
  a* a;
  profile.stop();
  int64_t calls = 0;
  for (const auto& average : profile.averages()) {
    if (average.name == "aten::add.Tensor") calls = average.count;
  }
  CHECK(calls == 3);
  CHECK(profile.averages(true).size() == 3);
  const std::string table = profile.table(profiler::SortBy::Count);
  CHECK(table.find("aten::add.Tensor") < table.find("aten::mul.Tensor"));
  CHECK(table.find("# of Calls") != std::string::npos);
  CHECK(table.find("Self CPU time total: ") != std::string::npos);
  CHECK(profile.table(profiler::SortBy::Count, 1).find("aten::mul.Tensor") == std::string::npos);
  CHECK(profile.table(profiler::SortBy::Count, 9, true).find("[[8], [8]]") != std::string::npos);
}

TEST_CASE("profiler: a trace for the browser") {
  Tensor w = ones({4}).requires_grad_();
  Profile profile({.record_shapes = true, .profile_memory = true});
  {
    const profiler::RecordFunction range("a \"quoted\" range");
    (w * w).sum().backward();
  }
  profile.stop();
  const std::string path =
      (std::filesystem::temp_directory_path() / "tenon_test_profiler_trace.json").string();
  profile.export_chrome_trace(path);
  std::ifstream in(path);
  const auto trace = nlohmann::json::parse(in);
  std::filesystem::remove(path);
  size_t spans = 0, starts = 0, ends = 0;
  for (const auto& e : trace["traceEvents"]) {
    spans += e["ph"] == "X";
    starts += e["ph"] == "s";
    ends += e["ph"] == "f";
  }
  CHECK(spans == profile.events().size());
  CHECK(starts >= 1);
  CHECK(starts == ends);
  CHECK(trace["traceEvents"][0]["name"] == "a \"quoted\" range");
  CHECK_THROWS_AS(profile.export_chrome_trace("/nowhere/trace.json"), Error);
}

TEST_CASE("profiler: a picture") {
  Tensor w = ones({64, 64}).requires_grad_();
  Profile profile({.record_shapes = true, .profile_memory = true});
  {
    const profiler::RecordFunction range("a < \"b\" & c");
    (w * w).sum().backward();
  }
  profile.stop();
  const std::string path =
      (std::filesystem::temp_directory_path() / "tenon_test_profiler_picture.svg").string();
  profile.export_svg(path);
  std::ifstream in(path);
  const std::string svg{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  const auto count = [&](const std::string& part) {
    size_t n = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++n;
    return n;
  };
  // A box with its text for each event, an arrow for each node whose forward call is known.
  CHECK(count("<title>") == profile.events().size());
  const auto arrows = std::ranges::count_if(profile.events(), [](const profiler::Event& e) {
    return e.forward != profiler::Event::kNone;
  });
  CHECK(arrows >= 2);
  CHECK(count(" C ") == static_cast<size_t>(arrows));
  CHECK(count("<title>a &lt; &quot;b&quot; &amp; c, ") == 1);
  CHECK(count("memory 16 KiB [64, 64] [64, 64]</title>") == 1);
  CHECK(count("memory in use, at most ") == 1);
  CHECK(count("nan") + count("inf") == 0);
  CHECK_THROWS_AS(profile.export_svg("/nowhere/picture.svg"), Error);

  Profile nothing;
  nothing.stop();
  nothing.export_svg(path);
  CHECK(std::filesystem::remove(path));
}

TEST_CASE("profiler: exceptions and misuse") {
  Profile profile;
  CHECK_THROWS_AS(Profile(), Error);
  CHECK_THROWS_AS(profile.events(), Error);
  CHECK_THROWS_AS(mm(ones({2, 3}), ones({2, 3})), Error);
  const Tensor a = ones({2});
  a + a;
  profile.stop();
  profile.stop();
  const auto& events = profile.events();
  REQUIRE(events.back().name == "aten::add.Tensor");
  CHECK(events.back().parent == Event::kNone);
}
