#include <algorithm>

#include "aten/dispatch/warning.h"
#include "runtime/nn/archive.h"
#include "runtime/optim/optimizer.h"
#include "tenon/ops/full.h"
#include "tenon/ops/item.h"

// Optimizers in archives, in libtorch's form:
//     {pytorch_version, state: {"0": {step, exp_avg, ...}, ...},
//      param_groups: {size, 0: {params: {size, 0: "0", ...}, options: {lr, ...}}, ...}}
// A parameter's key in `state` is its number; files of libtorch have another text there.

namespace tenon::optim {
namespace {

using serialize::InputArchive;
using serialize::OutputArchive;

/// The version that libtorch writes, and whose form this is.
constexpr const char* kVersion = "1.5.0";

// ---- fields ----

IValue value_of(double v) { return IValue(v); }
IValue value_of(bool v) { return IValue(v); }
IValue value_of(int64_t v) { return IValue(v); }
IValue value_of(const std::tuple<double, double>& v) {
  return IValue(std::vector<double>{std::get<0>(v), std::get<1>(v)});
}
IValue value_of(const std::optional<int64_t>& v) { return IValue(v); }
IValue value_of(const std::optional<std::string>& v) { return v ? IValue(*v) : IValue(); }
IValue value_of(const Tensor& v) { return v.defined() ? IValue(v) : IValue(); }
IValue value_of(const std::deque<Tensor>& v) {
  return IValue(std::vector<Tensor>(v.begin(), v.end()));
}
IValue value_of(const std::optional<std::vector<Tensor>>& v) { return v ? IValue(*v) : IValue(); }

void set(double& v, const IValue& value) { v = value.toDouble(); }
void set(bool& v, const IValue& value) { v = value.toBool(); }
void set(int64_t& v, const IValue& value) { v = value.toInt(); }
void set(std::tuple<double, double>& v, const IValue& value) {
  const auto both = value.toDoubleVector();
  TENON_CHECK(both.size() == 2, "[optim] expected a pair of numbers, got ", both.size());
  v = {both[0], both[1]};
}
void set(std::optional<int64_t>& v, const IValue& value) {
  v = value.isNone() ? std::nullopt : std::optional<int64_t>(value.toInt());
}
void set(std::optional<std::string>& v, const IValue& value) {
  v = value.isNone() ? std::nullopt : std::optional<std::string>(value.toStringRef());
}
void set(Tensor& v, const IValue& value) { v = value.toTensor(); }
void set(std::deque<Tensor>& v, const IValue& value) {
  const std::vector<Tensor> all = value.toTensorVector();
  v = {all.begin(), all.end()};
}
void set(std::optional<std::vector<Tensor>>& v, const IValue& value) { v = value.toTensorVector(); }

/// What is kept of a parameter leaves out what is absent; options say None.
void write(OutputArchive& archive, const Fields& fields, bool with_none) {
  for (const Field& field : fields) {
    const IValue value = std::visit([](auto* v) { return value_of(*v); }, field.value);
    if (with_none || !value.isNone()) archive.write(std::string(field.name), value);
  }
}

void read(InputArchive& archive, const Fields& fields) {
  for (const Field& field : fields) {
    IValue value;
    if (archive.try_read(std::string(field.name), value))
      std::visit([&](auto* v) { set(*v, value); }, field.value);
  }
}

// ---- lists of a size, as libtorch writes them ----

IValue size_value(size_t size) {
  return IValue(full({}, static_cast<int64_t>(size), TensorOptions(kLong)));
}

size_t read_size(InputArchive& archive, const std::string& key) {
  IValue size;
  archive.read(key + "/size", size);
  return static_cast<size_t>(size.toTensor().item<int64_t>());
}

// ---- archives of before PyTorch 1.5: a list of tensors for each part of the states ----

/// "exp_average_buffers" for "exp_avg".
std::string old_name(std::string_view name) {
  std::string text(name);
  if (const size_t at = text.find("avg"); at != text.npos) text.replace(at, 3, "average");
  return text.ends_with("_buffer") ? text + "s" : text + "_buffers";
}

std::vector<Tensor> read_tensors(InputArchive& archive, const std::string& key) {
  std::vector<Tensor> tensors;
  IValue size;
  if (!archive.try_read(key + "/size", size)) return tensors;
  for (int64_t i = 0; i < size.toTensor().item<int64_t>(); ++i)
    archive.read(key + "/" + std::to_string(i), tensors.emplace_back());
  return tensors;
}

void read_old(InputArchive& archive, const Tensor& p, size_t place, OptimizerParamState& state) {
  for (const Field& field : state.fields()) {
    const std::vector<Tensor> tensors = read_tensors(archive, old_name(field.name));
    if (place >= tensors.size()) continue;
    if (auto* const* step = std::get_if<int64_t*>(&field.value))
      **step = tensors[place].item<int64_t>();
    else if (auto* const* tensor = std::get_if<Tensor*>(&field.value))
      **tensor = tensors[place].to(p.device());
  }
}

size_t num_old(InputArchive& archive, OptimizerParamState& state) {
  size_t most = 0;
  for (const Field& field : state.fields())
    most = std::max(most, read_tensors(archive, old_name(field.name)).size());
  return most;
}

}  // namespace

void OptimizerParamState::serialize(OutputArchive& archive) const {
  write(archive, const_cast<OptimizerParamState&>(*this).fields(), false);
}

void OptimizerParamState::serialize(InputArchive& archive) { read(archive, fields()); }

void OptimizerOptions::serialize(OutputArchive& archive) const {
  write(archive, const_cast<OptimizerOptions&>(*this).fields(), true);
}

void OptimizerOptions::serialize(InputArchive& archive) { read(archive, fields()); }

void Optimizer::save(OutputArchive& archive) const {
  archive.write("pytorch_version", IValue(std::string(kVersion)));
  OutputArchive states, groups;
  groups.write("param_groups/size", size_value(groups_.size()));
  size_t place = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<Tensor>& params = groups_[g].params();
    OutputArchive group, options;
    group.write("params/size", size_value(params.size()));
    for (size_t i = 0; i < params.size(); ++i, ++place) {
      const std::string key = std::to_string(place);
      group.write("params/" + std::to_string(i), IValue(key));
      const auto found = state_.find(params[i].unsafe_impl());
      if (found == state_.end()) continue;
      OutputArchive state;
      found->second->serialize(state);
      states.write(key, state);
    }
    groups_[g].options().serialize(options);
    group.write("options", options);
    groups.write("param_groups/" + std::to_string(g), group);
  }
  archive.write("state", states);
  archive.write("param_groups", groups);
}

