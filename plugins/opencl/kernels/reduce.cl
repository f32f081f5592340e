// Reductions of the rows or the columns of a matrix: threads share a result, and join what they have in local memory.
#define GROUP 256
#define SUM 1
#define MIN 2
#define MAX 3
#define SUM_OF_SQUARES 4
#define MAX_MAGNITUDE 5

// What is kept of the elements seen so far, and what magnitudes are kept in.
#if ELEMENT == C64 || ELEMENT == C128
typedef wide_pair kept;
typedef wide_real size;
kept widened(number x) { return (kept)(x.x, x.y); }
kept of_size(size s) { return (kept)(s, 0); }
size size_in(kept own) { return own.x; }
number narrowed(kept own) { return (number)((part)own.x, (part)own.y); }
size magnitude(number x) { return isnan(x.x) || isnan(x.y) ? (size)(x.x + x.y) : hypot((wide_real)x.x, (wide_real)x.y); }
int is_none(size s) { return isnan(s); }
size square(number x) { return (size)x.x * (size)x.x + (size)x.y * (size)x.y; }
kept extreme(int largest, kept own, kept other) { return own; }  // refused before
#elif ELEMENT == I32 || ELEMENT == I64
#if ELEMENT == I32
typedef int signed_part;
#else
typedef long signed_part;
#endif
typedef number kept;
typedef number size;
kept widened(number x) { return x; }
kept of_size(size s) { return s; }
size size_in(kept own) { return own; }
number narrowed(kept own) { return own; }
size magnitude(number x) { return (signed_part)x < 0 ? 0 - x : x; }
int is_none(size s) { return 0; }
size square(number x) { return x * x; }
kept extreme(int largest, kept own, kept other) {
  const signed_part a = (signed_part)own, b = (signed_part)other;
  return (largest ? b > a : b < a) ? other : own;
}
#else
typedef wide_real kept;
typedef wide_real size;
kept widened(number x) { return x; }
kept of_size(size s) { return s; }
size size_in(kept own) { return own; }
number narrowed(kept own) { return (number)own; }
size magnitude(number x) { return fabs((size)x); }
int is_none(size s) { return isnan(s); }
size square(number x) { return (size)x * (size)x; }
kept extreme(int largest, kept own, kept other) { return (largest ? other > own : other < own) || isnan(other) ? other : own; }
#endif

kept joined(int what, kept own, kept other) {
  if (what == MIN || what == MAX) return extreme(what == MAX, own, other);
  if (what != MAX_MAGNITUDE) return own + other;
  const size a = size_in(own), b = size_in(other);
  return b > a || is_none(b) ? other : own;
}

kept added(int what, kept own, number x) {
  if (what == SUM_OF_SQUARES) return joined(what, own, of_size(square(x)));
  if (what == MAX_MAGNITUDE) return joined(what, own, of_size(magnitude(x)));
  return joined(what, own, widened(x));
}

__kernel void reduce_each(int what, long results, long length, long result_step, long step, __global part* from_buffer,
                          long from_offset, __global part* to_buffer, long to_offset, number nothing, uint wide) {
  __local kept all[GROUP];
  const __global part* const from = at(from_buffer, from_offset);
  __global part* const to = at(to_buffer, to_offset);
  const uint deep = GROUP / wide, thread = get_local_id(0);
  const int along = step == 1;  // neighbours read neighbouring elements
  const uint mine = along ? thread / deep : thread % wide, lane = along ? thread % deep : thread / wide;
  __local kept* const own = all + lane * wide + mine;
  for (long first = (long)get_group_id(0) * wide; first < results; first += (long)get_num_groups(0) * wide) {
    const long i = first + mine;
    kept sum = what == MIN || what == MAX ? widened(nothing) : of_size(0);
    if (i < results)
      for (long k = lane; k < length; k += deep) sum = added(what, sum, get(from, i * result_step + k * step));
    *own = sum;
    for (uint half_way = deep / 2; half_way > 0; half_way /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane < half_way) *own = joined(what, *own, own[half_way * wide]);
    }
    if (lane == 0 && i < results) put(to, i, narrowed(*own));
    barrier(CLK_LOCAL_MEM_FENCE);  // before the next are written
  }
}
