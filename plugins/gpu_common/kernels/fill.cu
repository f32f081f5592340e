// Fills with a pattern.
#include <cstring>

#include "plugins/gpu_common/kernels/device_code.hpp"
#include "plugins/gpu_common/kernels/kernels.hpp"

namespace tessera::gpu {
namespace {

constexpr unsigned threads = 256;

struct word16 {
  std::uint64_t half[2];
};

template <class Word>
__global__ void fill(Word* to, Word word, std::int64_t count) {
  for (std::int64_t i = global_thread(); i < count; i += global_threads()) to[i] = word;
}

/// For words that do not lie where words must lie on a device.
__global__ void fill_unaligned(unsigned char* to, word16 pattern, unsigned pattern_bytes, std::int64_t bytes) {
  for (std::int64_t i = global_thread(); i < bytes; i += global_threads()) {
    const unsigned at = static_cast<unsigned>(i % pattern_bytes);
    to[i] = static_cast<unsigned char>(pattern.half[at / 8] >> (at % 8 * 8));
  }
}

template <class Word>
error_t fill_words(void* to, const void* pattern, std::int64_t count, stream_t stream) {
  if (reinterpret_cast<std::uintptr_t>(to) % alignof(Word) != 0) {
    word16 bytes = {};
    std::memcpy(&bytes, pattern, sizeof(Word));
    const std::int64_t all = count * static_cast<std::int64_t>(sizeof(Word));
    return launch(&fill_unaligned, {blocks_for(all, threads)}, {threads}, 0, stream, static_cast<unsigned char*>(to), bytes,
                  static_cast<unsigned>(sizeof(Word)), all);
  }
  Word word;
  std::memcpy(&word, pattern, sizeof word);
  return launch(&fill<Word>, {blocks_for(count, threads)}, {threads}, 0, stream, static_cast<Word*>(to), word, count);
}

}  // namespace

error_t fill_pattern(void* to, const void* pattern, std::uint32_t pattern_bytes, std::int64_t count, stream_t stream) {
  if (count <= 0) return error_t{};
  switch (pattern_bytes) {
    case 1: return fill_bytes(to, *static_cast<const unsigned char*>(pattern), static_cast<std::size_t>(count), stream);
    case 2: return fill_words<std::uint16_t>(to, pattern, count, stream);
    case 4: return fill_words<std::uint32_t>(to, pattern, count, stream);
    case 8: return fill_words<std::uint64_t>(to, pattern, count, stream);
    default: return fill_words<word16>(to, pattern, count, stream);
  }
}

}  // namespace tessera::gpu
