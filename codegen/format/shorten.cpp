#include "codegen/format/shorten.h"

#include <algorithm>
#include <map>

#include "codegen/format/layout.h"
#include "codegen/load/loader.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/expression.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/yaml/short_schema.h"

namespace tenon::codegen {
namespace {

struct Edit {
  Extent extent;
  std::string text;
};

bool same(const VariantSet& a, const VariantSet& b) {
  return a.function == b.function && a.method == b.method && a.inplace == b.inplace &&
         a.out == b.out;
}

bool is_conventional(const Operator& op) {
  return !op.dispatch.empty() &&
         std::all_of(op.dispatch.begin(), op.dispatch.end(), [&](const DispatchEntry& entry) {
           return entry.kernel_namespace.empty() &&
                  entry.kernel == kernel_name(op.schema, entry.key);
         });
}

std::string backends_of(const Operator& op) {
  std::string text;
  for (const DispatchEntry& entry : op.dispatch) text += (text.empty() ? "" : ", ") + entry.key;
  return text;
}

/// What one entry can leave out or say shorter. `ops` are the operators that it stands for: what is
/// left out must follow for each of them.
class EntryShortener {
 public:
  EntryShortener(const SourceFile& file, const Model& model, const YamlNode& entry,
                 std::vector<const Operator*> ops, Extent region)
      : file_(file), model_(model), entry_(entry), layout_(file, entry, region) {
    for (const Operator* op : ops) ops_.push_back(*op);
  }

  void run(std::vector<Edit>& edits) {
    if (!layout_.understood() || layout_.is_flow(entry_) || ops_.empty()) return;
    options();
    kernels();
    dtypes();
    module();
    variants();
    tags();
    gradient();
    edits.insert(edits.end(), edits_.begin(), edits_.end());
  }

 private:
  using Pair = std::pair<YamlPtr, YamlPtr>;

  const Pair* find(std::string_view name) const {
    for (const Pair& pair : entry_.entries) {
      if (pair.first->scalar.text == name) return &pair;
    }
    return nullptr;
  }

  template <typename Test>
  bool all(Test test) const {
    return std::all_of(ops_.begin(), ops_.end(), test);
  }

  bool has_comment(Extent extent) const {
    return std::any_of(layout_.comments().begin(), layout_.comments().end(), [&](const Comment& c) {
      return c.extent.begin >= extent.begin && c.extent.begin < extent.end;
    });
  }

  Extent extent(const Pair& pair) const {
    return {layout_.extent(*pair.first).begin, layout_.value_extent(*pair.first, *pair.second).end};
  }

  /// With its whole lines; nothing where a comment stands there, or the entry begins.
  bool drop(std::string_view name) {
    const Pair* pair = find(name);
    if (pair == nullptr || pair == &entry_.entries.front()) return false;
    const Extent own = extent(*pair);
    const Extent lines = {file_.offset(layout_.line(own.begin), 1),
                          file_.offset(layout_.line(own.end) + 1, 1)};
    if (has_comment(lines)) return false;
    edits_.push_back({lines, ""});
    return true;
  }

  bool replace(const Pair& pair, const std::string& text) {
    const Extent own = extent(pair);
    if (has_comment(own)) return false;
    edits_.push_back({own, text});
    return true;
  }

  void options() {
    const Pair* schema = find("func");
    if (schema == nullptr || ops_.size() > 1) return;
    const std::string& text = schema->second->scalar.text;
    const std::string folded = fold_tensor_options(text);
    if (folded != text) replace(*schema, "func: " + folded);
  }

  void kernels() {
    const Pair* dispatch = find("dispatch");
    if (dispatch == nullptr || !dispatch->second->is_map() || !all(is_conventional)) return;
    const std::string backends = backends_of(ops_[0]);
    if (!all([&](const Operator& op) { return backends_of(op) == backends; })) return;
    std::string key = "dispatch";
    bool done = false;
    if (ops_[0].is<Structured>()) {
      const Pair* structured = find("structured");
      done = structured != nullptr && !has_comment(extent(*dispatch)) && drop("dispatch") &&
             replace(*structured, "structured: " + backends);
    } else if (backends.starts_with("Composite") && backends.find(',') == std::string::npos) {
      const bool is_explicit = backends.starts_with("CompositeExplicit");
      const std::string_view word = is_explicit ? "CompositeExplicit" : "CompositeImplicit";
      const bool known = backends == word || backends == std::string(word) + "Autograd";
      key = "composite";
      if (!known || find("composite") != nullptr) return;
      done = replace(*dispatch, is_explicit ? "composite: explicit" : "composite: implicit");
    } else {
      done = replace(*dispatch, "dispatch: " + backends);
    }
    if (!done) return;
    for (Operator& op : ops_) {
      op.names_backends = true;
      if (key == "composite") op.keys.push_back({key, op.location});
    }
  }

