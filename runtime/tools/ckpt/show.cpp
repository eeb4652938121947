#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"
#include "runtime/tools/ckpt/numbers.h"

namespace tenon::ckpt {
namespace {

using Json = nlohmann::ordered_json;

/// How many elements are shown.
constexpr size_t kFirst = 8;

struct Statistics {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double mean = 0;
  size_t finite = 0, nan = 0, infinite = 0, zero = 0;
  std::vector<double> first;
  bool more = false;  ///< than `first`

  void add(const std::vector<double>& numbers) {
    for (const double x : numbers) {
      if (first.size() < kFirst) {
        first.push_back(x);
      } else {
        more = true;
      }
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
};

/// Nothing for dtypes that are not computed with.
std::optional<Statistics> statistics_of(const Tensor& tensor) {
  Statistics s;
  const bool computed = each_part({tensor}, [&](const std::vector<Tensor>& parts) {
    const auto numbers = numbers_of(parts[0]);
    if (numbers) s.add(*numbers);
    return numbers.has_value();
  });
  return computed ? std::optional(std::move(s)) : std::nullopt;
}

std::string shown(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", number);
  return text;
}

Json json_of(const Entry& entry, const std::optional<Statistics>& s) {
  Json json{
      {"name", entry.name}, {"dtype", entry.kind}, {"shape", entry.shape}, {"bytes", entry.bytes}};
  if (!s) return json;
  if (s->finite > 0) json.update({{"min", s->least}, {"max", s->most}, {"mean", s->mean}});
  json.update({{"nan", s->nan}, {"inf", s->infinite}, {"zero", s->zero}});
  Json& first = json["first"] = Json::array();
  // JSON has no NaN and no infinity.
  for (const double x : s->first) std::isfinite(x) ? first.push_back(x) : first.push_back(shown(x));
  return json;
}

}  // namespace

Status show(const Options& options) {
  const auto checkpoint = Checkpoint::open(options.arguments.at(0));
  const std::string& name = options.arguments.at(1);
  const Entry* entry = checkpoint->find(name);
  TENON_CHECK(entry, "[tenon-ckpt] '", options.arguments[0], "' has no '", name,
              "'; tenon-ckpt ls lists what it has");
  if (!entry->is_tensor) {
    const Json json{{"name", name}, {"kind", entry->kind}, {"value", entry->text}};
    std::puts(options.json ? json.dump(1, ' ', false, Json::error_handler_t::replace).c_str()
                           : entry->text.c_str());
    return kFine;
  }
  const auto s = statistics_of(checkpoint->tensor(name));
  if (options.json) {
    std::puts(json_of(*entry, s).dump(1, ' ', false, Json::error_handler_t::replace).c_str());
    return kFine;
  }
  std::printf("%s  %s %s  %s\n", name.c_str(), entry->kind.c_str(),
              readable_shape(entry->shape).c_str(), readable_bytes(entry->bytes).c_str());
  if (!s || s->first.empty()) return kFine;
  if (s->finite > 0) {
    std::printf("min %s  max %s  mean %s\n", shown(s->least).c_str(), shown(s->most).c_str(),
                shown(s->mean).c_str());
  }
  std::printf("nan %zu  inf %zu  zero %zu\n", s->nan, s->infinite, s->zero);
  for (size_t i = 0; i < s->first.size(); ++i)
    std::printf("%s%s", i == 0 ? "" : " ", shown(s->first[i]).c_str());
  std::puts(s->more ? " ..." : "");
  return kFine;
}

}  // namespace tenon::ckpt
