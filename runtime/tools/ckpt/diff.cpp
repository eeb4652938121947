#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"
#include "runtime/tools/ckpt/numbers.h"
#include "runtime/tools/ckpt/text.h"

namespace tenon::ckpt {
namespace {

/// The largest difference of two elements; infinite where only one is NaN; nothing for dtypes that
/// are not computed with.
std::optional<double> largest_difference(const Tensor& x, const Tensor& y) {
  double largest = 0;
  const bool computed = each_part({x, y}, [&](const std::vector<Tensor>& parts) {
    const auto a = numbers_of(parts[0]), b = numbers_of(parts[1]);
    if (!a) return false;
    for (size_t i = 0; i < a->size(); ++i) {
      const double p = (*a)[i], q = (*b)[i];
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      const double distance = std::abs(p - q);
      largest = std::max(largest, std::isnan(distance) ? INFINITY : distance);
    }
    return true;
  });
  return computed ? std::optional(largest) : std::nullopt;
}

class Comparison {
 public:
  Comparison(const Options& options)
      : options_(options), a_(Checkpoint::open(options.arguments.at(0))),
        b_(Checkpoint::open(options.arguments.at(1))) {}

  Json run() {
    std::set<std::string> seen;
    for (const Entry& entry : a_->entries()) {
      seen.insert(entry.name);
      const Entry* other = b_->find(entry.name);
      if (!other) {
        add(entry.name, "removed", describe(entry));
      } else {
        compare(entry, *other);
      }
    }
    for (const Entry& entry : b_->entries())
      if (!seen.contains(entry.name)) add(entry.name, "added", describe(entry));
    return std::move(found_);
  }

 private:
  static std::string describe(const Entry& entry) {
    return entry.is_tensor ? dtype_and_form(entry) + " " + readable_shape(entry.shape) : entry.text;
  }

  void add(const std::string& name, const char* what, const std::string& text) {
    found_.push_back({{"name", name}, {"what", what}, {"text", text}});
  }

  void compare(const Entry& a, const Entry& b) {
    const bool comparable = a.is_tensor && b.is_tensor && a.shape == b.shape;
    if (!comparable) {
      if (describe(a) != describe(b)) add(a.name, "changed", describe(a) + " -> " + describe(b));
      return;
    }
    const auto other_type = [&] { add(a.name, "changed", describe(a) + " -> " + describe(b)); };
    if (a.form != b.form) return other_type();
    if (a.form == "meta") {  // there are no elements to differ
      if (a.kind != b.kind) other_type();
      return;
    }
    TENON_CHECK(a.form.empty(), "[tenon-ckpt] '", shown(a.name), "' is ", a.form,
                " in both files; elements of such tensors cannot be compared");
    std::vector<Tensor> both = {a_->tensor(a.name), b_->tensor(b.name)};
    // Formats have names of their own for dtypes.
    if (both[0].dtype() != both[1].dtype()) return other_type();
    drop_repeats(both);
    if (same_bits(both[0], both[1])) return;
    const auto distance = largest_difference(both[0], both[1]);
    if (!distance) {
      add(a.name, "values", "other bits");
      return;
    }
    if (*distance <= options_.tolerance) return;
    char text[64];
    std::snprintf(text, sizeof(text), "largest difference %.6g", *distance);
    add(a.name, "values", text);
    if (std::isfinite(*distance)) found_.back()["largest"] = *distance;
  }

  const Options& options_;
  std::unique_ptr<Checkpoint> a_, b_;
  Json found_ = Json::array();
};

}  // namespace

Status diff(const Options& options) {
  const Json found = Comparison(options).run();
  if (options.json) {
    print_json(found);
  } else {
    for (const Json& item : found) {
      std::printf("%-8s %s: %s\n", item["what"].get<std::string>().c_str(),
                  shown(item["name"].get<std::string>()).c_str(),
                  shown(item["text"].get<std::string>()).c_str());
    }
  }
  return found.empty() ? kFine : kFound;
}

}  // namespace tenon::ckpt
