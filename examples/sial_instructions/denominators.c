/* A super instruction in C: `special my_denominator u`. X(a,i) / (e(i) - e(a)) for a block of any segments. */
#include <tessera/sial.h>

static int32_t my_denominator(const sial_job* job, int32_t count, const sial_argument* arguments) {
  const sial_argument* const x = &arguments[0];
  sial_float_array energies;
  (void)count; /* one, as the signature says */
  if (x->rank != 2) {
    job->fail(job, "a block of two dimensions is expected");
    return 1;
  }
  if (!job->find_float_array(job, "orbital_energies", &energies)) {
    job->fail(job, "the initialization data have no array 'orbital_energies'");
    return 1;
  }
  /* Offsets are absolute numbers of elements, whatever the segments and kinds of indices are. */
  if (x->offsets[0] + x->extents[0] > energies.elements || x->offsets[1] + x->extents[1] > energies.elements) {
    job->fail(job, "'orbital_energies' is too short");
    return 1;
  }
  const double* const of_a = energies.values + x->offsets[0];
  const double* const of_i = energies.values + x->offsets[1];
  for (int64_t i = 0; i < x->extents[1]; ++i)
    for (int64_t a = 0; a < x->extents[0]; ++a) x->data[a + i * x->extents[0]] /= of_i[i] - of_a[a];
  return 0;
}

static const sial_instruction all[] = {
    {sizeof(sial_instruction), SIAL_THREAD_SAFE, "my_denominator", "u", my_denominator, NULL}};
static const sial_table table = {sizeof(sial_table), SIAL_INTERFACE_VERSION, 1, all, "denominators 1.0"};

SIAL_EXPORT const sial_table* tessera_sial_instructions(uint32_t version) {
  return version == SIAL_INTERFACE_VERSION ? &table : NULL;
}
