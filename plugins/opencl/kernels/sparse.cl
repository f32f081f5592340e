// Products of a sparse matrix with a block of vectors. Threads beside each other take columns of Y, whose rows lie side by
// side; where rows are long, several threads share one and add up in local memory.
#define GROUP 256

__global char* bytes_at(__global char* buffer, long offset) { return buffer + offset; }

// Tiles are of 1 x 1 for CSR. Without an order, tile e is the one at e; nothing is read without `reads`, nor beyond the columns of A.
__kernel void multiply_rows(long rows, __global char* starts_buffer, long starts_offset, __global char* columns_buffer,
                            long columns_offset, __global char* order_buffer, long order_offset, long tile_rows, long tile_columns,
                            long tile_row_step, long tile_column_step, long columns_of_a, __global part* values_buffer,
                            long values_offset, int conjugated, int reads, long b, __global part* x_buffer, long x_offset,
                            long ldx, __global part* y_buffer, long y_offset, long ldy, number alpha, number beta, uint wide,
                            uint deep) {
  __local number all[GROUP];
  const __global long* const starts = (const __global long*)bytes_at(starts_buffer, starts_offset);
  const __global int* const columns = (const __global int*)bytes_at(columns_buffer, columns_offset);
  const __global long* const order = (const __global long*)bytes_at(order_buffer, order_offset);
  const __global part* const values = at(values_buffer, values_offset);
  const __global part* const x = at(x_buffer, x_offset);
  __global part* const y = at(y_buffer, y_offset);
  const uint at_once = GROUP / (wide * deep), thread = get_local_id(0);
  const uint across = thread % wide, lane = thread / wide % deep, slot = thread / (wide * deep);
  const int ordered = order_buffer != 0, reads_y = !is_zero(beta);
  for (long first = (long)get_group_id(0) * at_once; first < rows; first += (long)get_num_groups(0) * at_once) {
    const long row = first + slot;
    const int inside = row < rows;
    const long line = row / tile_rows, in_tile = row - line * tile_rows;
    const long begin = inside && reads ? starts[line] : 0, end = inside && reads ? starts[line + 1] : 0;
    for (long q0 = 0; q0 < b; q0 += wide) {
      const long q = q0 + across;
      number sum = from_real(0);
      if (q < b)
        for (long k = lane; k < (end - begin) * tile_columns; k += deep) {  // a row's elements, one tile's after the other's
          const long past = tile_columns == 1 ? k : k / tile_columns;
          const long e = begin + past, j = k - past * tile_columns, column = columns[e] * tile_columns + j;
          if (column >= columns_of_a) continue;
          const long first_value = (ordered ? order[e] : e) * tile_rows * tile_columns;
          const number value = get(values, first_value + in_tile * tile_row_step + j * tile_column_step);
          sum += times(conjugated ? conjugate(value) : value, get(x, column * ldx + q));
        }
      if (deep > 1) {
        all[thread] = sum;
        for (uint step = deep / 2; step > 0; step /= 2) {
          barrier(CLK_LOCAL_MEM_FENCE);
          if (lane < step) all[thread] += all[thread + step * wide];
        }
        sum = all[thread];
        barrier(CLK_LOCAL_MEM_FENCE);  // before the next sums are written
      }
      if (lane == 0 && inside && q < b) {
        number value = times(alpha, sum);
        if (reads_y) value += times(beta, get(y, row * ldy + q));
        put(y, row * ldy + q, value);
      }
    }
  }
}
