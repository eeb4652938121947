#pragma once

#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// Place just past the word at `begin`: a name with its dots and `::`, else one character. Equal to
/// `begin` at the end of a line.
Location word_end(const Location& begin);

/// The diagnostic's own end, else that of the word at its place.
Location end_of(const Diagnostic& diagnostic);

/// A fix puts the suggestion where the mistake is; false where there is none to offer.
bool has_fix(const Diagnostic& diagnostic);

}  // namespace tenon::codegen
