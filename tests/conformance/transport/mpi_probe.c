/* Whether MPI itself starts here: each rank has heard of the others. */
#include <mpi.h>

int main(int argc, char** argv) {
  int heard = 0, one = 1, size = 0;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &heard, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return heard == size ? 0 : 1;
}
