#pragma once
// Text that the translation writes beside text of the program: macros of the program expand in the second one alone.
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace tessera::directive {

/// Marks a part of a text that is the program's, as it is written there.
std::string as_written(std::string_view text);

/// Where the writer of a source sets the number of the line again.
inline constexpr char same_line = '\x03';

/// The names in the parts of a text that are the translation's own, without those in literals.
std::set<std::string> own_names(std::string_view text);

/// A text without its marks. Those of its own names that are macros are hidden from the preprocessor, by lines of
/// their own, around the parts that are not the program's.
std::string shielded(std::string_view text, const std::function<bool(const std::string& name)>& is_macro);

}  // namespace tessera::directive