void Optimizer::load(InputArchive& archive) {
  IValue version;
  if (!archive.try_read("pytorch_version", version)) return load_old(archive);
  InputArchive states, groups;
  archive.read("state", states);
  archive.read("param_groups", groups);
  const size_t count = read_size(groups, "param_groups");
  TENON_CHECK_VALUE(count == groups_.size(),
                    "loaded state dict has a different number of parameter groups");
  // All of it is read before any of it is taken.
  std::vector<std::unique_ptr<OptimizerOptions>> new_options;
  State new_states;
  for (size_t g = 0; g < count; ++g) {
    const std::vector<Tensor>& params = groups_[g].params();
    InputArchive group, options;
    groups.read("param_groups/" + std::to_string(g), group);
    TENON_CHECK_VALUE(read_size(group, "params") == params.size(),
                      "loaded state dict contains a parameter group that has a different size than "
                      "the optimizer's parameter group");
    group.read("options", options);
    new_options.push_back(groups_[g].options().clone());
    new_options.back()->serialize(options);
    for (size_t i = 0; i < params.size(); ++i) {
      IValue key;
      group.read("params/" + std::to_string(i), key);
      InputArchive state;
      if (!states.try_read(key.toStringRef(), state)) continue;
      std::unique_ptr<OptimizerParamState> kept = new_state();
      kept->serialize(state);
      new_states[params[i].unsafe_impl()] = std::move(kept);
    }
  }
  for (size_t g = 0; g < count; ++g) groups_[g].set_options(std::move(new_options[g]));
  state_ = std::move(new_states);
}

void Optimizer::warn_of_old_archive() {
  TENON_WARN("Your optimizer is still using the old serialization format, of before PyTorch 1.5. "
             "Save it again to use the new one.");
}

void Optimizer::load_old(InputArchive& archive) {
  warn_of_old_archive();
  const std::vector<Tensor>& params = groups_.at(0).params();
  const size_t count = num_old(archive, *new_state());
  TENON_CHECK_VALUE(count <= params.size(), "[optim] the file is of ", count,
                    " parameters, the optimizer of ", params.size());
  for (size_t i = 0; i < count; ++i) {
    std::unique_ptr<OptimizerParamState> state = new_state();
    read_old(archive, params[i], i, *state);
    state_[params[i].unsafe_impl()] = std::move(state);
  }
}

OutputArchive& operator<<(OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace tenon::optim
