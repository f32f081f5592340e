// Vectors: axpy, scal, dot, nrm2, sums of several arrays.
__kernel void add_scaled(long n, number alpha, __global part* x_buffer, long x_offset, long incx, __global part* y_buffer,
                         long y_offset, long incy) {
  const __global part* const x = at(x_buffer, x_offset);
  __global part* const y = at(y_buffer, y_offset);
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) put(y, i * incy, get(y, i * incy) + times(alpha, get(x, i * incx)));
}

__kernel void scale(long n, number alpha, __global part* x_buffer, long x_offset, long incx) {
  __global part* const x = at(x_buffer, x_offset);
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) put(x, i * incx, times(alpha, get(x, i * incx)));
}

// to += a + b + c + d, in this order, as many of them as there are.
__kernel void add_all(long n, __global part* to_buffer, long to_offset, uint count, __global part* a_buffer, long a_offset,
                      __global part* b_buffer, long b_offset, __global part* c_buffer, long c_offset, __global part* d_buffer,
                      long d_offset) {
  __global part* const to = at(to_buffer, to_offset);
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) {
    number sum = get(to, i) + get(at(a_buffer, a_offset), i);
    if (count > 1) sum = sum + get(at(b_buffer, b_offset), i);
    if (count > 2) sum = sum + get(at(c_buffer, c_offset), i);
    if (count > 3) sum = sum + get(at(d_buffer, d_offset), i);
    put(to, i, sum);
  }
}

#if ELEMENT <= C128
#define GROUP 256

// A sum of squares is kept as scale^2 * sum (x and y), so that no square overflows or vanishes; what LAPACK's lassq does.
wide_pair add_square(wide_pair own, wide_real value) {
  const wide_real size = fabs(value);
  if (size == 0) return own;
  if (own.x < size) {
    const wide_real ratio = own.x / size;
    return (wide_pair)(size, 1 + own.y * ratio * ratio);
  }
  const wide_real ratio = size / own.x;
  return (wide_pair)(own.x, own.y + ratio * ratio);
}
wide_pair join_squares(wide_pair own, wide_pair other) {
  if (other.x == 0) return own;
  if (own.x < other.x) {
    const wide_real ratio = own.x / other.x;
    return (wide_pair)(other.x, other.y + (own.x == 0 ? 0 : own.y * ratio * ratio));
  }
  const wide_real ratio = other.x / own.x;
  return (wide_pair)(own.x, own.y + other.y * ratio * ratio);
}

// What a thread adds up: conj(x) y (real and imaginary part), or squares.
wide_pair added(int norm, wide_pair own, number x, number y) {
#if ELEMENT == C64 || ELEMENT == C128
  const wide_pair a = (wide_pair)(x.x, x.y), b = (wide_pair)(y.x, y.y);
  if (norm) return add_square(add_square(own, a.x), a.y);
  return own + (wide_pair)(a.x * b.x + a.y * b.y, a.x * b.y - a.y * b.x);
#else
  if (norm) return add_square(own, x);
  return own + (wide_pair)((wide_real)x * (wide_real)y, 0);
#endif
}
wide_pair nothing(int norm) { return (wide_pair)(0, norm ? 1 : 0); }

// The sums of a group's threads; thread 0 has the whole.
wide_pair join_group(int norm, wide_pair own, __local wide_pair* all) {
  const uint thread = get_local_id(0);
  all[thread] = own;
  for (uint step = GROUP / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread < step) all[thread] = norm ? join_squares(all[thread], all[thread + step]) : all[thread] + all[thread + step];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return all[0];
}

void store_result(int norm, wide_pair sum, __global part* result) {
#if ELEMENT == C64 || ELEMENT == C128
  if (norm)
    put(result, 0, (number)((part)(sum.x == 0 ? 0 : sum.x * sqrt(sum.y)), 0));
  else
    put(result, 0, (number)((part)sum.x, (part)sum.y));
#else
  put(result, 0, norm ? (part)(sum.x == 0 ? 0 : sum.x * sqrt(sum.y)) : (part)sum.x);
#endif
}

// Each group sums its part; one group alone writes the result, several write their sums.
__kernel void sum_up(int norm, long n, __global part* x_buffer, long x_offset, long incx, __global part* y_buffer, long y_offset,
                     long incy, __global char* partial_buffer, long partial_offset, __global part* result_buffer,
                     long result_offset) {
  __local wide_pair all[GROUP];
  const __global part* const x = at(x_buffer, x_offset);
  const __global part* const y = at(y_buffer, y_offset);
  wide_pair own = nothing(norm);
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) own = added(norm, own, get(x, i * incx), get(y, i * incy));
  const wide_pair sum = join_group(norm, own, all);
  if (get_local_id(0) == 0) {
    if (get_num_groups(0) == 1)
      store_result(norm, sum, at(result_buffer, result_offset));
    else
      vstore2(sum, get_group_id(0), (__global wide_real*)(partial_buffer + partial_offset));
  }
}

__kernel void join_sums(int norm, uint count, __global char* partial_buffer, long partial_offset, __global part* result_buffer,
                        long result_offset) {
  __local wide_pair all[GROUP];
  const uint thread = get_local_id(0);
  const wide_pair own = thread < count ? vload2(thread, (const __global wide_real*)(partial_buffer + partial_offset)) : nothing(norm);
  const wide_pair sum = join_group(norm, own, all);
  if (thread == 0) store_result(norm, sum, at(result_buffer, result_offset));
}
#endif
