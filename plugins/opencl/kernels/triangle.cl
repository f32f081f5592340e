// One block of a triangular system, and the Cholesky factor of one block; gpu_common/kernels/triangular.cpp puts them together.
#define PANEL 32
#define PITCH (PANEL + 1)

// X(rows x columns) = alpha L^-1 X; a thread has a column.
__kernel void solve_panel(int rows, long columns, number alpha, __global part* l_buffer, long l_offset, long l_row, long l_column,
                          int l_conjugated, int unit_diagonal, __global part* x_buffer, long x_offset, long x_row, long x_column,
                          int x_conjugated) {
  __local number kept[PANEL * PITCH];
  const matrix l = matrix_at(l_buffer, l_offset, l_row, l_column, l_conjugated);
  const matrix x = matrix_at(x_buffer, x_offset, x_row, x_column, x_conjugated);
  for (int place = get_local_id(0); place < PANEL * PANEL; place += get_local_size(0)) {
    const int row = place % PANEL, column = place / PANEL;
    if (row < rows && column <= row && !(unit_diagonal && row == column)) kept[row * PITCH + column] = element(&l, row, column);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const long column = get_global_id(0);
  if (column < columns) {
    number solved[PANEL];
    for (int i = 0; i < rows; ++i) {
      number value = times(alpha, element(&x, i, column));
      for (int j = 0; j < i; ++j) value -= times(kept[i * PITCH + j], solved[j]);
      if (!unit_diagonal) value = divided(value, kept[i * PITCH + i]);
      solved[i] = value;
      set_element(&x, i, column, value);
    }
  }
}

// The Cholesky factor of one block, by one group. After a bad pivot, here or in a block before, nothing is written. No thread
// leaves early: every barrier is reached by all.
__kernel void factor_panel(int n, long before, __global part* a_buffer, long a_offset, long a_row, long a_column,
                           int a_conjugated, __global char* info_buffer, long info_offset) {
  __local number kept[PANEL * PITCH];
  __global int* const info = (__global int*)(info_buffer + info_offset);
  const matrix a = matrix_at(a_buffer, a_offset, a_row, a_column, a_conjugated);
  const int thread = get_local_id(0), threads = get_local_size(0);
  int bad = *info;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // everybody has read it before thread 0 may write it
  for (int place = thread; place < n * n; place += threads)
    if (place % n >= place / n) kept[place % n * PITCH + place / n] = element(&a, place % n, place / n);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < n; ++j) {
    const part pivot = real_part(kept[j * PITCH + j]);  // the same for all threads
    if (bad == 0 && !(pivot > 0)) {                     // also what is not a number
      bad = (int)(before + j + 1);
      if (thread == 0) *info = bad;
    }
    const part root = sqrt(bad == 0 ? pivot : (part)1);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = j + thread; i < n && bad == 0; i += threads)
      kept[i * PITCH + j] = i == j ? from_real(root) : divided(kept[i * PITCH + j], from_real(root));
    barrier(CLK_LOCAL_MEM_FENCE);
    const int left = n - j - 1;
    for (int place = thread; place < left * left && bad == 0; place += threads) {
      const int row = j + 1 + place % left, column = j + 1 + place / left;
      if (row >= column) kept[row * PITCH + column] -= times(kept[row * PITCH + j], conjugate(kept[column * PITCH + j]));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int place = thread; place < n * n && bad == 0; place += threads)
    if (place % n >= place / n) set_element(&a, place % n, place / n, kept[place % n * PITCH + place / n]);
}
