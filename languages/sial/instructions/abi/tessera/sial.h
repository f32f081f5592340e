/* Super instructions of SIAL programs: what a user's library offers, and what it may ask.
 *
 * This one header is all that a library of super instructions needs. It is plain C11 and stands alone; the Fortran
 * module tessera_sial.f90 mirrors it. A library exports one function, tessera_sial_instructions, which returns a table:
 *
 *   static int32_t twice(const sial_job* job, int32_t count, const sial_argument* arguments) {
 *     for (int64_t k = 0; k < arguments[0].elements; ++k) arguments[0].data[k] *= 2.0;
 *     return 0;
 *   }
 *   static const sial_instruction all[] = {{sizeof(sial_instruction), SIAL_THREAD_SAFE, "twice", "u", twice}};
 *   static const sial_table table = {sizeof(sial_table), SIAL_INTERFACE_VERSION, 1, all, "my library 1.0"};
 *   SIAL_EXPORT const sial_table* tessera_sial_instructions(uint32_t version) { (void)version; return &table; }
 *
 * Rules:
 *   S1  Sizes.     Every struct begins with its size as its writer knows it; structs grow at their ends. Who reads a
 * field that was added later tests SIAL_HAS first. Arrays of structs have the stride of their elements' struct_size. S2
 * Failure.   An instruction returns 0, or another number after job->fail: the program stops with the message. No C++
 * exception and no longjmp leaves it. S3  Threads.   An instruction runs on the thread of the worker that executes it,
 * and calls `job` from that thread alone, and not after it has returned. Instructions without SIAL_THREAD_SAFE of one
 * library never run two at once. S4  Manners.   It does not communicate with other workers, does not end the process,
 * leaves signals and locale alone. S5  Strings.   UTF-8 with a null at the end; valid while the call runs. Names are
 * lower case. S6  Order.     Blocks are dense doubles, the first index fastest. Numbers of workers count from 0,
 * segments from 1.
 */
#ifndef TESSERA_SIAL_H_
#define TESSERA_SIAL_H_
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIAL_INTERFACE_VERSION 1u
#define SIAL_MAX_RANK 6

#if defined(__GNUC__)
#define SIAL_EXPORT __attribute__((visibility("default")))
#else
#define SIAL_EXPORT
#endif

/* True when the struct at `ptr`, of type `type`, was built by a side that knows `field`. */
#define SIAL_HAS(type, ptr, field) \
  ((ptr) != NULL && (size_t)(ptr)->struct_size >= offsetof(type, field) + sizeof(((type*)0)->field))

/* Kinds of indices. */
enum {
  SIAL_AO = 0,
  SIAL_MO = 1,
  SIAL_MOA = 2,
  SIAL_MOB = 3,
  SIAL_SIMPLE = 4,
  SIAL_LA = 5,
  SIAL_SUB = 6
};

/* One argument of an `execute`. */
typedef struct sial_argument {
  uint32_t struct_size;
  int32_t rank;                 /* 0: a scalar or a literal */
  const char* name;             /* of the array or scalar; "" for a literal */
  int32_t intent;               /* the letter of the signature: 'r' do not write, 'w' was zeroed (blocks), 'u' */
  int32_t whole;                /* 1: a bare static or contiguous array, 2: a region of segments, 0: one block */
  int32_t kinds[SIAL_MAX_RANK]; /* of each dimension's index, as declared: SIAL_SIMPLE is not guessed from an extent */
  int64_t segments[SIAL_MAX_RANK]; /* segment number, of a whole array or region the first one; simple: the value */
  int64_t offsets[SIAL_MAX_RANK];  /* elements of the kind's whole range before this block; simple: the value less 1 */
  int64_t extents[SIAL_MAX_RANK];  /* 1 or more; 1 beyond the rank */
  int64_t elements;                /* product of the extents; 1 for rank 0 */
  double* data;                    /* valid while the call runs */
} sial_argument;

