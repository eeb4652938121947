#include <catch2/catch.hpp>
#include <cmath>

#include "aten/dispatch/operator_entry.h"
#include "tenon/tensor.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace tenon::ops_test {
namespace {

std::string compare_number(const Scalar& expected, const Value& found) {
  const bool is_bool = expected.is_boolean() && std::holds_alternative<bool>(found.variant());
  const Scalar number = is_bool ? Scalar(found.to_bool()) : found.to_scalar();
  if (number.type() == expected.type() && number.equal(expected)) return "";
  return detail::concat("expected ", expected, ", found ", number);
}

/// Strides matter where there is more than one element and only along dimensions longer than one.
bool same_strides(IntArrayRef sizes, IntArrayRef a, IntArrayRef b) {
  if (numel_of(sizes) < 2) return true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1 && a[d] != b[d]) return false;
  }
  return true;
}

std::string check_memory(const Case& c, const Call& call, const std::vector<TensorBase>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& expected = c.expected.results[i];
    const TensorBase& found = results[i];
    if (!expected.defined || expected.number) continue;
    if (c.wants("strides") && !same_strides(found.sizes(), expected.strides, found.strides())) {
      return "expected strides " + list_text(expected.strides) + ", found " +
             list_text(found.strides());
    }
    for (size_t k = 0; c.wants("memory") && k < call.num_tensors() && found.numel(); ++k) {
      const bool wanted = expected.alias_of == static_cast<int64_t>(k);
      if (call.tensor(k).numel() && found.is_alias_of(call.tensor(k)) != wanted) {
        return detail::concat("the result should ", wanted ? "" : "not ",
                              "share the memory of tensor argument ", k);
      }
    }
  }
  return "";
}

TensorBase to_meta(const TensorBase& tensor) {
  return empty_strided(tensor.sizes(), tensor.strides(), tensor.scalar_type(), kMeta);
}

}  // namespace

double Case::ulps(ScalarType dtype) const {
  const std::string own = sample.row->option("ulps");
  if (is_reduced_floating_point(dtype)) return own.empty() ? 2 : 4;
  return own.empty() ? 8 : std::stod(own);
}

std::string Case::compare(const Stack& results, double slack) const {
  if (expected.results.size() == 1 && expected.results[0].number) {
    return results.size() == 1 ? compare_number(*expected.results[0].number, results[0])
                               : "expected one result, found " + std::to_string(results.size());
  }
  const auto tensors = tensors_of(results);
  if (tensors.size() != expected.results.size()) {
    return detail::concat("expected ", expected.results.size(), " results, found ", tensors.size());
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& wanted = expected.results[i];
    const TensorBase found = tensors[i].defined() ? Tensor(tensors[i]).cpu() : TensorBase();
    const std::string text = compare_tensor(wanted, found, slack * ulps(wanted.cells.dtype));
    if (!text.empty()) return tensors.size() == 1 ? text : detail::concat("result ", i, ": ", text);
  }
  return "";
}

void Case::fail(const std::string& check, const std::string& text) const {
  FAIL_CHECK(sample.where() << " [" << check << "] " << text << "\n  " << sample.row->line);
}

void check_error(const Case& c) {
  // Both with and without the autograd layer, which an exception passes through.
  for (const bool recorded : {false, true}) {
    const Call call = c.call();
    bool wants_grad = false;
    for (size_t i = 0; recorded && i < call.num_tensors(); ++i) {
      if (!call.recipe(i).wants_grad()) continue;
      Tensor(call.tensor(i)).set_requires_grad(true);
      wants_grad = true;
    }
    if (recorded && !wants_grad) return;
    try {
      call.run(*c.forms.op);
    } catch (const Error& error) {
      const std::string wanted = c.sample.row->option("error");
      if (!recorded && std::string_view(error.what()).find(wanted) == std::string_view::npos) {
        c.fail("error", "expected a message with `" + wanted + "`, found: " + error.what());
      }
      continue;
    }
    // A dtype that PyTorch lacks a kernel for may work here.
    if (c.expected.error->find("not implemented for") != std::string::npos) continue;
    return c.fail("error",
                  "expected an error like PyTorch's `" + *c.expected.error + "`, found none");
  }
}

