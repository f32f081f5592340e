// Loaded before the C library into tests that are SINGLE_THREADED: who starts a thread there does not get far.
#include <stdio.h>
#include <stdlib.h>

int pthread_create(void* thread, const void* attributes, void* (*function)(void*), void* argument);

int pthread_create(void* thread, const void* attributes, void* (*function)(void*), void* argument) {
  (void)thread, (void)attributes, (void)function, (void)argument;
  fputs(
      "a thread is started in a test that is SINGLE_THREADED in its CMakeLists.txt: the thread sanitizer would not see "
      "it\n",
      stderr);
  abort();
}
