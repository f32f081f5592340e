#pragma once
// Types of a block's elements: the ABI's numbers with C++ names.
#include <tessera/plugin.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tessera {

/// Element type of a block. Values are those of the plugin ABI (tsr_type).
enum class element_type : std::uint8_t {
  none = TSR_TYPE_NONE,
  f32 = TSR_F32,
  f64 = TSR_F64,
  c64 = TSR_C64,    ///< std::complex<float>
  c128 = TSR_C128,  ///< std::complex<double>
  i32 = TSR_I32,
  i64 = TSR_I64,
  u8 = TSR_U8,
  f16 = TSR_F16,
  bf16 = TSR_BF16
};

/// Bytes of one element; 1 for `none`.
constexpr std::size_t size_of(element_type type) noexcept {
  switch (type) {
    case element_type::f32:
    case element_type::i32:
      return 4;
    case element_type::f64:
    case element_type::c64:
    case element_type::i64:
      return 8;
    case element_type::c128:
      return 16;
    case element_type::f16:
    case element_type::bf16:
      return 2;
    case element_type::u8:
    case element_type::none:
      return 1;
  }
  return 1;
}

/// "f64".
constexpr std::string_view name_of(element_type type) noexcept {
  switch (type) {
    case element_type::none:
      return "bytes";
    case element_type::f32:
      return "f32";
    case element_type::f64:
      return "f64";
    case element_type::c64:
      return "c64";
    case element_type::c128:
      return "c128";
    case element_type::i32:
      return "i32";
    case element_type::i64:
      return "i64";
    case element_type::u8:
      return "u8";
    case element_type::f16:
      return "f16";
    case element_type::bf16:
      return "bf16";
  }
  return "?";
}

/// Whether operations know a C++ type: the types of element_type that C++ has.
template <class T>
inline constexpr bool is_number = [] {
  using plain = std::remove_cv_t<T>;
  return std::is_same_v<plain, float> || std::is_same_v<plain, double> || std::is_same_v<plain, std::complex<float>> ||
         std::is_same_v<plain, std::complex<double>> || std::is_same_v<plain, std::int32_t> ||
         std::is_same_v<plain, std::int64_t> || std::is_same_v<plain, std::uint8_t> || std::is_same_v<plain, std::byte>;
}();

/// The element type of a C++ type that operations know.
template <class T>
constexpr element_type element_type_of() noexcept {
  using plain = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<plain, float>)
    return element_type::f32;
  else if constexpr (std::is_same_v<plain, double>)
    return element_type::f64;
  else if constexpr (std::is_same_v<plain, std::complex<float>>)
    return element_type::c64;
  else if constexpr (std::is_same_v<plain, std::complex<double>>)
    return element_type::c128;
  else if constexpr (std::is_same_v<plain, std::int32_t>)
    return element_type::i32;
  else if constexpr (std::is_same_v<plain, std::int64_t>)
    return element_type::i64;
  else if constexpr (std::is_same_v<plain, std::uint8_t> || std::is_same_v<plain, std::byte>)
    return element_type::u8;
  else
    static_assert(is_number<T>,
                  "operations know float, double, std::complex of them, std::int32_t, std::int64_t and std::uint8_t");
}

/// What the runtime has for elements of a C++ type: its element type, or bytes where operations do not know it.
template <class T>
constexpr element_type stored_type_of() noexcept {
  static_assert(std::is_trivially_copyable_v<T>,
                "elements are copied as bytes: no std::string, no std::vector, nothing that owns memory");
  static_assert(alignof(T) <= 256, "blocks are aligned to 256 bytes");
  if constexpr (is_number<T>)
    return element_type_of<T>();
  else
    return element_type::u8;
}
/// How many of those an element is.
template <class T>
inline constexpr std::int64_t stored_per_element = is_number<T> ? 1 : static_cast<std::int64_t>(sizeof(T));

}  // namespace tessera
