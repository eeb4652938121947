#include "aten/generated_support/composition.h"

#include <algorithm>
#include <string>

#include "tenon/ops/clone.h"
#include "tenon/ops/scalar_tensor.h"

namespace tenon {

Tensor native::tensor_of_number(const Scalar& number) {
  Tensor tensor = scalar_tensor(number, TensorOptions(number.type()));
  tensor.unsafe_impl()->is_wrapped_number = true;
  return tensor;
}

void native::check_word(const char* op, const char* argument, std::optional<std::string_view> text,
                        std::initializer_list<std::string_view> words) {
  if (!text || std::find(words.begin(), words.end(), *text) != words.end()) return;
  std::string all = words.size() == 1 ? "" : words.size() == 2 ? "either " : "one of ";
  for (const std::string_view& word : words) {
    const bool first = &word == words.begin(), last = &word + 1 == words.end();
    all += (first ? "'" : last ? " or '" : ", '") + std::string(word) + "'";
  }
  TENON_CHECK(false, "[", op, "] ", argument, " argument must be ", all, ", got '", *text, "'");
}

void native::MissingArgument::raise() const {
  tenon::detail::raise<Error>("[", op, "] ", names, " must be given");
}

Tensor native::copied(const Tensor& view) { return tenon::clone(view, MemoryFormat::Contiguous); }

std::vector<Tensor> native::copied(const std::vector<Tensor>& views) {
  std::vector<Tensor> copies;
  copies.reserve(views.size());
  for (const Tensor& view : views) copies.push_back(copied(view));
  return copies;
}

}  // namespace tenon
