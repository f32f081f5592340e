#pragma once
// What is kept from run to run for a user.
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tessera {

/// $XDG_CACHE_HOME/tessera, else ~/.cache/tessera; empty when neither is known. It need not be there.
std::filesystem::path cache_folder();

/// FNV-1a, of `text` behind what made `before`: names files and finds damage, and withstands no attack.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t before = 0xcbf29ce484222325) noexcept {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return before;
}

}  // namespace tessera