void check_results(const Case& c) {
  const Call call = c.call();
  std::vector<Cells> before;
  for (size_t i = 0; i < call.num_tensors(); ++i) before.push_back(read_cells(call.tensor(i)));
  const Stack results = call.run(*c.forms.op);
  const std::string text = c.compare(results);
  if (!text.empty()) return c.fail("result", text);
  const std::string memory = check_memory(c, call, tensors_of(results));
  if (!memory.empty()) c.fail("memory", memory);
  // Where self is returned it is compared above; lists are only written.
  const bool returns_self = c.forms.writes_self() && !c.forms.schema.returns.empty();
  for (size_t i = returns_self ? 1 : 0; i < call.num_tensors(); ++i) {
    const Cells after = read_cells(call.tensor(i));
    const auto written = c.expected.changed.find(i);
    const std::string text = written == c.expected.changed.end()
                                 ? compare_cells(before[i], after, 0)
                                 : compare_cells(written->second, after, c.ulps(after.dtype));
    if (!text.empty()) {
      c.fail("result", detail::concat("tensor argument ", i, " after the call: ", text));
    }
  }
}

void check_noncontiguous(const Case& c) {
  // Where random numbers go depends on the layout; rows with a layout of their own test that.
  if (!c.sample.row->option("seed").empty()) return;
  const auto compare = [&](const char* how, const std::function<TensorBase(const TensorBase&)>& f) {
    const std::string text = c.compare(c.call().mapped(f).run(*c.forms.op));
    if (!text.empty()) c.fail(how, text);
  };
  const Call call = c.call();
  int64_t dims = 0;
  for (size_t i = 0; i < call.num_tensors(); ++i) dims = std::max(dims, call.tensor(i).dim());
  if (dims >= 1) {
    compare("with gaps",
            [](const TensorBase& t) { return rearranged(t, Arrangement::kEverySecond, 1); });
  }
  if (dims >= 2) {
    compare("reversed", [](const TensorBase& t) { return rearranged(t, Arrangement::kReversed); });
  }
}

void check_meta(const Case& c) {
  if (c.expected.results.size() == 1 && c.expected.results[0].number) return;
  const Call call = c.call();
  Call meta = call.mapped(to_meta);
  if (call.num_tensors() == 0) {
    const int device = c.forms.schema.arg_index("device");
    if (device < 0) return;
    meta.set_argument(device, Device(kMeta));
  }
  const auto results = tensors_of(meta.run(*c.forms.op));
  const auto real = tensors_of(call.run(*c.forms.op));
  if (results.size() != real.size()) return c.fail("meta", "wrong number of results");
  for (size_t i = 0; i < results.size(); ++i) {
    if (!real[i].defined() && !results[i].defined()) continue;
    if (!real[i].defined() || !results[i].defined()) {
      c.fail("meta", "a result is undefined on one device only");
    } else if (!results[i].is_meta()) {
      c.fail("meta", "the result is not a meta tensor");
    } else if (results[i].scalar_type() != real[i].scalar_type()) {
      c.fail("meta", detail::concat("expected dtype ", real[i].scalar_type(), ", found ",
                                    results[i].scalar_type()));
    } else if (results[i].sizes() != real[i].sizes()) {
      c.fail("meta", "expected sizes " + list_text(real[i].sizes()) + ", found " +
                         list_text(results[i].sizes()));
    } else if (!same_strides(real[i].sizes(), real[i].strides(), results[i].strides())) {
      c.fail("meta", "expected strides " + list_text(real[i].strides()) + ", found " +
                         list_text(results[i].strides()));
    }
  }
}

}  // namespace tenon::ops_test
