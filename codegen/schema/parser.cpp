#include "codegen/schema/parser.h"

#include <algorithm>
#include <set>

#include "codegen/schema/parse_default.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"
#include "codegen/schema/token_stream.h"

namespace tenon::schema {

namespace {

// More suffixes than any type has; bounds what hostile text can ask for.
constexpr size_t kMaxSuffixes = 16;

// Spellings of other languages and of older schemas, which edit distance would not find.
std::string suggest_type(std::string_view name) {
  static constexpr ForeignWord kForeign[] = {
      {"double", "float"},     {"int64_t", "int"},         {"string", "str"},
      {"long", "int"},         {"size_t", "int"},          {"string_view", "str"},
      {"number", "Scalar"},    {"complex", "Scalar"},      {"boolean", "bool"},
      {"dtype", "ScalarType"}, {"TensorList", "Tensor[]"}, {"IntArrayRef", "int[]"}};
  return suggest(name, base_type_names(), kForeign);
}

// What `Optional[Tensor]`, `List[int]` and `torch.Tensor` of Python are here; "" for other texts.
std::string type_of_python(std::string_view text) {
  for (const std::string_view module : {"torch.", "typing."}) {
    if (text.starts_with(module)) return type_of_python(text.substr(module.size()));
  }
  const size_t open = text.find('[');
  if (open == std::string_view::npos) return base_type_from(text) ? std::string(text) : "";
  const std::string_view outer = text.substr(0, open);
  const std::string inner = type_of_python(text.substr(open + 1, text.size() - open - 2));
  if (inner.empty()) return {};
  if (outer == "Optional") return inner + "?";
  const bool list = outer == "List" || outer == "list" || outer == "Sequence";
  return list ? inner + "[]" : "";
}

// `text` without `word` at its end or beginning and the spaces there.
std::string_view without(std::string_view text, std::string_view word) {
  const auto trimmed = [](std::string_view part) {
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    return part;
  };
  text = trimmed(text);
  if (text.starts_with(word)) text.remove_prefix(word.size());
  if (text.ends_with(word)) text.remove_suffix(word.size());
  return trimmed(text);
}

// What `const at::Tensor&` and `std::optional<int64_t>` of C++ are here; "" for other texts.
std::string type_of_cpp(std::string_view text) {
  for (const std::string_view word :
       {"const ", "&", "*", "tenon::", "torch::", "at::", "c10::", "std::"})
    text = without(text, word);
  const size_t open = text.find('<');
  if (open == std::string_view::npos) {
    return base_type_from(text) ? std::string(text) : suggest_type(text);
  }
  if (!text.ends_with('>')) return {};
  const std::string inner = type_of_cpp(text.substr(open + 1, text.size() - open - 2));
  const std::string_view outer = text.substr(0, open);
  if (inner.empty()) return {};
  if (outer == "optional") return inner + "?";
  return outer == "vector" || outer == "ArrayRef" || outer == "List" ? inner + "[]" : "";
}

class Parser : private detail::TokenStream {
 public:
  Parser(std::string_view text, std::vector<ParseError>& errors)
      : TokenStream(text, errors), text_(text) {}

  std::optional<FunctionSchema> schema() {
    FunctionSchema schema;
    if (!name(schema)) return std::nullopt;
    if (!expect(TokenKind::kLeftParen, "before the arguments")) return std::nullopt;
    arguments(schema);
    // After a mistake inside the parentheses their end is a guess: say nothing about it.
    const bool closed = at(TokenKind::kRightParen) && peek(1).kind == TokenKind::kArrow;
    if (has_errors() && !closed) return std::nullopt;
    if (!expect(TokenKind::kRightParen, "after the arguments")) return std::nullopt;
    if (!expect(TokenKind::kArrow, "and the returns after the arguments")) return std::nullopt;
    schema.returns_span.begin = peek().span.begin;
    if (!returns(schema)) return std::nullopt;
    schema.returns_span.end = previous_end();
    if (!at(TokenKind::kEnd)) unexpected("the end of the schema");
    schema.span = {0, static_cast<uint32_t>(text_.size())};
    check_arguments(schema);
    check_returns(schema);
    return schema;
  }

  std::optional<Type> whole_type() {
    Type type;
    std::optional<Alias> alias;
    if (!annotated_type(type, alias)) return std::nullopt;
    if (alias) error({0, previous_end()}, "an annotation is not allowed here");
    if (!at(TokenKind::kEnd)) unexpected("the end of the type");
    return type;
  }