  /// The expression alone is for these dtypes, and no others.
  static bool follow(Operator op) {
    const std::vector<std::string> said = {op.as<Pointwise>()->cases[0].category};
    op.as<Pointwise>()->cases[0].category.clear();
    return op.as<Pointwise>()->cases.size() == 1 && served_dtypes(op) == said;
  }

  void dtypes() {
    const Pair* pointwise = find("pointwise");
    if (pointwise == nullptr) return;
    const auto is_one_expression = [](const Operator& op) {
      if (!op.as<Pointwise>() || !op.as<Pointwise>()->complete ||
          op.as<Pointwise>()->cases.empty() || op.schema.returns.size() != 1) {
        return false;
      }
      const std::vector<PointwiseCase>& cases = op.as<Pointwise>()->cases;
      return std::all_of(cases.begin(), cases.end(), [&](const PointwiseCase& one) {
        return one.output.empty() && one.backend.empty() && !one.category.empty() &&
               one.expression.text == cases[0].expression.text;
      });
    };
    if (!all(is_one_expression)) return;
    // With more than one category, kernels differ by them: one expression for all would be another.
    const bool follows = all(follow);
    if (!pointwise->second->is_map()) {
      if (follows) drop("dtypes");
      return;
    }
    std::string names;
    for (const PointwiseCase& one : ops_[0].as<Pointwise>()->cases) {
      names += (names.empty() ? "" : ", ") + one.category;
    }
    const Pair& first = pointwise->second->entries.front();
    const Extent value = layout_.value_extent(*first.first, *first.second);
    const Extent own = extent(*pointwise);
    if (has_comment(own) || layout_.is_block_scalar(*first.second) ||
        layout_.line(value.begin) != layout_.line(value.end)) {
      return;
    }
    const size_t line_end = file_.offset(layout_.line(own.end) + 1, 1) - 1;
    const std::string comment = file_.text().substr(own.end, line_end - own.end);
    std::string text = "pointwise: " + std::string(layout_.text(value)) + comment;
    if (!follows) text += "\n  dtypes: " + names;
    edits_.push_back({{own.begin, line_end}, text});
  }

  void module() {
    const bool follows = all([](const Operator& op) {
      return op.python_module && op.python_module->text == module_of(op.schema) &&
             (op.uses_tenon_keys() || op.is<AliasOf>());
    });
    if (follows) drop("python_module");
  }

  void variants() {
    const bool follows = all([&](const Operator& op) {
      if (!op.is<AliasOf>()) return same(op.variants, default_variants(op));
      const AliasOf* alias = op.as<AliasOf>();
      const OperatorRef* of =
          alias != nullptr && alias->of ? model_.find(alias->of->text) : nullptr;
      if (of == nullptr) return false;
      VariantSet set = model_.op(*of).variants;
      if (op.python_module) set.method = set.inplace = false;
      return same(op.variants, set);
    });
    if (follows) drop("variants");
  }

  void tags() {
    const Pair* pair = find("tags");
    const bool follows =
        pair != nullptr && pair->second->is_scalar() && all([](const Operator& op) {
          return op.tags.size() == 1 && op.has_tag(kSeededTag) &&
                 (randomness(op.schema) || draws_random_numbers(op));
        });
    if (follows) drop("tags");
  }

  void gradient() {
    const bool follows = all([](const Operator& op) {
      return op.has_key("non_differentiable") && op.non_differentiable && has_no_gradient(op);
    });
    if (follows) drop("non_differentiable");
  }

  const SourceFile& file_;
  const Model& model_;
  const YamlNode& entry_;
  const Layout layout_;
  std::vector<Operator> ops_;
  std::vector<Edit> edits_;
};

Model load_text(const std::string& text, DiagnosticSink& sink) {
  Sources sources;
  sources.native = {sink.sources().add("", text)};
  return load(sources, Dialect::kTenon, sink);
}

std::string shorten_entries(const std::string& text) {
  DiagnosticSink sink;
  const Model model = load_text(text, sink);
  const SourceFile& file = *sink.sources().files().back();
  const YamlPtr root = parse_yaml(file, sink);
  if (root == nullptr || sink.has_errors()) return text;
  std::map<uint32_t, std::vector<const Operator*>> by_line;
  for (const Operator& op : model.operators()) by_line[op.location.line].push_back(&op);
  std::vector<Edit> edits;
  for (size_t i = 0; i < root->items.size(); ++i) {
    const YamlNode& entry = *root->items[i];
    if (!entry.is_map()) continue;
    const auto ops = by_line.find(entry.location.line);
    if (ops == by_line.end()) continue;
    const size_t end = i + 1 < root->items.size()
                           ? file.offset(root->items[i + 1]->location.line, 1)
                           : file.text().size();
    const Extent region = {file.offset(entry.location.line, 1), end};
    EntryShortener(file, model, entry, ops->second, region).run(edits);
  }
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.extent.begin > b.extent.begin; });
  std::string result = file.text();
  for (const Edit& edit : edits) {
    result.replace(edit.extent.begin, edit.extent.end - edit.extent.begin, edit.text);
  }
  return result;
}

