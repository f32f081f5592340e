// Permutations of dimensions: tiles through local memory where rows become columns; element by element elsewhere. `moves`:
// alpha is one and beta zero, and words have no arithmetic.
#define EDGE 32
#define STRIPS 8
#define PITCH (EDGE + 1)

number stored(int moves, int reads, number alpha, number beta, __global part* to, long index, number value) {
#if ELEMENT >= F32 && ELEMENT <= I64
  if (!moves) value = reads ? times(alpha, value) + times(beta, get(to, index)) : times(alpha, value);
#endif
  return value;
}

// Adds the places of combination `index` of the dimensions.
void locate(int count, const long* extents, const long* source, const long* destination, long index, long* from, long* to) {
  for (int d = 0; d < count; ++d) {
    const long where = index % extents[d];
    index /= extents[d];
    *from += where * source[d];
    *to += where * destination[d];
  }
}

__kernel void by_elements(int count, long8 extents, long8 source_strides, long8 destination_strides, long elements, int moves,
                          int reads, number alpha, number beta, __global part* source_buffer, long source_offset,
                          __global part* destination_buffer, long destination_offset) {
  const __global part* const source = at(source_buffer, source_offset);
  __global part* const destination = at(destination_buffer, destination_offset);
  long all[3][8];
  vstore8(extents, 0, all[0]);
  vstore8(source_strides, 0, all[1]);
  vstore8(destination_strides, 0, all[2]);
  for (long i = get_global_id(0); i < elements; i += get_global_size(0)) {
    long from = 0, to = 0;
    locate(count, all[0], all[1], all[2], i, &from, &to);
    put(destination, to, stored(moves, reads, alpha, beta, destination, to, get(source, from)));
  }
}

// x is contiguous in the source, y in the destination; the other dimensions are outside.
__kernel void by_tiles(int count, long8 extents, long8 source_strides, long8 destination_strides, long nx, long ny, long tiles_x,
                       long tiles_y, long tiles, long source_y, long destination_x, int moves, int reads, number alpha, number beta,
                       __global part* source_buffer, long source_offset, __global part* destination_buffer, long destination_offset) {
  __local number kept[EDGE * PITCH];
  const __global part* const source = at(source_buffer, source_offset);
  __global part* const destination = at(destination_buffer, destination_offset);
  long all[3][8];
  vstore8(extents, 0, all[0]);
  vstore8(source_strides, 0, all[1]);
  vstore8(destination_strides, 0, all[2]);
  const int column = get_local_id(0) % EDGE, strip = get_local_id(0) / EDGE;
  for (long tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
    const long x0 = tile % tiles_x * EDGE, y0 = tile / tiles_x % tiles_y * EDGE;
    long from = 0, to = 0;
    locate(count, all[0], all[1], all[2], tile / tiles_x / tiles_y, &from, &to);
    for (int y = strip; y < EDGE; y += STRIPS)
      if (x0 + column < nx && y0 + y < ny) kept[y * PITCH + column] = get(source, from + (y0 + y) * source_y + x0 + column);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int x = strip; x < EDGE; x += STRIPS)
      if (x0 + x < nx && y0 + column < ny) {
        const long index = to + (x0 + x) * destination_x + y0 + column;
        put(destination, index, stored(moves, reads, alpha, beta, destination, index, kept[column * PITCH + x]));
      }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