 private:
  bool name(FunctionSchema& schema) {
    schema.name_span.begin = peek().span.begin;
    if (!at(TokenKind::kIdentifier)) return unexpected("the operator's name");
    schema.name = advance().text;
    if (at(TokenKind::kUnknown) && peek().text == ":") {
      error(peek().span, "a namespace is followed by `::`, got `:`", "::");
      return false;
    }
    if (accept(TokenKind::kColonColon)) {
      schema.ns = std::move(schema.name);
      if (!at(TokenKind::kIdentifier)) return unexpected("the operator's name after the namespace");
      schema.name_span.begin = peek().span.begin;
      schema.name = advance().text;
      if (at(TokenKind::kColonColon)) {
        error(peek().span,
              "a namespace is one level deep, got `" + schema.ns + "::" + schema.name + "::`");
        return false;
      }
    }
    if (accept(TokenKind::kDot)) {
      if (!at(TokenKind::kIdentifier)) return unexpected("the overload's name after `.`");
      schema.overload = advance().text;
    }
    schema.name_span.end = previous_end();
    return true;
  }

  // Leaves the parser before the `,` or `)` that ends the current item.
  void skip_item() {
    int depth = 0;
    while (!at(TokenKind::kEnd) && !at(TokenKind::kArrow)) {
      if (depth == 0 && (at(TokenKind::kComma) || at(TokenKind::kRightParen))) return;
      if (at(TokenKind::kLeftParen) || at(TokenKind::kLeftBracket)) ++depth;
      if (at(TokenKind::kRightParen) || at(TokenKind::kRightBracket))
        depth = std::max(0, depth - 1);
      advance();
    }
  }

  void arguments(FunctionSchema& schema) {
    if (at(TokenKind::kRightParen)) return;
    std::optional<Span> star;
    do {
      if (at(TokenKind::kStar)) {
        const Span span = advance().span;
        if (star) {
          error(span, "a second `*`: the arguments are already keyword-only");
        } else if (at(TokenKind::kRightParen)) {
          error(span, "no argument follows `*`");
        }
        star = span;
        continue;
      }
      Argument arg;
      arg.kwarg_only = star.has_value();
      if (argument(arg)) {
        schema.args.push_back(std::move(arg));
      } else {
        skip_item();
      }
    } while (accept(TokenKind::kComma));
  }

  bool argument(Argument& arg) {
    const Span first = peek().span;
    const TokenKind behind = peek(1).kind;
    const bool alone = behind == TokenKind::kComma || behind == TokenKind::kRightParen ||
                       behind == TokenKind::kEqual;
    const bool is_type = base_type_from(peek().text) || !suggest_type(peek().text).empty();
    if (at(TokenKind::kIdentifier) && alone && !is_type) {
      error(first, "an argument is a type and a name, got `" + std::string(peek().text) + "`");
      return false;
    }
    if (!annotated_type(arg.type, arg.alias)) return false;
    arg.type_span = {first.begin, previous_end()};
    if (at(TokenKind::kNumber)) {
      error(peek().span, "the name of an argument cannot start with a digit, got `" +
                             std::string(peek().text) + "`");
      return false;
    }
    if (!at(TokenKind::kIdentifier)) return unexpected("the argument's name");
    arg.name_span = peek().span;
    arg.name = advance().text;
    arg.span = {first.begin, previous_end()};
    if (accept(TokenKind::kEqual)) {
      arg.default_span.begin = peek().span.begin;
      DefaultValue value;
      if (!detail::parse_default(*this, value)) return false;
      arg.default_span.end = previous_end();
      arg.span.end = previous_end();
      for (ParseError& problem : check_default(arg.type, value)) {
        // What is wrong with a None is the type.
        const Span place = value.is_none() ? arg.type_span : arg.default_span;
        error(place, std::move(problem.message), std::move(problem.suggestion));
      }
      arg.default_value = std::move(value);
    }
    if (!at(TokenKind::kComma) && !at(TokenKind::kRightParen)) {
      return unexpected("`,` or `)` after the argument");
    }
    return true;
  }

