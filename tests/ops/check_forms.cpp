#include "aten/dispatch/operator_entry.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

#include <cstring>

namespace tenon::ops_test {
namespace {

/// Runs the out form into `outs` and compares; `how` names the kind of tensors. `refusal` is the
/// text of an error that may come instead.
void check_out_into(const Case& c, const char* how, const Call& call,
                    const std::vector<TensorBase>& outs, const char* refusal = nullptr) {
  const bool compare_values = c.wants("values");
  std::vector<TensorBase> results;
  try {
    results = tensors_of(call.run(*c.forms.out, outs));
  } catch (const Error& error) {
    if (refusal && std::strstr(error.what(), refusal)) return;
    return c.fail(how, error.what());
  }
  for (size_t i = 0; i < outs.size(); ++i) {
    const auto& expected = c.expected.results[i];
    // Lists are written, and not returned.
    const bool returned = results.size() == outs.size() && results[i].is_same(outs[i]);
    if (!returned && !(results.empty() && c.forms.schema.returns[0].type.is_tensor_list())) {
      c.fail(how, "the result is not the tensor given");
    } else if (compare_values) {
      const std::string text = compare_tensor(expected, outs[i], c.ulps(expected.cells.dtype));
      if (!text.empty()) c.fail(how, text);
    } else if (outs[i].sizes() != IntArrayRef(expected.sizes)) {
      c.fail(how, "expected sizes " + list_text(expected.sizes) + ", found " +
                      list_text(outs[i].sizes()));
    }
  }
}

TensorBase filled(const TensorBase& tensor) {
  Cells cells =
      convert(Cells{kLong, std::vector<int64_t>(tensor.numel(), 1), {}}, tensor.scalar_type());
  write_cells(tensor, cells);
  return tensor;
}

/// Each argument that has the result's sizes and dtype, given as out: the result stands in it, or
/// the operator says that it writes into no argument.
void check_out_is_input(const Case& c) {
  if (c.expected.results.size() != 1) return;
  const auto& expected = c.expected.results[0];
  const Call plain = c.call();
  for (size_t i = 0; i < plain.num_tensors(); ++i) {
    if (plain.tensor(i).sizes() != IntArrayRef(expected.sizes) ||
        plain.tensor(i).scalar_type() != expected.cells.dtype) {
      continue;
    }
    Call call = c.call();
    const TensorBase shared = rearranged(call.tensor(i), Arrangement::kContiguous);
    call.set_tensor(i, shared);
    check_out_into(c, "out= an argument", call, {shared}, "refer to a single memory location");
  }
}

}  // namespace

void check_out(const Case& c) {
  if (!c.forms.out) return;
  std::vector<TensorBase> fresh, wrong, strided;
  for (const auto& result : c.expected.results) {
    if (!result.defined || result.number) return;
    const ScalarType dtype = result.cells.dtype;
    std::vector<int64_t> larger = result.sizes;
    larger.push_back(2);
    // Of more elements: linspace and its like keep an out of as many.
    if (numel_of(larger) == 0) larger = {2};
    fresh.push_back(empty({0}, dtype, kCPU));
    wrong.push_back(filled(empty(larger, dtype, kCPU)));
    strided.push_back(filled(empty_arranged(result.sizes, dtype, Arrangement::kEverySecond, 1)));
  }
  const auto strides = [](const TensorBase& t) { return t.strides().vec(); };
  std::vector<std::vector<int64_t>> before;
  for (const TensorBase& t : strided) before.push_back(strides(t));
  check_out_into(c, "out= empty", c.call(), fresh);
  check_out_into(c, "out= wrong sizes", c.call(), wrong);
  check_out_into(c, "out= with gaps", c.call(), strided);
  for (size_t i = 0; i < strided.size(); ++i) {
    if (strides(strided[i]) != before[i]) c.fail("out= with gaps", "the strides were changed");
  }
  check_out_is_input(c);
}

void check_inplace(const Case& c) {
  if (!c.forms.inplace) return;
  Call call = c.call();
  const size_t num_selfs = call.num_selfs();
  if (num_selfs == 0 || c.expected.results.size() != num_selfs) return;
  bool fits = true;
  std::vector<TensorBase> selfs;
  std::vector<Cells> before;
  std::vector<int64_t> versions;
  std::string shapes;
  for (size_t i = 0; i < num_selfs; ++i) {
    const auto& expected = c.expected.results[i];
    const TensorBase self = rearranged(call.tensor(i), Arrangement::kContiguous);
    call.set_tensor(i, self);
    fits &= self.sizes() == IntArrayRef(expected.sizes) &&
            can_cast(expected.cells.dtype, self.scalar_type());
    shapes += detail::concat(" the result is ", expected.cells.dtype, list_text(expected.sizes),
                             ", self ", self.scalar_type(), list_text(self.sizes()));
    before.push_back(read_cells(self));
    versions.push_back(self._version());
    selfs.push_back(self);
  }
  const bool is_list = c.forms.schema.args[0].type.is_tensor_list();
  try {
    const auto results = tensors_of(call.run(*c.forms.inplace));
    if (!fits) return c.fail("in place", "expected an error:" + shapes);
    const bool returned = results.size() == 1 && results[0].is_same(selfs[0]);
    if (is_list ? !results.empty() : !returned) c.fail("in place", "the result is not self");
  } catch (const Error& error) {
    if (fits) return c.fail("in place", error.what());
    // Of a list, those before the one that does not fit are written.
    const std::string text = is_list ? "" : compare_cells(before[0], read_cells(selfs[0]), 0);
    if (!text.empty()) c.fail("in place", "the error left self changed: " + text);
    return;
  }
  for (size_t i = 0; i < num_selfs; ++i) {
    const auto& expected = c.expected.results[i];
    if (selfs[i]._version() != versions[i] + 1) {
      c.fail("in place",
             detail::concat("the version went from ", versions[i], " to ", selfs[i]._version()));
    }
    if (!expected.has_values) continue;
    const Cells wanted = convert(expected.cells, selfs[i].scalar_type());
    const std::string text =
        compare_cells(wanted, read_cells(selfs[i]), c.ulps(expected.cells.dtype));
    if (!text.empty()) c.fail("in place", text);
  }
}

}  // namespace tenon::ops_test
