// tiled dgemm and Cholesky on StarPU, one single-threaded OpenBLAS call per task, tiles stored contiguously.
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <cblas.h>
#include <starpu.h>

#include <memory>

using namespace bench;

extern "C" void dpotrf_(const char*, const int*, double*, const int*, int*);
extern "C" char* openblas_get_corename();

namespace {

int tile;

double* ptr(void* buffer) { return reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffer)); }

void gemm_nn(void** b, void*) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, tile, tile, tile, 1, ptr(b[0]), tile, ptr(b[1]), tile, 1,
              ptr(b[2]), tile);
}
void gemm_nt(void** b, void*) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, tile, tile, tile, -1, ptr(b[0]), tile, ptr(b[1]), tile, 1,
              ptr(b[2]), tile);
}
void syrk(void** b, void*) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, tile, tile, -1, ptr(b[0]), tile, 1, ptr(b[1]), tile);
}
void trsm(void** b, void*) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, tile, tile, 1, ptr(b[0]), tile,
              ptr(b[1]), tile);
}
void potrf(void** b, void*) {
  int info = 0;
  dpotrf_("L", &tile, ptr(b[0]), &tile, &info);
  if (info != 0) fail("dpotrf in a tile");
}

starpu_codelet make_codelet(starpu_cpu_func_t f, std::initializer_list<starpu_data_access_mode> modes) {
  starpu_codelet cl;
  starpu_codelet_init(&cl);
  cl.cpu_funcs[0] = f;
  cl.nbuffers = int(modes.size());
  int i = 0;
  for (auto m : modes) cl.modes[i++] = m;
  return cl;
}

struct tiled {
  int count;  // tiles per side
  std::unique_ptr<double[]> data;
  std::vector<starpu_data_handle_t> handle;
  explicit tiled(int tiles)
      : count(tiles), data(new double[size_t(tiles) * tiles * tile * tile]), handle(size_t(tiles) * tiles) {
    for (size_t i = 0; i < handle.size(); ++i)
      starpu_matrix_data_register(&handle[i], STARPU_MAIN_RAM, uintptr_t(&data[i * size_t(tile) * tile]),
                                  uint32_t(tile), uint32_t(tile), uint32_t(tile), sizeof(double));
  }
  ~tiled() {
    for (auto& h : handle) starpu_data_unregister(h);
  }
  starpu_data_handle_t operator()(int i, int j) const { return handle[size_t(i) + size_t(j) * count]; }
  double& at(long i, long j) {
    const size_t t = size_t(i / tile) + size_t(j / tile) * count;
    return data[t * size_t(tile) * tile + size_t(i % tile) + size_t(j % tile) * tile];
  }
  template <class F>
  void fill(F f) {
    for (long j = 0; j < long(count) * tile; ++j)
      for (long i = 0; i < long(count) * tile; ++i) at(i, j) = f(i, j);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"op", "workers", "n", "tile", "reps", "sched"});
  const std::string op = args.text("op", "gemm"), sched = args.text("sched", "lws");
  const int workers = int(args.number("workers", 2)), n = int(args.number("n", 4096));
  const long reps = args.number("reps", 3);
  tile = int(args.number("tile", 256));
  openblas_set_num_threads(1);
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = workers;
  conf.sched_policy_name = sched.c_str();
  conf.ncuda = conf.nopencl = 0;
  if (starpu_init(&conf) != 0) fail("starpu_init");
  starpu_codelet cl_nn = make_codelet(gemm_nn, {STARPU_R, STARPU_R, STARPU_RW});
  starpu_codelet cl_nt = make_codelet(gemm_nt, {STARPU_R, STARPU_R, STARPU_RW});
  starpu_codelet cl_syrk = make_codelet(syrk, {STARPU_R, STARPU_RW});
  starpu_codelet cl_trsm = make_codelet(trsm, {STARPU_R, STARPU_RW});
  starpu_codelet cl_potrf = make_codelet(potrf, {STARPU_RW});
  const int t = n / tile;
  double best = 1e9, flops = 0;
  if (op == "gemm") {
    tiled a(t), b(t), c(t);
    a.fill(noise), b.fill(noise), c.fill(noise);
    flops = 2.0 * n * double(n) * n;
    for (long r = 0; r < reps; ++r) {
      const double t0 = now();
      for (int j = 0; j < t; ++j)
        for (int i = 0; i < t; ++i)
          for (int k = 0; k < t; ++k)
            starpu_task_insert(&cl_nn, STARPU_R, a(i, k), STARPU_R, b(k, j), STARPU_RW, c(i, j), 0);
      starpu_task_wait_for_all();
      best = std::min(best, now() - t0);
    }
  } else {
    flops = double(n) * n * n / 3.0;
    tiled a(t);
    for (long r = 0; r < reps; ++r) {
      a.fill([&](long i, long j) { return i == j ? double(n) : noise(std::max(i, j), std::min(i, j)); });
      const double t0 = now();
      for (int k = 0; k < t; ++k) {
        starpu_task_insert(&cl_potrf, STARPU_RW, a(k, k), STARPU_PRIORITY, STARPU_MAX_PRIO, 0);
        for (int i = k + 1; i < t; ++i)
          starpu_task_insert(&cl_trsm, STARPU_R, a(k, k), STARPU_RW, a(i, k), STARPU_PRIORITY,
                             i == k + 1 ? STARPU_MAX_PRIO : STARPU_DEFAULT_PRIO, 0);
        for (int j = k + 1; j < t; ++j) {
          starpu_task_insert(&cl_syrk, STARPU_R, a(j, k), STARPU_RW, a(j, j), STARPU_PRIORITY,
                             j == k + 1 ? STARPU_MAX_PRIO : STARPU_DEFAULT_PRIO, 0);
          for (int i = j + 1; i < t; ++i)
            starpu_task_insert(&cl_nt, STARPU_R, a(i, k), STARPU_R, a(j, k), STARPU_RW, a(i, j), 0);
        }
      }
      starpu_task_wait_for_all();
      best = std::min(best, now() - t0);
    }
  }
  row("dense",
      "StarPU " + std::to_string(STARPU_MAJOR_VERSION) + "." + std::to_string(STARPU_MINOR_VERSION) + " " + sched +
          " " + openblas_get_corename(),
      op + "_n" + std::to_string(n) + "_tile" + std::to_string(tile), workers, "gflops", flops / best * 1e-9);
  starpu_shutdown();
}