/* An array of the initialization data. Valid as long as the job. */
typedef struct sial_float_array {
  int32_t rank;
  const int64_t* dims;
  int64_t elements;
  const double* values;
} sial_float_array;
typedef struct sial_int_array {
  int32_t rank;
  const int64_t* dims;
  int64_t elements;
  const int64_t* values;
} sial_int_array;

/* What a worker's instructions may ask. Look-ups read the initialization data of the job, not the program's variables:
 * they answer 1 and fill the output, or answer 0 when there is no such name (upper and lower case are the same) and
 * leave it. */
typedef struct sial_job sial_job;
struct sial_job {
  uint32_t struct_size;
  uint32_t version; /* SIAL_INTERFACE_VERSION of the host */
  void* context;    /* the host's */
  int32_t worker;   /* of this one, 0 .. workers - 1 */
  int32_t workers;
  int32_t (*find_int)(const sial_job* job, const char* name, int64_t* out_value);
  int32_t (*find_scalar)(const sial_job* job, const char* name, double* out_value);
  /* Lengths of the segments of a kind, which stay valid as long as the job. Returns how many; 0 when there is no table.
   */
  int64_t (*segments)(const sial_job* job, int32_t kind, const int64_t** out_lengths);
  int32_t (*find_float_array)(const sial_job* job, const char* name, sial_float_array* out_array);
  int32_t (*find_int_array)(const sial_job* job, const char* name, sial_int_array* out_array);
  /* Prints text as `print` of the program does: one worker's, unless the program wants all. A line ends with "\n". */
  void (*print)(const sial_job* job, const char* text);
  /* Memory of `elements` doubles, not initialized, until the instruction returns; several pieces may be asked for. NULL
   * when `elements` is negative or there is no such memory. */
  double* (*scratch)(const sial_job* job, int64_t elements);
  /* Says what is wrong, before a number other than 0 is returned. The last message counts. */
  void (*fail)(const sial_job* job, const char* message);
};

/* Returns 0, or another number after job->fail. */
typedef int32_t (*sial_function)(const sial_job* job, int32_t count, const sial_argument* arguments);

/* Flags of an instruction. */
enum {
  SIAL_THREAD_SAFE = 1
}; /* may run for several workers at once: it keeps nothing between calls without a lock */

/* The form of an instruction for devices: a kernel in tessera-c (docs/kernels.md), which a device compiles when it
 * first needs it. It is taken where it is expected to be done sooner than the function, and all arguments are blocks,
 * or scalars and literals that are read; the function remains for everything else. Parameters of the kernel, in the
 * order of the arguments: of a block `GLOBAL double*` and `long`, the number of its elements; of a number `double`. A
 * thread is started for each element of argument `over`, in groups of 256 whose last one may go beyond: the kernel
 * compares INDEX_X. Every element of a 'w' block must be written: it was not zeroed. */
typedef struct sial_kernel {
  uint32_t struct_size;
  int32_t over;     /* a block among the arguments, counted from 0 */
  const char* name; /* of the kernel in the text */
  const char* text; /* valid for ever, as the name */
} sial_kernel;

typedef struct sial_instruction {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;      /* as in `special NAME`; a to z, 0 to 9, '_' */
  const char* signature; /* one letter r, w or u per argument; "" for none; several forms with '|': "rw|ru" */
  sial_function function;
  const sial_kernel* kernel; /* NULL: it runs on workers alone */
} sial_instruction;

typedef struct sial_table {
  uint32_t struct_size;
  uint32_t version; /* SIAL_INTERFACE_VERSION that the library was compiled with */
  uint32_t count;
  const sial_instruction* instructions;
  const char* library; /* name and version, for messages; may be NULL */
} sial_table;

/* The one exported function. `version` is the host's. Returns a table that stays valid for ever, or NULL when the
 * library cannot serve a host of that version. */
typedef const sial_table* (*sial_instructions_function)(uint32_t version);
SIAL_EXPORT const sial_table* tessera_sial_instructions(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif /* TESSERA_SIAL_H_ */
