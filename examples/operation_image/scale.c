/* A kernel as a shared object of the host, compiled with the program: what the plugin host and the emulated GPUs load.
 * For a GPU the image would be PTX or a code object, for OpenCL a binary or SPIR-V; the program changes by a line. */

typedef struct {
  unsigned thread[3], group[3], threads[3], groups[3];
  void (*barrier)(void*); /* waits for the group's threads; may be null where there is one */
  void* of;               /* its argument */
} tessera_place;

typedef struct {
  const char* name;
  unsigned count;                                  /* of the parameters */
  const unsigned* sizes;                           /* bytes of each; 0: a pointer */
  unsigned waits;                                  /* whether it comes to a barrier */
  void (*one)(const tessera_place*, void* const*); /* one thread */
  void (*all)(const tessera_place*, void* const*); /* all threads of a group */
} tessera_kernel;

/* x[i] *= factor, one element a thread. */
static void scale_one(const tessera_place* at, void* const* arguments) {
  double* const x = *(double**)arguments[0];
  const double factor = *(double*)arguments[1];
  const long n = *(long*)arguments[2], i = (long)at->group[0] * at->threads[0] + at->thread[0];
  if (i < n) x[i] *= factor;
}

static void scale_all(const tessera_place* at, void* const* arguments) {
  tessera_place here = *at;
  for (here.thread[0] = 0; here.thread[0] < at->threads[0]; ++here.thread[0]) scale_one(&here, arguments);
}

static const unsigned scale_sizes[] = {0, sizeof(double), sizeof(long)};

extern const tessera_kernel tessera_kernels_1[];
__attribute__((visibility("default")))
const tessera_kernel tessera_kernels_1[] = {{"scale", 3, scale_sizes, 0, scale_one, scale_all}, {0, 0, 0, 0, 0, 0}};
