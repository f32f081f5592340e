// hypre's LOBPCG until all pairs of the block have residuals of the tolerance or less; under mpirun.
//
// peer_sparse_hypre FILE CASE BLOCK ITERATIONS TOLERANCE WORKERS; FILE is what `bench_sparse --case write` writes.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "HYPRE.h"
#include "HYPRE_IJ_mv.h"
#include "HYPRE_MatvecFunctions.h"
#include "HYPRE_lobpcg.h"
#include "HYPRE_parcsr_ls.h"
#include "interpreter.h"
#include "temp_multivector.h"

static void stop(const char* why) {
  fprintf(stderr, "FAILED: sparse: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* room(size_t bytes) {
  void* const memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) stop("there is no memory");
  return memory;
}

static void* read_at(FILE* from, int64_t place, size_t size, int64_t count) {
  void* const memory = room(size * (size_t)count);
  if (fseek(from, (long)place, SEEK_SET) != 0 || fread(memory, size, (size_t)count, from) != (size_t)count)
    stop("the file is shorter than it says");
  return memory;
}

/// This process's rows of the matrix in the file.
static HYPRE_IJMatrix read_matrix(const char* path, int rank, int size, HYPRE_BigInt* first, HYPRE_BigInt* last) {
  FILE* const from = fopen(path, "rb");
  if (from == NULL) stop("cannot read the matrix");
  int64_t* const sizes = read_at(from, 0, sizeof(int64_t), 2);
  const int64_t rows = sizes[0], begin = rows * rank / size, end = rows * (rank + 1) / size, own = end - begin;
  const int64_t at_starts = 16, at_columns = at_starts + 8 * (rows + 1), at_values = at_columns + 4 * sizes[1];
  int64_t* const starts = read_at(from, at_starts + 8 * begin, sizeof(int64_t), own + 1);
  const int64_t entries = starts[own] - starts[0];
  int32_t* const columns = read_at(from, at_columns + 4 * starts[0], sizeof(int32_t), entries);
  double* const values = read_at(from, at_values + 8 * starts[0], sizeof(double), entries);
  fclose(from);

  HYPRE_Int* const lengths = room(sizeof(HYPRE_Int) * (size_t)own);
  HYPRE_BigInt* const places = room(sizeof(HYPRE_BigInt) * (size_t)own);
  HYPRE_BigInt* const wide = room(sizeof(HYPRE_BigInt) * (size_t)entries);
  for (int64_t i = 0; i < own; ++i) {
    lengths[i] = (HYPRE_Int)(starts[i + 1] - starts[i]);
    places[i] = (HYPRE_BigInt)(begin + i);
  }
  for (int64_t k = 0; k < entries; ++k) wide[k] = columns[k];
  *first = (HYPRE_BigInt)begin, *last = (HYPRE_BigInt)end - 1;
  HYPRE_IJMatrix made;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, *first, *last, *first, *last, &made);
  HYPRE_IJMatrixSetObjectType(made, HYPRE_PARCSR);
  HYPRE_IJMatrixSetRowSizes(made, lengths);
  HYPRE_IJMatrixInitialize(made);
  HYPRE_IJMatrixSetValues(made, (HYPRE_Int)own, lengths, places, wide, values);
  HYPRE_IJMatrixAssemble(made);
  free(sizes), free(starts), free(columns), free(values), free(lengths), free(places), free(wide);
  return made;
}

static HYPRE_ParVector make_vector(HYPRE_BigInt first, HYPRE_BigInt last) {
  HYPRE_IJVector made;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &made);
  HYPRE_IJVectorSetObjectType(made, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(made);
  HYPRE_IJVectorAssemble(made);
  void* vector;
  HYPRE_IJVectorGetObject(made, &vector);
  return vector;
}

// No preconditioner.
static HYPRE_Int set_up(HYPRE_Solver s, HYPRE_Matrix a, HYPRE_Vector b, HYPRE_Vector x) {
  (void)s, (void)a, (void)b, (void)x;
  return 0;
}
static HYPRE_Int same(HYPRE_Solver s, HYPRE_Matrix a, HYPRE_Vector b, HYPRE_Vector x) {
  (void)s, (void)a;
  return HYPRE_ParVectorCopy((HYPRE_ParVector)b, (HYPRE_ParVector)x);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 7) stop("FILE CASE BLOCK ITERATIONS TOLERANCE WORKERS are wanted");
  const int block = atoi(argv[3]);
  HYPRE_BigInt first, last;
  void* object;
  HYPRE_IJMatrixGetObject(read_matrix(argv[1], rank, size, &first, &last), &object);
  const HYPRE_ParCSRMatrix a = object;
  const HYPRE_ParVector sample = make_vector(first, last), rest = make_vector(first, last);

  mv_InterfaceInterpreter* const interpreter = calloc(1, sizeof *interpreter);
  HYPRE_MatvecFunctions products;
  HYPRE_ParCSRSetupInterpreter(interpreter);
  HYPRE_ParCSRSetupMatvec(&products);
  const mv_MultiVectorPtr vectors = mv_MultiVectorCreateFromSampleVector(interpreter, block, sample);
  mv_MultiVectorSetRandom(vectors, 1);
  HYPRE_Real* const values = calloc((size_t)block, sizeof *values);
  HYPRE_Solver solver;
  HYPRE_LOBPCGCreate(interpreter, &products, &solver);
  HYPRE_LOBPCGSetMaxIter(solver, atoi(argv[4]));
  HYPRE_LOBPCGSetTol(solver, atof(argv[5]));
  HYPRE_LOBPCGSetPrintLevel(solver, 0);
  HYPRE_LOBPCGSetPrecondUsageMode(solver, 1);
  HYPRE_LOBPCGSetPrecond(solver, same, set_up, NULL);
  HYPRE_LOBPCGSetup(solver, (HYPRE_Matrix)a, (HYPRE_Vector)sample, (HYPRE_Vector)sample);
  const double began = MPI_Wtime();
  HYPRE_LOBPCGSolve(solver, NULL, vectors, values);
  const double seconds = MPI_Wtime() - began;

  double largest = 0;
  HYPRE_ParVector* const each = (HYPRE_ParVector*)((mv_TempMultiVector*)mv_MultiVectorGetData(vectors))->vector;
  for (int k = 0; k < block; ++k) {
    HYPRE_Real square, length;
    HYPRE_ParCSRMatrixMatvec(1, a, each[k], 0, rest);
    interpreter->Axpy(-values[k], each[k], rest);
    HYPRE_ParVectorInnerProd(rest, rest, &square);
    HYPRE_ParVectorInnerProd(each[k], each[k], &length);
    largest = fmax(largest, sqrt(square / length));
  }
  if (rank == 0) {
    const char* const row = "sparse\thypre\t%s\t%s\t%s\t%.6g\n";
    printf(row, argv[2], argv[6], "seconds", seconds);
    printf(row, argv[2], argv[6], "iterations", (double)HYPRE_LOBPCGIterations(solver));
    printf(row, argv[2], argv[6], "largest_residual", largest);
  }
  HYPRE_LOBPCGDestroy(solver);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