  bool annotated_type(Type& type, std::optional<Alias>& alias) {
    if (!at(TokenKind::kIdentifier)) return unexpected("a type");
    if (const size_t end = behind_cpp_type(0); end > 1) {
      const Span span{peek().span.begin, peek(end - 1).span.end};
      const std::string text(text_.substr(span.begin, span.end - span.begin));
      error(span, "unknown type `" + text + "`", type_of_cpp(text));
      for (size_t i = 0; i < end; ++i) advance();
      return false;
    }
    const Token base = advance();
    if (base.text == "__torch__" && at(TokenKind::kDot)) {
      if (!custom_class(type)) return false;
    } else if (std::optional<BaseType> known = base_type_from(base.text)) {
      type.base = *known;
    } else {
      unknown_type(base);
      return false;
    }
    if (at(TokenKind::kLeftParen)) {
      const Span open = peek().span;
      if (!annotation(alias)) {
        while (!at(TokenKind::kEnd) && !at(TokenKind::kComma) && !at(TokenKind::kRightParen))
          advance();
        accept(TokenKind::kRightParen);
        return false;
      }
      if (type.base != BaseType::kTensor) {
        error(open, "only a Tensor can have an annotation, got `" + to_string(type) + "`");
      }
    }
    return suffixes(type);
  }

  void unknown_type(const Token& base) {
    const Span python = python_span(base);
    const std::string_view text = text_.substr(python.begin, python.end - python.begin);
    if (const std::string ours = type_of_python(text); !ours.empty()) {
      error(python, "unknown type `" + std::string(text) + "`", ours);
    } else {
      error(base.span, "unknown type `" + std::string(base.text) + "`", suggest_type(base.text));
    }
  }

  // The token behind a type as C++ writes it: `const std::vector<at::Tensor>&`.
  size_t behind_cpp_type(size_t ahead, size_t depth = 0) const {
    if (peek(ahead).text == "const") ++ahead;
    while (peek(ahead).kind == TokenKind::kIdentifier &&
           peek(ahead + 1).kind == TokenKind::kColonColon)
      ahead += 2;
    if (peek(ahead).kind != TokenKind::kIdentifier) return ahead;
    ++ahead;
    if (peek(ahead).text == "<" && depth < kMaxSuffixes) {
      do {
        ahead = behind_cpp_type(ahead + 1, depth + 1);
      } while (peek(ahead).kind == TokenKind::kComma);
      if (peek(ahead).text == ">") ++ahead;
    }
    while (peek(ahead).text == "&" || peek(ahead).text == "*") ++ahead;
    return ahead;
  }

  // From `base` on: names behind dots, and what stands in brackets.
  Span python_span(const Token& base) const {
    Span span = base.span;
    size_t ahead = 0;
    while (peek(ahead).kind == TokenKind::kDot && peek(ahead + 1).kind == TokenKind::kIdentifier) {
      span.end = peek(ahead + 1).span.end;
      ahead += 2;
    }
    int depth = 0;
    while (peek(ahead).kind == TokenKind::kLeftBracket || depth > 0) {
      const Token& token = peek(ahead++);
      if (token.kind == TokenKind::kEnd) return base.span;
      depth += token.kind == TokenKind::kLeftBracket ? 1 : 0;
      depth -= token.kind == TokenKind::kRightBracket ? 1 : 0;
      span.end = token.span.end;
    }
    return span;
  }

  bool custom_class(Type& type) {
    type.base = BaseType::kCustomClass;
    for (std::string_view part : {"torch", "classes"}) {
      if (!accept(TokenKind::kDot) || peek().text != part) {
        return unexpected("`__torch__.torch.classes.` and the name of a class");
      }
      advance();
    }
    while (accept(TokenKind::kDot)) {
      if (!at(TokenKind::kIdentifier)) return unexpected("the name of a class");
      if (!type.class_name.empty()) type.class_name += '.';
      type.class_name += advance().text;
    }
    return !type.class_name.empty() || unexpected("the name of a class");
  }

