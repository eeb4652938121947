#include "codegen/load/loaders.h"

namespace tenon::codegen::detail {

void read_named(const YamlNode& value, Reader& reader, const std::string& key,
                NamedExpressions& spec) {
  spec.location = value.location;
  const auto part = [&](const LocatedName& name, const YamlNode& text) {
    if (std::optional<SourceString> expression =
            reader.text(text, "the expression of `" + key + "`")) {
      spec.parts.push_back({name, std::move(*expression)});
    } else {
      spec.complete = false;
    }
  };
  if (!value.is_map() || value.is_text_in_braces()) return part({}, value);
  reader.map(value, [&](const LocatedName& name, const YamlNode&, const YamlNode& text) {
    part(name, text);
  });
}

}  // namespace tenon::codegen::detail
