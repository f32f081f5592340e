#pragma once
// Which element types something has, for messages.
#include <string>

#include "core/block/element_type.hpp"

namespace tessera::operation {

/// "f32, f64": the types for which has(type); "no type" where there is none.
template <class Has>
std::string types_in_words(Has&& has) {
  std::string text;
  for (const element_type type : {element_type::f32, element_type::f64, element_type::c64, element_type::c128,
                                  element_type::i32, element_type::i64, element_type::u8})
    if (has(type)) text += (text.empty() ? "" : ", ") + std::string(name_of(type));
  return text.empty() ? "no type" : text;
}

}  // namespace tessera::operation
