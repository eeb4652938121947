#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"
#include "runtime/tools/ckpt/numbers.h"
#include "runtime/tools/ckpt/text.h"

namespace tenon::ckpt {
namespace {

/// How many elements are shown.
constexpr size_t kFirst = 8;

struct Statistics {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double mean = 0;
  int64_t finite = 0, nan = 0, infinite = 0, zero = 0;
  std::vector<double> first;
  bool more = false;  ///< than `first`

  void add(const std::vector<double>& numbers) {
    for (const double x : numbers) {
      nan += std::isnan(x);
      infinite += std::isinf(x);
      zero += x == 0;
      if (!std::isfinite(x)) continue;
      ++finite;
      least = std::min(least, x);
      most = std::max(most, x);
      mean += (x - mean) / static_cast<double>(finite);
    }
  }
  /// All of that so often.
  void repeat(int64_t times) {
    for (int64_t* count : {&finite, &nan, &infinite, &zero}) *count *= times;
  }
};

/// Nothing for dtypes that are not computed with.
std::optional<Statistics> statistics_of(const Tensor& tensor) {
  Statistics s;
  std::vector<Tensor> once = {tensor};
  const int64_t times = drop_repeats(once);
  const bool computed = each_part(once, [&](const std::vector<Tensor>& parts) {
    const auto numbers = numbers_of(parts[0]);
    if (numbers) s.add(*numbers);
    return numbers.has_value();
  });
  if (!computed) return std::nullopt;
  s.repeat(times);
  s.first = first_numbers(tensor, kFirst);
  s.more = s.finite + s.nan + s.infinite > static_cast<int64_t>(s.first.size());
  return s;
}

std::string printed(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", number);
  return text;
}

Json json_of(const Entry& entry, const std::optional<Statistics>& s) {
  Json json{
      {"name", entry.name}, {"dtype", entry.kind}, {"shape", entry.shape}, {"bytes", entry.bytes}};
  if (!entry.form.empty()) json["kind"] = entry.form;
  if (!s) return json;
  if (s->finite > 0) json.update({{"min", s->least}, {"max", s->most}, {"mean", s->mean}});
  json.update({{"nan", s->nan}, {"inf", s->infinite}, {"zero", s->zero}});
  Json& first = json["first"] = Json::array();
  // JSON has no NaN and no infinity.
  for (const double x : s->first)
    std::isfinite(x) ? first.push_back(x) : first.push_back(printed(x));
  return json;
}

}  // namespace

Status show(const Options& options) {
  const auto checkpoint = Checkpoint::open(options.arguments.at(0));
  const std::string& name = options.arguments.at(1);
  const Entry* entry = checkpoint->find(name);
  TENON_CHECK(entry, "[tenon-ckpt] '", options.arguments[0], "' has no '", shown(name),
              "'; tenon-ckpt ls lists what it has");
  if (!entry->is_tensor) {
    if (options.json) {
      print_json({{"name", name}, {"kind", entry->kind}, {"value", entry->text}});
    } else {
      std::puts(shown(entry->text).c_str());
    }
    return kFine;
  }
  const auto s =
      entry->form.empty() ? statistics_of(checkpoint->tensor(name)) : std::optional<Statistics>();
  if (options.json) {
    print_json(json_of(*entry, s));
    return kFine;
  }
  std::printf("%s  %s %s  %s\n", shown(name).c_str(), shown(dtype_and_form(*entry)).c_str(),
              readable_shape(entry->shape).c_str(), readable_bytes(entry->bytes).c_str());
  if (!s || s->first.empty()) return kFine;
  if (s->finite > 0) {
    std::printf("min %s  max %s  mean %s\n", printed(s->least).c_str(), printed(s->most).c_str(),
                printed(s->mean).c_str());
  }
  std::printf("nan %" PRId64 "  inf %" PRId64 "  zero %" PRId64 "\n", s->nan, s->infinite, s->zero);
  for (size_t i = 0; i < s->first.size(); ++i)
    std::printf("%s%s", i == 0 ? "" : " ", printed(s->first[i]).c_str());
  std::puts(s->more ? " ..." : "");
  return kFine;
}

}  // namespace tenon::ckpt
