#pragma once
// Scalars of any element type as the plugin ABI wants them: a pointer to one element.
#include <complex>
#include <cstring>

#include "core/base/error.hpp"
#include "core/block/element_type.hpp"

namespace tessera::operation {

/// One element of a type, made from a complex number. `data()` stays valid as long as the object.
class scalar {
 public:
  /// Throws tessera::error (usage) for a type without scalars (f16, bf16, none).
  scalar(element_type type, std::complex<double> value) {
    switch (type) {
      case element_type::f32:
        put(static_cast<float>(value.real()));
        break;
      case element_type::f64:
        put(value.real());
        break;
      case element_type::c64:
        put(std::complex<float>(value));
        break;
      case element_type::c128:
        put(value);
        break;
      case element_type::i32:
        put(static_cast<std::int32_t>(value.real()));
        break;
      case element_type::i64:
        put(static_cast<std::int64_t>(value.real()));
        break;
      case element_type::u8:
        put(static_cast<std::uint8_t>(value.real()));
        break;
      default:
        throw error(error_kind::usage, "no scalars of element type " + std::string(name_of(type)));
    }
  }
  /// An integer, exactly, as an element of a type. Throws as the constructor.
  static scalar of_integer(element_type type, std::int64_t value) {
    scalar made(type, 0);
    if (type == element_type::i32)
      made.put(static_cast<std::int32_t>(value));
    else if (type == element_type::i64)
      made.put(value);
    else if (type == element_type::u8)
      made.put(static_cast<std::uint8_t>(value));
    else
      made = scalar(type, static_cast<double>(value));
    return made;
  }
  const void* data() const noexcept { return m_bytes; }  ///< one element; valid while the scalar lives

 private:
  template <class Element>
  void put(Element element) noexcept {
    std::memcpy(m_bytes, &element, sizeof element);
  }
  alignas(16) std::byte m_bytes[16]{};
};

}  // namespace tessera::operation
