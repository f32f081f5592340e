// What stands before every file of kernels: the element type that ELEMENT names, and how matrices and places are read.
// HAS_FP64: there are doubles.
#define F32 1
#define F64 2
#define C64 3
#define C128 4
#define I32 5
#define I64 6
#define WORD4 7
#define WORD8 8
#define WORD16 9

#ifdef HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double wide_real;  // what sums are kept in
typedef double2 wide_pair;
#else
typedef float wide_real;
typedef float2 wide_pair;
#endif

// `part` is what memory is made of: elements of several parts lie where a part may lie.
#if ELEMENT == F32
typedef float part;
typedef float number;
#elif ELEMENT == F64
typedef double part;
typedef double number;
#elif ELEMENT == C64
typedef float part;
typedef float2 number;
#elif ELEMENT == C128
typedef double part;
typedef double2 number;
#elif ELEMENT == I32
typedef uint part;  // unsigned: theirs wrap around
typedef uint number;
#elif ELEMENT == I64
typedef ulong part;
typedef ulong number;
#elif ELEMENT == WORD4
typedef uint part;
typedef uint number;
#elif ELEMENT == WORD8
typedef uint part;
typedef uint2 number;
#elif ELEMENT == WORD16
typedef uint part;
typedef uint4 number;
#else
typedef uchar part;
typedef uchar number;
#endif

#if ELEMENT == C64 || ELEMENT == C128 || ELEMENT == WORD8
number get(const __global part* from, long index) { return vload2(index, from); }
void put(__global part* to, long index, number value) { vstore2(value, index, to); }
#elif ELEMENT == WORD16
number get(const __global part* from, long index) { return vload4(index, from); }
void put(__global part* to, long index, number value) { vstore4(value, index, to); }
#else
number get(const __global part* from, long index) { return from[index]; }
void put(__global part* to, long index, number value) { to[index] = value; }
#endif

#if ELEMENT == C64 || ELEMENT == C128
number from_real(part value) { return (number)(value, 0); }
part real_part(number value) { return value.x; }
number conjugate(number value) { return (number)(value.x, -value.y); }
number times(number a, number b) { return (number)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
number divided(number a, number b) {
  // Smith: the larger part of b divides first, so that its square cannot overflow.
  if (fabs(b.x) >= fabs(b.y)) {
    const part ratio = b.y / b.x, whole = b.x + b.y * ratio;
    return (number)((a.x + a.y * ratio) / whole, (a.y - a.x * ratio) / whole);
  }
  const part ratio = b.x / b.y, whole = b.x * ratio + b.y;
  return (number)((a.x * ratio + a.y) / whole, (a.y * ratio - a.x) / whole);
}
int is_zero(number value) { return value.x == 0 && value.y == 0; }
#elif ELEMENT >= F32 && ELEMENT <= I64
number from_real(part value) { return value; }
part real_part(number value) { return value; }
number conjugate(number value) { return value; }
number times(number a, number b) { return a * b; }
number divided(number a, number b) { return a / b; }
int is_zero(number value) { return value == 0; }
#endif

// A place in a buffer, `offset` bytes from its beginning.
__global part* at(__global part* buffer, long offset) { return (__global part*)((__global char*)buffer + offset); }

// A matrix. Steps count elements and may be negative.
typedef struct {
  __global part* data;
  long row_step, column_step;
  int conjugated;
} matrix;

matrix matrix_at(__global part* buffer, long offset, long row_step, long column_step, int conjugated) {
  const matrix made = {at(buffer, offset), row_step, column_step, conjugated};
  return made;
}
#if ELEMENT >= F32 && ELEMENT <= C128
number element(const matrix* of, long row, long column) {
  const number value = get(of->data, row * of->row_step + column * of->column_step);
  return of->conjugated ? conjugate(value) : value;
}
void set_element(const matrix* of, long row, long column, number value) {
  put(of->data, row * of->row_step + column * of->column_step, value);
}
#endif