  bool suffixes(Type& type) {
    while (at(TokenKind::kQuestion) || at(TokenKind::kLeftBracket)) {
      const Token suffix = advance();
      if (type.suffixes.size() >= kMaxSuffixes) {
        error(suffix.span, "the type has too many suffixes");
        return false;
      }
      if (suffix.kind == TokenKind::kQuestion) {
        if (type.is_optional()) {
          error(suffix.span, "the type is already optional");
          continue;
        }
        type.suffixes.push_back({TypeSuffix::Kind::kOptional, std::nullopt});
        continue;
      }
      TypeSuffix list{TypeSuffix::Kind::kList, std::nullopt};
      if (at(TokenKind::kNumber)) {
        const Token number = advance();
        list.size = detail::whole_number(number.text);
        if (!list.size || *list.size < 1 || number.text[0] == '+') {
          error(number.span, "the length of a list must be a positive integer, got `" +
                                 std::string(number.text) + "`");
          list.size.reset();
        }
      }
      if (!expect(TokenKind::kRightBracket, "after `[` or its length")) return false;
      type.suffixes.push_back(list);
    }
    return true;
  }

  bool annotation(std::optional<Alias>& result) {
    Alias alias;
    advance();
    if (!alias_set(alias.before)) return false;
    alias.is_write = accept(TokenKind::kExclamation);
    if (accept(TokenKind::kArrow)) {
      if (accept(TokenKind::kStar)) {
        alias.after_wildcard = true;
      } else if (!alias_set(alias.after)) {
        return false;
      }
    }
    if (!expect(TokenKind::kRightParen, "after the annotation")) return false;
    result = std::move(alias);
    return true;
  }

  bool alias_set(std::vector<char>& letters) {
    do {
      const Token& token = peek();
      const bool letter = token.kind == TokenKind::kIdentifier && token.text.size() == 1 &&
                          token.text[0] >= 'a' && token.text[0] <= 'z';
      if (!letter) return unexpected("an alias set, one letter of a-z");
      if (std::find(letters.begin(), letters.end(), token.text[0]) != letters.end()) {
        error(token.span, "alias set `" + std::string(token.text) + "` is named twice");
      }
      letters.push_back(token.text[0]);
      advance();
    } while (accept(TokenKind::kBar));
    return true;
  }

  bool returns(FunctionSchema& schema) {
    if (!accept(TokenKind::kLeftParen)) {
      if (peek().text == "None" || peek().text == "void") {
        error(peek().span, "unknown type `" + std::string(peek().text) + "`", "()");
        return false;
      }
      Return ret;
      if (!one_return(ret)) return false;
      schema.returns.push_back(std::move(ret));
      if (!at(TokenKind::kComma)) return true;
      error(peek().span, "several returns stand in parentheses, as `(Tensor, Tensor)`");
      return false;
    }
    if (accept(TokenKind::kRightParen)) return true;
    do {
      Return ret;
      if (one_return(ret)) {
        schema.returns.push_back(std::move(ret));
      } else {
        skip_item();
      }
    } while (accept(TokenKind::kComma));
    return expect(TokenKind::kRightParen, "or `,` after a return");
  }

  bool one_return(Return& ret) {
    ret.span = peek().span;
    if (!annotated_type(ret.type, ret.alias)) return false;
    ret.span.end = previous_end();
    if (at(TokenKind::kIdentifier)) {
      ret.name_span = peek().span;
      ret.name = advance().text;
      ret.span.end = previous_end();
    }
    return true;
  }

  void check_arguments(const FunctionSchema& schema) {
    std::set<std::string_view> names;
    std::string_view defaulted;
    for (const Argument& arg : schema.args) {
      if (!names.insert(arg.name).second) {
        error(arg.name_span, "argument `" + arg.name + "` is declared twice");
        continue;
      }
      if (arg.kwarg_only) continue;
      if (arg.default_value) {
        defaulted = arg.name;
      } else if (!defaulted.empty()) {
        error(arg.name_span, "argument `" + arg.name + "` has no default, but `" +
                                 std::string(defaulted) + "` before it has one");
      }
    }
  }

  void check_returns(const FunctionSchema& schema) {
    std::set<std::string_view> names;
    for (const Return& ret : schema.returns) {
      if (!ret.name.empty() && !names.insert(ret.name).second) {
        error(ret.name_span, "return `" + ret.name + "` is declared twice");
      }
    }
  }

  std::string_view text_;
};

}  // namespace

ParseResult parse_schema(std::string_view text) {
  ParseResult result;
  result.schema = Parser(text, result.errors).schema();
  return result;
}

std::optional<Type> parse_type(std::string_view text, std::vector<ParseError>& errors) {
  return Parser(text, errors).whole_type();
}

}  // namespace tenon::schema
