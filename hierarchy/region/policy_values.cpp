// Policies with numbers, as the texts that configurations have for them.
#include <charconv>
#include <span>
#include <string>

#include "tessera/detail/region_policy.hpp"

namespace tessera::policy {
namespace {

template <class Number>
region_policy with_numbers(std::string text, std::span<const Number> numbers) {
  char digits[32];
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (k > 0) text += ',';
    text.append(digits, std::to_chars(digits, digits + sizeof digits, numbers[k]).ptr);
  }
  return region_policy::from_text(text);
}

}  // namespace

region_policy percentage(std::span<const double> shares) { return with_numbers("percentage:", shares); }
region_policy range(std::span<const std::uint64_t> counts) { return with_numbers("range:", counts); }

}  // namespace tessera::policy
