/* A library of super instructions for the tests of loading. */
#include <tessera/sial.h>

static int32_t twice(const sial_job* job, int32_t count, const sial_argument* arguments) {
  (void)job;
  for (int32_t a = 0; a < count; ++a)
    for (int64_t k = 0; k < arguments[a].elements; ++k) arguments[a].data[k] *= 2;
  return 0;
}

/* Sets an element for every question that a job answers; see library_test.cpp. */
static int32_t ask(const sial_job* job, int32_t count, const sial_argument* arguments) {
  double* const to = arguments[0].data;
  int64_t whole = -1;
  double real = -1;
  const int64_t* lengths = NULL;
  sial_float_array floats = {0, NULL, 0, NULL};
  sial_int_array ints = {0, NULL, 0, NULL};
  to[0] = count;
  to[1] = job->worker;
  to[2] = job->workers;
  to[3] = job->find_int(job, "NORB", &whole) == 1 ? (double)whole : -1;
  to[4] = job->find_int(job, "missing", &whole);
  to[5] = job->find_scalar(job, "conv", &real) == 1 ? real : -1;
  to[6] = (double)job->segments(job, SIAL_MOA, &lengths);
  to[7] = lengths == NULL ? -1 : (double)lengths[1];
  to[8] = (double)(job->segments(job, SIAL_LA, &lengths) + job->segments(job, 17, &lengths) +
                   job->segments(job, -1, &lengths));
  to[9] = job->find_float_array(job, "coords", &floats) == 1 ? floats.values[floats.dims[0]] : -1;
  to[10] = job->find_int_array(job, "atom", &ints) == 1 ? (double)ints.values[ints.elements - 1] : -1;
  to[11] = job->find_int_array(job, NULL, &ints);
  to[12] = job->scratch(job, -1) == NULL && job->scratch(job, INT64_MAX) == NULL;
  double* const one = job->scratch(job, 1000);
  double* const other = job->scratch(job, 0);
  if (one == NULL || other == NULL) return 1;
  for (int64_t k = 0; k < 1000; ++k) one[k] = 1;
  to[13] = one != other;
  job->print(job, "asked\n");
  return 0;
}

static int32_t complain(const sial_job* job, int32_t count, const sial_argument* arguments) {
  (void)count;
  if (arguments[0].data[0] > 0) job->fail(job, "it is positive");
  return 17;
}

/* Counts how many calls run at once: the most that were seen. */
static int running, most;
static int32_t count_calls(const sial_job* job, int32_t count, const sial_argument* arguments) {
  (void)job;
  (void)count;
  const int now = __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
  for (volatile int k = 0; k < 20000; ++k) continue;
  if (now > __atomic_load_n(&most, __ATOMIC_SEQ_CST)) __atomic_store_n(&most, now, __ATOMIC_SEQ_CST);
  __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
  arguments[0].data[0] = __atomic_load_n(&most, __ATOMIC_SEQ_CST);
  return 0;
}

#ifndef SAMPLE_VERSION
#define SAMPLE_VERSION SIAL_INTERFACE_VERSION
#endif

static const sial_instruction all[] = {
    {sizeof(sial_instruction), SIAL_THREAD_SAFE, "sample_twice", "u|uu", twice, NULL},
    {sizeof(sial_instruction), 0, "sample_ask", "w", ask, NULL},
    {sizeof(sial_instruction), SIAL_THREAD_SAFE, "sample_complain", "r", complain, NULL},
    {sizeof(sial_instruction), 0, "sample_count", "w", count_calls, NULL},
};
static const sial_table table = {sizeof(sial_table), SAMPLE_VERSION, 4, all, "sample 1"};

#ifdef SAMPLE_SYMBOL
SIAL_EXPORT const sial_table* SAMPLE_SYMBOL(void) { return &table; }
#else
SIAL_EXPORT const sial_table* tessera_sial_instructions(uint32_t version) {
  return version == SIAL_INTERFACE_VERSION ? &table : NULL;
}
#endif
