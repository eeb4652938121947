#include "codegen/load/loaders.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::detail {

void load_tags(const YamlNode& root, DiagnosticSink& sink, std::vector<Tag>& tags) {
  Reader reader(sink);
  for (const YamlPtr& entry : root.items) {
    if (!entry->is_map()) {
      reader.wrong_kind(*entry, "an entry", "a map with the keys `tag` and `desc`");
      continue;
    }
    std::optional<LocatedName> name;
    std::string description;
    bool misspelt = false;
    reader.map(*entry, [&](const LocatedName& key, const YamlNode&, const YamlNode& value) {
      if (key.text == "tag") {
        name = reader.name(value, "`tag`");
      } else if (key.text == "desc") {
        if (std::optional<SourceString> text = reader.text(value, "`desc`")) {
          description = std::move(text->text);
        }
      } else {
        const RuleScope scope(sink, "known_key");
        const std::string meant = schema::nearest(key.text, {"tag", "desc"});
        misspelt = misspelt || meant == "tag";
        sink.error(key.location, "unknown key `" + key.text + "`", meant);
      }
    });
    if (!name) {
      const RuleScope scope(sink, "missing_key");
      if (!misspelt) sink.error(entry->location, "an entry of the tags needs `tag`");
      continue;
    }
    const RuleScope scope(sink, "tag_form");
    if (description.empty()) {
      sink.error(name->location, "tag `" + name->text + "` needs a `desc`");
    }
    for (const Tag& before : tags) {
      if (before.name.text != name->text) continue;
      sink.report({Severity::kError,
                   name->location,
                   "tag `" + name->text + "` is declared twice",
                   {{before.name.location, "the first is here"}},
                   {}});
    }
    tags.push_back({std::move(*name), std::move(description)});
  }
}

}  // namespace tenon::codegen::detail
