// Vendors' libraries in emulated GPU plugins: taken where they are found, done without where they are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/plugins/gpu/vendor_library.hpp"
#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera {
namespace {

using test::at;
using test::flat_copy;
using test::opened_plugin;
using test::owned_stream;
using test::vendor_library;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct vendor {
  const char *plugin, *folder, *blas, *solver, *gemm, *potrf, *create, *found;
};
void PrintTo(const vendor& one, std::ostream* to) { *to << one.plugin; }

class gpu_libraries : public testing::TestWithParam<vendor> {
 protected:
  static fs::path folder() { return fs::path(TESSERA_BINARY_DIR) / "tests/vendor" / GetParam().folder; }
  static opened_plugin open(const fs::path& path) {
    return opened_plugin(GetParam().plugin, {{"library_path", TSR_OPTION_STRING, 0, 0, path.string()}});
  }

  /// Factors the matrix {4, 2; 2, 5}, whose factor is {2, 0; 1, 2}, and multiplies the factor by itself transposed.
  static void factor_and_multiply(const opened_plugin::device& device) {
    std::vector<double> host{4, 2, 0, 5}, back(8);  // for longer than the stream, which ends what it has begun
    const owned_stream stream(device);
    tsr_memory* memory = nullptr;
    opened_plugin::check(device.table->mem_alloc(device.handle, 0, 128, &memory));
    const auto in = flat_copy({device.handle, 0}, at(memory), {nullptr, 0}, at(host.data()), 32);
    opened_plugin::check(device.table->copy(device.handle, stream.handle, &in));
    tsr_potrf p{};
    p.struct_size = sizeof p;
    p.type = TSR_F64, p.triangle = TSR_LOWER, p.n = p.lda = 2, p.a = at(memory), p.info = at(memory, 96);
    opened_plugin::check(device.blas->potrf(device.handle, stream.handle, &p));
    tsr_gemm g{};
    const double one = 1, zero = 0;
    g.struct_size = sizeof g;
    g.type = TSR_F64, g.transpose_b = TSR_TRANSPOSE, g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 2;
    g.alpha = &one, g.beta = &zero, g.a = g.b = at(memory), g.c = at(memory, 32);
    opened_plugin::check(device.blas->gemm(device.handle, stream.handle, &g));
    const auto out = flat_copy({nullptr, 0}, at(back.data()), {device.handle, 0}, at(memory), 64);
    opened_plugin::check(device.table->copy(device.handle, stream.handle, &out));
    stream.finish();
    EXPECT_EQ(back, (std::vector<double>{2, 1, 0, 2, 4, 2, 2, 5}));
    opened_plugin::check(device.table->mem_free(device.handle, memory));
  }
};

TEST_P(gpu_libraries, do_the_work_where_they_are_found) {
  const vendor_library blas(folder() / GetParam().blas), solver(folder() / GetParam().solver);
  {
    const auto plugin = open(folder());
    ASSERT_EQ(plugin.status, TSR_OK) << opened_plugin::last_error();
    EXPECT_STREQ(plugin.devices[0].blas->library, GetParam().found);
    blas.calls_of(GetParam().create), blas.calls_of(GetParam().gemm), solver.calls_of(GetParam().potrf);
    factor_and_multiply(plugin.devices[0]);
    factor_and_multiply(plugin.devices[0]);
  }
  EXPECT_EQ(blas.calls_of(GetParam().create), 2) << "one handle a stream";
  EXPECT_EQ(blas.calls_of(GetParam().gemm), 2);
  EXPECT_EQ(solver.calls_of(GetParam().potrf), 2);
}

TEST_P(gpu_libraries, are_not_looked_for_elsewhere_and_can_be_refused) {
  const vendor_library blas(folder() / GetParam().blas);
  blas.calls_of(GetParam().gemm);
  const opened_plugin without(GetParam().plugin);
  EXPECT_STREQ(without.devices[0].blas->library, "Tessera's own kernels");
  factor_and_multiply(without.devices[0]);
  const opened_plugin refusing(GetParam().plugin, {{"library_path", TSR_OPTION_STRING, 0, 0, folder().string()},
                                                   {"libraries", TSR_OPTION_BOOL, 0, 0, {}}});
  factor_and_multiply(refusing.devices[0]);
  EXPECT_EQ(blas.calls_of(GetParam().gemm), 0);
}

TEST_P(gpu_libraries, are_done_without_one_by_one) {
  const fs::path part = fs::path(testing::TempDir()) / ("tessera_part_of_" + std::string(GetParam().plugin));
  fs::remove_all(part);
  fs::create_directories(part);
  fs::copy(folder() / GetParam().blas, part);
  const vendor_library blas(part / GetParam().blas), solver(folder() / GetParam().solver);
  blas.calls_of(GetParam().gemm), solver.calls_of(GetParam().potrf);
  const auto plugin = open(part);
  EXPECT_THAT(plugin.devices[0].blas->library, HasSubstr("and Tessera's own kernels"));
  EXPECT_THAT(plugin.logged(), HasSubstr(GetParam().solver)) << "what is lost is told";
  factor_and_multiply(plugin.devices[0]);
  EXPECT_EQ(blas.calls_of(GetParam().gemm), 1);
  EXPECT_EQ(solver.calls_of(GetParam().potrf), 0);
  fs::remove_all(part);
}

TEST_P(gpu_libraries, tell_of_a_call_that_failed_and_do_without_a_handle_that_cannot_be_made) {
  const vendor_library blas(folder() / GetParam().blas);
  const auto plugin = open(folder());
  blas.fail(GetParam().create);
  factor_and_multiply(plugin.devices[0]);  // on the own kernels
  blas.fail(GetParam().gemm);
  try {
    factor_and_multiply(plugin.devices[0]);
    ADD_FAILURE() << "the failure is lost";
  } catch (const std::runtime_error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("status 13"));
  }
  blas.fail("");
  EXPECT_EQ(plugin.devices[0].table->health(plugin.devices[0].handle), TSR_OK);
}

INSTANTIATE_TEST_SUITE_P(
    vendors, gpu_libraries,
    testing::Values(vendor{"cuda_emulated", "nvidia", "libcublas.so.13", "libcusolver.so.12", "cublasDgemm_v2",
                           "cusolverDnDpotrf", "cublasCreate_v2",
                           "cuBLAS (libcublas.so.13), cuSOLVER (libcusolver.so.12), cuSPARSE (libcusparse.so.12)"},
                    vendor{"hip_emulated", "amd", "librocblas.so.4", "librocsolver.so.0", "rocblas_dgemm",
                           "rocsolver_dpotrf", "rocblas_create_handle",
                           "rocBLAS (librocblas.so.4), rocSOLVER (librocsolver.so.0), rocSPARSE (librocsparse.so.1)"}),
    [](const auto& one) { return std::string(one.param.folder); });

}  // namespace
}  // namespace tessera
