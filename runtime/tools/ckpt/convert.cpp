#include <cstdio>
#include <filesystem>

#include "runtime/serialization/load.h"
#include "runtime/serialization/progress_bar.h"
#include "runtime/serialization/safetensors/safetensors.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/sharded/sharded.h"
#include "runtime/tools/ckpt/checkpoint.h"
#include "runtime/tools/ckpt/commands.h"

namespace tenon::ckpt {
namespace {

using namespace serialization;

/// The format that is asked for, or that the name suggests.
Format target_of(const Options& options) {
  for (const Format format : {Format::Zip, Format::Legacy, Format::Safetensors, Format::Sharded})
    if (options.to == name_of(format)) return format;
  TENON_CHECK(options.to.empty(),
              "[tenon-ckpt] --to must be zip, legacy, safetensors or sharded, "
              "got '",
              options.to, "'");
  const std::string& path = options.arguments.at(1);
  if (path.ends_with(".safetensors")) return Format::Safetensors;
  if (path.ends_with('/') || std::filesystem::is_directory(path)) return Format::Sharded;
  return Format::Zip;
}

Value load_all(const std::string& path, bool quiet) {
  serialization::ProgressBar bar("read", !quiet);
  LoadOptions options;
  options.map_location = "cpu";
  options.weights_only = false;
  options.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
  return load(path, options);
}

/// The tensors of a value as a flat dict, as formats need that hold nothing else.
StateDict tensors_of(const Value& value, const Options& options, Format target) {
  StateDict state("Tensor");
  bool flat = value.is_dict();
  std::string other;
  if (flat) {
    for (const auto& [key, item] : value.entries()) {
      if (key.is_string() && item.is_tensor()) continue;
      flat = false;
      other = tenon::detail::concat(key, " is ", item.description());
      break;
    }
  } else {
    other = tenon::detail::concat("it is ", value.description());
  }
  TENON_CHECK(flat || options.flatten, "[tenon-ckpt] '", options.arguments[0],
              "' is no flat dict of tensors, which is all that ", name_of(target),
              " can hold: ", other,
              "; --flatten takes its tensors, under names with dots, and leaves out the rest");
  size_t left_out = 0;
  serialization::Budget budget = budget_of(options.arguments[0]);
  each_leaf(value, budget, [&](const std::string& name, const Value& leaf) {
    leaf.is_tensor() ? static_cast<void>(state.insert(name, leaf.to_tensor()))
                     : static_cast<void>(++left_out);
  });
  if (left_out > 0 && !options.quiet)
    std::fprintf(stderr, "tenon-ckpt: %zu values that are no tensors are left out\n", left_out);
  return state;
}

void save_value(const Value& value, const Options& options, Format target) {
  serialization::ProgressBar bar("write", !options.quiet);
  SaveOptions save_options;
  save_options.format =
      target == Format::Legacy ? SaveOptions::Format::Legacy : SaveOptions::Format::Zip;
  save_options.compact = options.compact;
  save_options.deflate = options.deflate;
  save_options.progress = [&](uint64_t done, uint64_t total) { bar.update(done, total); };
  save(value, options.arguments[1], save_options);
}

}  // namespace

Status convert(const Options& options) {
  const std::string &from = options.arguments.at(0), &to = options.arguments.at(1);
  const Format source = format_of(from), target = target_of(options);
  const bool pickled_source = source == Format::Zip || source == Format::Legacy;
  const bool pickled_target = target == Format::Zip || target == Format::Legacy;
  if (pickled_source && pickled_target) {
    save_value(load_all(from, options.quiet), options, target);
    return kFine;
  }
  StateDict state("Tensor");
  SafetensorsMetadata metadata;
  if (pickled_source) {
    state = tensors_of(load_all(from, options.quiet), options, target);
  } else {
    const auto checkpoint = Checkpoint::open(from);
    metadata = checkpoint->metadata();
    for (const Entry& entry : checkpoint->entries())
      state.insert(entry.name, checkpoint->tensor(entry.name));
  }
  if (target == Format::Safetensors) {
    save_safetensors(state, to, metadata);
  } else if (target == Format::Sharded) {
    save_sharded(state, to,
                 {.deflate = options.deflate, .sha256 = options.sha256, .metadata = metadata});
  } else {
    if (!metadata.empty() && !options.quiet)
      std::fprintf(stderr, "tenon-ckpt: the metadata is left out, for which %s has no place\n",
                   name_of(target));
    const Value dict = Value::ordered_dict();
    for (const auto& item : state) dict.set_item(item.key(), item.value());
    save_value(dict, options, target);
  }
  return kFine;
}

}  // namespace tenon::ckpt
