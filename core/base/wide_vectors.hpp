#pragma once
// Loops for the vectors of the processor that runs them, where the program was compiled for any processor.

namespace tessera {

#if defined(__x86_64__)
/// Compiled for AVX2, with all that it calls.
template <class Loop>
[[gnu::target("avx2,fma"), gnu::noinline, gnu::flatten]] void with_avx2(const Loop& loop) {
  loop();
}
#endif

/// Calls `loop`, which has been compiled for AVX2 too where processors may have it.
template <class Loop>
void with_wide_vectors(const Loop& loop) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return with_avx2(loop);
#endif
  loop();
}

}  // namespace tessera
