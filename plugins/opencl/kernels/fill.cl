// A pattern of 2 to 16 bytes where its words do not lie on words.
__kernel void fill_bytes(__global part* buffer, long offset, ulong low, ulong high, uint pattern_bytes, long count) {
  __global uchar* const to = (__global uchar*)at(buffer, offset);
  for (long i = get_global_id(0); i < count; i += get_global_size(0)) {
    const uint where = (uint)(i % pattern_bytes);
    to[i] = (uchar)((where < 8 ? low : high) >> (where % 8 * 8));
  }
}
