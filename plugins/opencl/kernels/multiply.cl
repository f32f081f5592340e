// Products of matrices: square tiles of C, each thread a few elements of it, A and B through local memory.
#define SIDE 16   // threads along an edge of a tile
#define DEPTH 16  // columns of A and rows of B at a time
// Elements along an edge of a tile. Two tiles of A and B fit into 32 KiB with every type.
#if ELEMENT == C128
#define EDGE 32
#else
#define EDGE 64
#endif
#define PITCH (EDGE + 1)  // neighbours in a column are in different banks
#define EACH (EDGE / SIDE)

// C = alpha A B + beta C for each of the batch, which is the second dimension. `places`: where each one's A, B and C begin, in
// bytes from the offsets; without it they are steps apart. `lower`: only elements on and below the diagonal are written.
__kernel __attribute__((reqd_work_group_size(SIDE * SIDE, 1, 1))) void multiply(
    long m, long n, long k, number alpha, number beta, __global part* a_buffer, long a_offset, long a_row, long a_column,
    int a_conjugated, __global part* b_buffer, long b_offset, long b_row, long b_column, int b_conjugated, __global part* c_buffer,
    long c_offset, long c_row, long c_column, int c_conjugated, int lower, long step_a, long step_b, long step_c,
    const __global long* places) {
  __local number tile_a[DEPTH * PITCH];  // by column
  __local number tile_b[DEPTH * PITCH];  // by row
  const long batch = get_group_id(1);
  const matrix a = matrix_at(a_buffer, a_offset + (places ? places[3 * batch] : batch * step_a), a_row, a_column, a_conjugated);
  const matrix b = matrix_at(b_buffer, b_offset + (places ? places[3 * batch + 1] : batch * step_b), b_row, b_column, b_conjugated);
  const matrix c = matrix_at(c_buffer, c_offset + (places ? places[3 * batch + 2] : batch * step_c), c_row, c_column, c_conjugated);
  const long tiles_down = (m + EDGE - 1) / EDGE;
  const long row0 = (long)get_group_id(0) % tiles_down * EDGE, column0 = (long)get_group_id(0) / tiles_down * EDGE;
  if (lower && row0 + EDGE <= column0) k = 0;  // nothing of this tile is written
  const int thread = get_local_id(0), down = thread % SIDE, across = thread / SIDE;
  const int a_down = a_row == 1 || a_row == -1, b_down = b_row == 1 || b_row == -1;
  number sum[EACH][EACH];
  for (int i = 0; i < EACH; ++i)
    for (int j = 0; j < EACH; ++j) sum[i][j] = from_real(0);
  for (long k0 = 0; k0 < k; k0 += DEPTH) {
    for (int place = thread; place < EDGE * DEPTH; place += SIDE * SIDE) {
      // Neighbouring threads read neighbouring elements.
      const int a_i = a_down ? place % EDGE : place / DEPTH, a_j = a_down ? place / EDGE : place % DEPTH;
      tile_a[a_j * PITCH + a_i] = row0 + a_i < m && k0 + a_j < k ? element(&a, row0 + a_i, k0 + a_j) : from_real(0);
      const int b_i = b_down ? place % DEPTH : place / EDGE, b_j = b_down ? place / DEPTH : place % EDGE;
      tile_b[b_i * PITCH + b_j] = k0 + b_i < k && column0 + b_j < n ? element(&b, k0 + b_i, column0 + b_j) : from_real(0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < DEPTH; ++p) {
      number of_a[EACH], of_b[EACH];
      for (int i = 0; i < EACH; ++i) of_a[i] = tile_a[p * PITCH + down + i * SIDE];
      for (int j = 0; j < EACH; ++j) of_b[j] = tile_b[p * PITCH + across + j * SIDE];
      for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) sum[i][j] += times(of_a[i], of_b[j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const int reads = !is_zero(beta);
  for (int j = 0; j < EACH; ++j)
    for (int i = 0; i < EACH; ++i) {
      const long row = row0 + down + i * SIDE, column = column0 + across + j * SIDE;
      if (row >= m || column >= n || (lower && row < column)) continue;
      number value = times(alpha, sum[i][j]);
      if (reads) value += times(beta, element(&c, row, column));
      set_element(&c, row, column, value);
    }
}
