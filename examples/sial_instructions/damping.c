/* A super instruction with a form for devices: `special my_damp urr`. X = (1 - w) X + w Y for two blocks of the same
 * extents and a number. A worker runs the function; a device, where there is one that is faster, the kernel. */
#include <tessera/sial.h>

static int32_t my_damp(const sial_job* job, int32_t count, const sial_argument* arguments) {
  const sial_argument *const x = &arguments[0], *const y = &arguments[1];
  const double w = *arguments[2].data;
  (void)count; /* three, as the signature says */
  if (x->elements != y->elements) {
    job->fail(job, "the blocks have different sizes");
    return 1;
  }
  for (int64_t k = 0; k < x->elements; ++k) x->data[k] += w * (y->data[k] - x->data[k]);
  return 0;
}

/* A block is a pointer and a number of elements, a number a double. */
static const char text[] =
    "KERNEL void damp(GLOBAL double* x, long nx, GLOBAL double* y, long ny, double w) {\n"
    "  if (INDEX_X < nx && INDEX_X < ny) x[INDEX_X] += w * (y[INDEX_X] - x[INDEX_X]);\n"
    "}\n";
static const sial_kernel kernel = {sizeof(sial_kernel), 0, "damp", text};

static const sial_instruction all[] = {
    {sizeof(sial_instruction), SIAL_THREAD_SAFE, "my_damp", "urr", my_damp, &kernel}};
static const sial_table table = {sizeof(sial_table), SIAL_INTERFACE_VERSION, 1, all, "damping 1.0"};

SIAL_EXPORT const sial_table* tessera_sial_instructions(uint32_t version) {
  return version == SIAL_INTERFACE_VERSION ? &table : NULL;
}