using Lines = std::vector<std::string>;

/// One formatted entry: its lines, and those that may differ between entries that become one.
struct Block {
  size_t end = 0;    // line of the file behind it
  std::string head;  // "- func: " or "- alias: "
  std::string schema;
  std::map<std::string, std::string> names;  // key -> value, of those that take alternatives
  Lines others;
  bool plain = true;  // without comments
};

std::optional<Block> block_at(const Lines& lines, size_t begin) {
  Block block;
  for (const char* head : {"- func: ", "- alias: "}) {
    if (lines[begin].starts_with(head)) block.head = head;
  }
  if (block.head.empty()) return std::nullopt;
  block.schema = lines[begin].substr(block.head.size());
  size_t i = begin + 1;
  for (; i < lines.size() && lines[i].starts_with("  "); ++i) {
    bool is_name = false;
    for (const char* key : {"of", "check", "out_name"}) {
      const std::string prefix = "  " + std::string(key) + ": ";
      if (!lines[i].starts_with(prefix)) continue;
      block.names[key] = lines[i].substr(prefix.size());
      is_name = true;
    }
    if (!is_name) block.others.push_back(lines[i]);
    block.plain = block.plain && lines[i].find('#') == std::string::npos;
  }
  block.end = i;
  // An empty line within a text of several lines.
  while (i < lines.size() && lines[i].empty()) ++i;
  if (i < lines.size() && lines[i].starts_with(" ")) block.plain = false;
  block.plain = block.plain && block.schema.find_first_of("#\"'|") == std::string::npos;
  return block;
}

/// `blocks` as one entry, or nothing.
std::optional<Lines> join(const std::vector<Block>& blocks) {
  std::vector<std::string> schemas;
  for (const Block& block : blocks) {
    if (!block.plain || block.head != blocks[0].head || block.others != blocks[0].others) {
      return std::nullopt;
    }
    schemas.push_back(block.schema);
  }
  const std::optional<std::string> schema = join_alternatives(schemas);
  if (!schema) return std::nullopt;
  Lines lines = {blocks[0].head + *schema};
  std::map<std::string, std::string> names;
  for (const char* key : {"of", "check", "out_name"}) {
    std::string joined;
    bool any = false, differ = false;
    for (const Block& block : blocks) {
      const auto found = block.names.find(key);
      const std::string value = found == block.names.end() ? "" : found->second;
      any = any || !value.empty();
      const auto first = blocks[0].names.find(key);
      differ = differ || value != (first == blocks[0].names.end() ? "" : first->second);
      joined += (&block == &blocks[0] ? "" : "|") + value;
    }
    if (any) names[key] = differ ? joined : blocks[0].names.at(key);
  }
  const auto name = [&](const char* key) {
    const auto found = names.find(key);
    // A plain YAML text does not begin with `|`.
    if (found == names.end()) return;
    const bool quoted = found->second.starts_with("|");
    lines.push_back("  " + std::string(key) + ": " + (quoted ? "\"" : "") + found->second +
                    (quoted ? "\"" : ""));
  };
  name("of");
  name("check");
  lines.insert(lines.end(), blocks[0].others.begin(), blocks[0].others.end());
  name("out_name");
  return lines;
}

std::string join_entries(const std::string& text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string result;
  for (size_t i = 0; i < lines.size();) {
    std::optional<Lines> joined;
    size_t next = i + 1;
    std::vector<Block> blocks;
    for (size_t at = i; at < lines.size();) {
      const std::optional<Block> block = block_at(lines, at);
      if (!block) break;
      blocks.push_back(*block);
      if (blocks.size() > 1) {
        std::optional<Lines> more = join(blocks);
        if (!more) break;
        joined = std::move(more);
        next = block->end;
      }
      // One empty line, then the next entry.
      if (block->end + 1 >= lines.size() || !lines[block->end].empty()) break;
      at = block->end + 1;
    }
    if (!joined) joined = Lines{lines[i]};
    for (const std::string& line : *joined) result += line + "\n";
    i = next;
  }
  return result;
}

}  // namespace

std::string shorten(const std::string& text) { return join_entries(shorten_entries(text)); }

}  // namespace tenon::codegen
