#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "tests/layering/rules.hpp"
#include "tests/layering/scan.hpp"

namespace tessera::layering {
namespace {

// What a violation looks like to the one who caused it: file:line, the include, the rule.
std::string report(const include_line& include, const std::string& rule) {
  return include.file + ":" + std::to_string(include.line) + ": includes " + include.target + ": " + rule;
}

std::vector<std::string> violations_in(const std::filesystem::path& root) {
  std::vector<std::string> all;
  for (const auto& include : scan(root))
    if (const auto rule = violation(include)) all.push_back(report(include, *rule));
  return all;
}

TEST(layering, this_repository_keeps_the_rules) {
  const std::filesystem::path root = TESSERA_SOURCE_DIR;
  const auto includes = scan(root);
  // Guards against a scan that sees nothing and passes.
  std::set<std::string> houses;
  for (const auto& include : includes) houses.insert(include.file.substr(0, include.file.find('/')));
  EXPECT_THAT(houses, testing::Contains("core"));
  EXPECT_GT(includes.size(), 30u);
  EXPECT_THAT(violations_in(root), testing::IsEmpty());
}

TEST(layering, toml_is_read_in_one_file) {
  std::set<std::string> files;
  for (const auto& include : scan(TESSERA_SOURCE_DIR))
    if (include.target.starts_with("toml++/")) files.insert(include.file);
  EXPECT_LE(files.size(), 1u) << testing::PrintToString(files);
}

/// Words of a source text that read the environment otherwise than in a way that a setuid program may use: plain
/// getenv, and the list of variables.
std::set<std::string> plain_reads(const std::string& text) {
  std::set<std::string> found;
  for (const std::regex& word :
       {std::regex("(^|[^_\\w])(getenv)\\s*\\("), std::regex("(^|[^_\\w])(environ)\\b(?!\\.hpp|\\w)")})
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) found.insert((*at)[2]);
  return found;
}

TEST(layering, users_do_not_steer_programs_with_more_rights_by_their_environment) {
  // core and above: core/base/environment.hpp. A plugin: secure_getenv. The exceptions look at AT_SECURE themselves, or
  // decide nothing by it.
  const std::set<std::string> exceptions = {"apps/study/application_run.cpp", "core/base/environment.cpp",
                                            "hierarchy/discovery/topology.cpp", "plugins/kit/jit/host_compiler.cpp"};
  std::set<std::string> readers;
  std::size_t files = 0;
  const std::filesystem::path root = TESSERA_SOURCE_DIR;
  for (const char* house : {"include", "core", "hierarchy", "plugins", "cluster", "libraries", "languages", "apps"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / house)) {
      const auto kind = entry.path().extension();
      if (kind != ".cpp" && kind != ".hpp" && kind != ".c" && kind != ".h") continue;
      ++files;
      std::ifstream file(entry.path());
      if (!plain_reads({std::istreambuf_iterator<char>(file), {}}).empty())
        readers.insert(std::filesystem::relative(entry.path(), root).string());
    }
  EXPECT_GT(files, 300u);
  EXPECT_EQ(readers, exceptions);
}

TEST(layering, plain_reads_of_the_environment_are_seen) {
  EXPECT_THAT(plain_reads("const char* a = std::getenv(\"TESSERA_X\");"), testing::ElementsAre("getenv"));
  EXPECT_THAT(plain_reads("getenv (name); for (char** e = environ; *e;)"), testing::ElementsAre("environ", "getenv"));
  EXPECT_THAT(plain_reads("::secure_getenv(name); environment_variable(name); #include \"core/base/environment.hpp\""),
              testing::IsEmpty());
}

TEST(layering, headers_do_not_include_sources_of_other_rooms) {
  for (const auto& include : scan(TESSERA_SOURCE_DIR))
    EXPECT_FALSE(include.target.ends_with(".cpp") || include.target.ends_with(".c"))
        << report(include, "source files are compiled, not included");
}

/// What a program pays for with each of its files. Behind the doors of first programs stand none of the large headers
/// of the library; what needs them is in a source file.
TEST(layering, first_doors_include_no_large_headers) {
  const std::set<std::string> large = {"algorithm", "charconv",   "chrono",   "condition_variable",
                                       "deque",     "filesystem", "fstream",  "functional",
                                       "future",    "iomanip",    "iostream", "map",
                                       "mutex",     "random",     "ranges",   "regex",
                                       "set",       "sstream",    "thread",   "unordered_map"};
  const std::filesystem::path root = TESSERA_SOURCE_DIR;
  for (const char* door : {"include/tessera/tessera.hpp", "include/tessera/region.hpp"}) {
    std::vector<std::string> files{door};
    for (std::size_t k = 0; k < files.size(); ++k) {
      std::ifstream file(root / files[k]);
      for (const include_line& one : includes_of(std::string{std::istreambuf_iterator<char>(file), {}}, files[k])) {
        EXPECT_FALSE(large.contains(one.target)) << report(one, std::string("stands behind ") + door);
        for (const std::string place : {"", "include/"})
          if (one.quoted && std::filesystem::exists(root / (place + one.target)) &&
              std::ranges::find(files, place + one.target) == files.end())
            files.push_back(place + one.target);
      }
    }
    EXPECT_GT(files.size(), 20u) << door;
  }
}

struct verdict {
  const char* file;
  const char* target;
  bool quoted;
  bool allowed;
};

void PrintTo(const verdict& v, std::ostream* out) { *out << v.file << " includes " << v.target; }

class layering_rule : public testing::TestWithParam<verdict> {};

TEST_P(layering_rule, judges) {
  const auto& [file, target, quoted, allowed] = GetParam();
  const auto rule = violation({file, 1, target, quoted});
  EXPECT_EQ(!rule.has_value(), allowed) << rule.value_or("no rule");
}

INSTANTIATE_TEST_SUITE_P(
    core, layering_rule,
    testing::Values(verdict{"core/block/table.hpp", "core/base/error.hpp", true, true},
                    verdict{"core/block/table.hpp", "core/block/shape.hpp", true, true},
                    verdict{"core/block/table.hpp", "core/memory/slab.hpp", true, false},
                    verdict{"core/base/error.cpp", "core/config/settings.hpp", true, false},
                    verdict{"core/validate/pattern.cpp", "core/bytes/copy.hpp", true, true},
                    verdict{"core/bytes/copy.cpp", "core/base/error.hpp", true, false},
                    verdict{"core/bytes/copy.cpp", "tessera/plugin.h", false, false},
                    verdict{"core/task/graph.cpp", "core/runtime/runtime.hpp", true, false},
                    verdict{"core/placement/placer.cpp", "core/schedule/scheduler.hpp", true, false},
                    verdict{"core/runtime/runtime.cpp", "core/schedule/worker.hpp", true, true},
                    verdict{"core/memory/slab.cpp", "core/trace/tracer.hpp", true, true},
                    verdict{"core/base/error.cpp", "core/trace/tracer.hpp", true, false},
                    verdict{"core/trace/tracer.cpp", "core/base/error.hpp", true, true},
                    verdict{"core/trace/tracer.cpp", "core/block/table.hpp", true, false},
                    verdict{"core/shed/tool.cpp", "core/base/error.hpp", true, false},
                    verdict{"core/task/graph.cpp", "core/shed/tool.hpp", true, false},
                    verdict{"core/location/tree.cpp", "hierarchy/draw/dot.hpp", true, false},
                    verdict{"core/runtime/runtime.cpp", "apps/cli/main.hpp", true, false},
                    verdict{"core/runtime/runtime.cpp", "plugins/host/blas.hpp", true, false},
                    verdict{"core/runtime/runtime.cpp", "tessera/detail/runtime.hpp", true, true},
                    verdict{"core/schedule/scheduler.cpp", "tessera/detail/runtime.hpp", true, false},
                    verdict{"core/plugin/device.hpp", "tessera/plugin.h", false, true},
                    verdict{"core/transfer/route.cpp", "tessera/plugin.h", false, true},
                    verdict{"core/base/units.cpp", "tessera/plugin.h", false, false},
                    verdict{"core/config/reader.cpp", "tessera/plugin.h", false, false},
                    verdict{"core/memory/slab.cpp", "hwloc.h", false, false},
                    verdict{"core/operation/gemm.cpp", "cblas.h", false, false},
                    verdict{"core/transfer/route.cpp", "cuda_runtime.h", false, false},
                    verdict{"core/config/reader.cpp", "toml++/toml.h", false, true},
                    verdict{"core/runtime/runtime.cpp", "toml++/toml.h", false, false},
                    verdict{"core/base/error.cpp", "vector", false, true},
                    verdict{"core/base/error.cpp", "../config/settings.hpp", true, false}));

INSTANTIATE_TEST_SUITE_P(
    hierarchy, layering_rule,
    testing::Values(verdict{"hierarchy/draw/dot.cpp", "core/location/tree.hpp", true, true},
                    verdict{"hierarchy/draw/dot.cpp", "hierarchy/policy/policy.hpp", true, false},
                    verdict{"hierarchy/machine/assemble.cpp", "hierarchy/draw/dot.hpp", true, true},
                    verdict{"hierarchy/draw/dot.cpp", "libraries/sparse/matrix/csr_matrix.hpp", true, false},
                    verdict{"hierarchy/discovery/hwloc.cpp", "hwloc.h", false, true},
                    verdict{"hierarchy/draw/dot.cpp", "hwloc.h", false, false},
                    verdict{"hierarchy/draw/dot.cpp", "cuda.h", false, false},
                    verdict{"hierarchy/draw/dot.cpp", "apps/cli/main.hpp", true, false},
                    verdict{"hierarchy/draw/dot.cpp", "plugins/sim/device.hpp", true, false},
                    verdict{"hierarchy/declaration/read.cpp", "toml++/toml.h", false, false},
                    verdict{"hierarchy/region/engine.cpp", "hierarchy/policy/split.hpp", true, true},
                    verdict{"hierarchy/policy/split.cpp", "hierarchy/region/plan.hpp", true, false},
                    verdict{"hierarchy/region/plan.cpp", "hierarchy/deepcopy/copy.hpp", true, false},
                    verdict{"hierarchy/attic/x.cpp", "hierarchy/policy/split.hpp", true, false},
                    verdict{"hierarchy/region/engine.cpp", "core/schedule/waits.hpp", true, true},
                    verdict{"hierarchy/region/engine.cpp", "core/schedule/scheduler.hpp", true, false},
                    verdict{"hierarchy/region/engine.cpp", "core/runtime/program_side.hpp", true, true},
                    verdict{"hierarchy/region/engine.cpp", "core/runtime/inside.hpp", true, false},
                    verdict{"apps/cli/main.cpp", "core/runtime/inside.hpp", true, false},
                    verdict{"core/runtime/array.cpp", "core/runtime/inside.hpp", true, true}));

INSTANTIATE_TEST_SUITE_P(
    plugins, layering_rule,
    testing::Values(verdict{"plugins/host/blas.cpp", "tessera/plugin.h", false, true},
                    verdict{"plugins/host/blas.cpp", "cblas.h", false, true},
                    verdict{"plugins/host/blas.cpp", "sys/mman.h", false, true},
                    verdict{"plugins/host/blas.cpp", "host/stream.hpp", true, true},
                    verdict{"plugins/host/blas.cpp", "plugins/host/stream.hpp", true, true},
                    verdict{"plugins/host/blas.cpp", "stream.hpp", true, true},
                    verdict{"plugins/sim/device.cpp", "plugins/kit/abi/ring.hpp", true, true},
                    verdict{"plugins/sim/device.cpp", "kit/abi/ring.hpp", true, true},
                    verdict{"plugins/sim/plugin.cpp", "plugins/fault/rules.hpp", true, true},
                    verdict{"plugins/host/plugin.cpp", "plugins/fault/rules.hpp", true, false},
                    verdict{"plugins/fault/rules.cpp", "plugins/sim/settings.hpp", true, false},
                    verdict{"plugins/sim/device.cpp", "plugins/host/stream.hpp", true, false},
                    verdict{"plugins/sim/device.cpp", "host/stream.hpp", true, false},
                    verdict{"plugins/sim/device.cpp", "core/base/error.hpp", true, false},
                    verdict{"plugins/sim/device.cpp", "core/bytes/copy.hpp", true, true},
                    verdict{"plugins/kit/abi/copy_plan.cpp", "core/bytes/copy.hpp", true, true},
                    verdict{"plugins/sim/device.cpp", "core/plugin/abi/tessera/plugin.h", true, false},
                    verdict{"plugins/sim/device.cpp", "hierarchy/draw/dot.hpp", true, false},
                    verdict{"plugins/sim/device.cpp", "tessera/tessera.hpp", false, false},
                    verdict{"plugins/sim/device.cpp", "fmt/format.h", false, false},
                    verdict{"plugins/cuda/plugin.cpp", "plugins/gpu_common/abi/plugin.hpp", true, true},
                    verdict{"plugins/cuda/plugin.cpp", "plugins/hip/plugin.hpp", true, false},
                    verdict{"plugins/sim/device.cpp", "plugins/gpu_common/abi/plugin.hpp", true, false},
                    verdict{"plugins/gpu_common/api/emulator/launch.cpp", "boost/context/fiber.hpp", false, true},
                    verdict{"plugins/gpu_common/abi/device.cpp", "boost/dll.hpp", false, false},
                    verdict{"plugins/sim/device.cpp", "toml++/toml.h", false, false}));

INSTANTIATE_TEST_SUITE_P(
    gpu, layering_rule,
    testing::Values(
        verdict{"plugins/gpu_common/api/runtime.hpp", "plugins/gpu_common/api/emulator/types.hpp", true, true},
        verdict{"plugins/gpu_common/api/runtime.hpp", "plugins/gpu_common/abi/handles.hpp", true, false},
        verdict{"plugins/gpu_common/api/native/amd.cpp", "plugins/gpu_common/libraries/dense.hpp", true, false},
        verdict{"plugins/gpu_common/kernels/fill.cu", "plugins/gpu_common/api/runtime.hpp", true, true},
        verdict{"plugins/gpu_common/kernels/triangular.cpp", "plugins/gpu_common/libraries/dense.hpp", true, false},
        verdict{"plugins/gpu_common/libraries/dense.cpp", "plugins/gpu_common/abi/handles.hpp", true, false},
        verdict{"plugins/gpu_common/abi/tables.cpp", "plugins/gpu_common/kernels/kernels.hpp", true, true},
        verdict{"plugins/gpu_common/abi/tables.cpp", "plugins/kit/kernels/blas_table.hpp", true, true},
        verdict{"plugins/gpu_common/shed/tool.cpp", "plugins/gpu_common/api/runtime.hpp", true, false},
        verdict{"plugins/opencl/modules.cpp", "plugins/gpu_common/abi/modules.hpp", true, true}));

INSTANTIATE_TEST_SUITE_P(
    cluster, layering_rule,
    testing::Values(verdict{"cluster/transport/transport.cpp", "core/plugin/host.hpp", true, true},
                    verdict{"cluster/transport/transport.cpp", "core/base/error.hpp", true, true},
                    verdict{"cluster/transport/transport.cpp", "core/runtime/program_side.hpp", true, false},
                    verdict{"cluster/transport/transport.cpp", "hierarchy/region/engine.hpp", true, false},
                    verdict{"cluster/transport/transport.cpp", "libraries/lapack/lapack.hpp", true, false},
                    verdict{"cluster/transport/transport.cpp", "plugins/transport/common/endpoint.hpp", true, false},
                    verdict{"cluster/transport/transport.cpp", "mpi.h", false, false},
                    verdict{"cluster/shed/tool.cpp", "cluster/transport/transport.hpp", true, false},
                    verdict{"core/plugin/library.cpp", "cluster/transport/transport.hpp", true, false},
                    verdict{"hierarchy/region/engine.cpp", "cluster/transport/transport.hpp", true, false},
                    verdict{"libraries/sparse/program/program.cpp", "cluster/transport/transport.hpp", true, true},
                    verdict{"apps/cli/main.cpp", "mpi.h", false, false},
                    verdict{"plugins/transport/inprocess/world.cpp", "tessera/transport.h", false, true},
                    verdict{"plugins/transport/inprocess/world.cpp", "plugins/transport/common/endpoint.hpp", true,
                            true},
                    verdict{"plugins/transport/inprocess/world.cpp", "plugins/kit/abi/report.hpp", true, true},
                    verdict{"plugins/transport/inprocess/world.cpp", "plugins/transport/mpi/endpoint.hpp", true, false},
                    verdict{"plugins/transport/common/calls.cpp", "plugins/transport/inprocess/world.hpp", true, false},
                    verdict{"plugins/transport/inprocess/world.cpp", "cluster/transport/transport.hpp", true, false},
                    verdict{"plugins/transport/mpi/endpoint.cpp", "mpi.h", false, true},
                    verdict{"plugins/transport/inprocess/world.cpp", "mpi.h", false, false},
                    verdict{"plugins/host/plugin.cpp", "tessera/transport.h", false, false}));

INSTANTIATE_TEST_SUITE_P(
    kit, layering_rule,
    testing::Values(verdict{"plugins/kit/system/pages.cpp", "plugins/kit/system/pages.hpp", true, true},
                    verdict{"plugins/kit/abi/work_queue.cpp", "plugins/kit/system/thread_setup.hpp", true, true},
                    verdict{"plugins/kit/abi/work_queue.cpp", "kit/system/thread_setup.hpp", true, true},
                    verdict{"plugins/kit/system/pages.hpp", "plugins/kit/abi/report.hpp", true, false},
                    verdict{"plugins/kit/system/pages.hpp", "kit/abi/report.hpp", true, false},
                    verdict{"plugins/kit/system/pages.hpp", "plugins/kit/kernels/openblas.hpp", true, false},
                    verdict{"plugins/kit/system/pages.hpp", "tessera/plugin.h", false, true},
                    verdict{"plugins/kit/kernels/contract/plan.hpp", "plugins/kit/kernels/permute/permute.hpp", true,
                            true},
                    verdict{"plugins/kit/kernels/contract/plan.hpp", "plugins/kit/abi/report.hpp", true, true},
                    verdict{"plugins/kit/kernels/contract/plan.hpp", "plugins/kit/jit/kernel_text.hpp", true, false},
                    verdict{"plugins/kit/jit/host_image.cpp", "plugins/kit/system/private_folder.hpp", true, true},
                    verdict{"plugins/kit/jit/host_image.cpp", "plugins/kit/kernels/openblas.hpp", true, false},
                    verdict{"plugins/kit/abi/gate.hpp", "plugins/kit/jit/kernel_text.hpp", true, false},
                    verdict{"plugins/kit/abi/gate.hpp", "plugins/kit/shed/tool.hpp", true, false},
                    verdict{"plugins/kit/shed/tool.cpp", "plugins/kit/abi/gate.hpp", true, false},
                    verdict{"plugins/kit/abi/gate.hpp", "plugins/host/handles.hpp", true, false},
                    verdict{"plugins/kit/abi/gate.hpp", "plugins/fault/rules.hpp", true, false},
                    verdict{"plugins/kit/abi/gate.hpp", "core/base/error.hpp", true, false}));

INSTANTIATE_TEST_SUITE_P(
    libraries_and_languages, layering_rule,
    testing::Values(verdict{"libraries/sparse/program/program.cpp", "libraries/sparse/matrix/csr_matrix.hpp", true,
                            true},
                    verdict{"libraries/sparse/program/program.cpp", "core/runtime/program_side.hpp", true, true},
                    verdict{"libraries/sparse/program/program.cpp", "core/runtime/machine.hpp", true, false},
                    verdict{"libraries/sparse/program/program.cpp", "core/config/toml.hpp", true, false},
                    verdict{"libraries/chemistry/job/any.cpp", "core/config/toml.hpp", true, true},
                    verdict{"libraries/chemistry/job/any.cpp", "core/config/settings.hpp", true, false},
                    verdict{"libraries/chemistry/molecule/any.cpp", "core/config/toml.hpp", true, false},
                    verdict{"libraries/sparse/program/program.cpp", "hierarchy/region/engine.hpp", true, false},
                    verdict{"libraries/sparse/program/program.cpp", "libraries/sparse/solver/lobpcg.hpp", true, false},
                    verdict{"libraries/sparse/matrix/files.cpp", "libraries/sparse/product/form.hpp", true, false},
                    verdict{"libraries/sparse/matrix/files.cpp", "libraries/matrix_market/read.hpp", true, true},
                    verdict{"libraries/matrix_market/read.cpp", "libraries/lapack/lapack.hpp", true, false},
                    verdict{"libraries/attic/x.cpp", "libraries/lapack/lapack.hpp", true, false},
                    verdict{"libraries/chemistry/basis/any.cpp", "libraries/chemistry/molecule/any.hpp", true, true},
                    verdict{"libraries/chemistry/molecule/any.cpp", "libraries/chemistry/basis/any.hpp", true, false},
                    verdict{"libraries/sparse/matrix/files.cpp", "apps/common/report.hpp", true, false},
                    verdict{"libraries/sparse/matrix/files.cpp", "languages/sial/data/files.hpp", true, false},
                    verdict{"libraries/sparse/matrix/files.cpp", "plugins/host/blas.hpp", true, false},
                    verdict{"libraries/sparse/matrix/files.cpp", "CLI/CLI.hpp", false, false},
                    verdict{"libraries/sparse/matrix/files.cpp", "cuda.h", false, false},
                    verdict{"languages/sial/interpreter/worker.cpp", "languages/sial/code/code.hpp", true, true},
                    verdict{"languages/sial/interpreter/worker.cpp", "libraries/lapack/lapack.hpp", true, true},
                    verdict{"languages/sial/interpreter/worker.cpp", "languages/sial/job/job.hpp", true, false},
                    verdict{"languages/sial/code/lower.cpp", "languages/sial/data/files.hpp", true, false},
                    verdict{"languages/sial/data/files.cpp", "core/config/toml.hpp", true, true},
                    verdict{"languages/sial/instructions/library.cpp", "core/runtime/user_library.hpp", true, true},
                    verdict{"languages/sial/instructions/library.cpp", "core/runtime/machine.hpp", true, false},
                    verdict{"languages/sial/data/files.cpp", "core/trace/summary.hpp", true, false},
                    verdict{"languages/sial/job/job.cpp", "languages/directives/text/parse.hpp", true, false},
                    verdict{"languages/directives/clang/main.cpp", "CLI/CLI.hpp", false, true},
                    verdict{"languages/directives/text/parse.cpp", "hierarchy/policy/policy.hpp", true, true},
                    verdict{"languages/directives/text/parse.cpp", "apps/common/report.hpp", true, false}));

INSTANTIATE_TEST_SUITE_P(
    apps_and_examples, layering_rule,
    testing::Values(verdict{"apps/cli/main.cpp", "core/runtime/runtime.hpp", true, true},
                    verdict{"apps/cli/trace.cpp", "core/trace/summary.hpp", true, true},
                    verdict{"languages/sial/language/lexer.cpp", "core/base/suggest.hpp", true, true},
                    verdict{"languages/sial/language/lexer.cpp", "languages/sial/language/token.hpp", true, true},
                    verdict{"languages/sial/language/lexer.cpp", "fmt/format.h", false, true},
                    verdict{"languages/sial/language/lexer.cpp", "vector", false, true},
                    verdict{"languages/sial/language/lexer.cpp", "core/runtime/runtime.hpp", true, false},
                    verdict{"languages/sial/language/lexer.cpp", "apps/common/session.hpp", true, false},
                    verdict{"languages/sial/language/lexer.cpp", "tessera/tessera.hpp", false, false},
                    verdict{"apps/sial/run.cpp", "core/runtime/runtime.hpp", true, true},
                    verdict{"apps/cli/main.cpp", "core/base/error.hpp", true, true},
                    verdict{"apps/cli/main.cpp", "core/config/explain.hpp", true, true},
                    verdict{"apps/cli/main.cpp", "hierarchy/draw/dot.hpp", true, true},
                    verdict{"apps/cli/main.cpp", "tessera/tessera.hpp", false, true},
                    verdict{"apps/cli/main.cpp", "apps/cholesky/app.hpp", true, true},
                    verdict{"apps/cholesky/command.cpp", "apps/gemm/command.hpp", true, false},
                    verdict{"apps/cholesky/command.cpp", "libraries/matrix_market/read.hpp", true, true},
                    verdict{"apps/common/report.cpp", "apps/cholesky/command.hpp", true, false},
                    verdict{"apps/common/parse.cpp", "CLI/CLI.hpp", false, true},
                    verdict{"apps/common/options.cpp", "CLI/CLI.hpp", false, false},
                    verdict{"apps/cli/main.cpp", "CLI/CLI.hpp", false, false},
                    verdict{"apps/cli/parse.cpp", "CLI/CLI.hpp", false, false},
                    verdict{"apps/cli/main.cpp", "core/block/table.hpp", true, false},
                    verdict{"apps/cli/main.cpp", "core/schedule/worker.hpp", true, false},
                    verdict{"apps/cli/plugins.cpp", "core/plugin/registry.hpp", true, true},
                    verdict{"apps/cli/plugins.cpp", "core/plugin/loaded_plugin.hpp", true, false},
                    verdict{"apps/gemm/command.cpp", "core/plugin/registry.hpp", true, false},
                    verdict{"apps/cli/plugins.cpp", "tests/conformance/suite/conformance.hpp", true, true},
                    verdict{"apps/cli/plugins.cpp", "tests/conformance/suite/rig.hpp", true, false},
                    verdict{"apps/gemm/command.cpp", "tests/conformance/suite/conformance.hpp", true, false},
                    verdict{"apps/cli/main.cpp", "plugins/host/blas.hpp", true, false},
                    verdict{"apps/cli/main.cpp", "hwloc.h", false, false},
                    verdict{"apps/cli/main.cpp", "cuda_runtime.h", false, false},
                    verdict{"examples/hello/hello.cpp", "tessera/tessera.hpp", false, true},
                    verdict{"examples/hello/hello.cpp", "tessera/detail/array.hpp", false, false},
                    verdict{"apps/cli/main.cpp", "tessera/detail/runtime.hpp", true, false},
                    verdict{"languages/directives/clang/known_range.cpp", "tessera/detail/loop_head.hpp", true, true},
                    verdict{"languages/directives/clang/known_range.cpp", "tessera/detail/chain.hpp", true, false},
                    verdict{"hierarchy/region/engine.cpp", "tessera/detail/region_use.hpp", true, true},
                    verdict{"examples/hello/hello.cpp", "core/runtime/runtime.hpp", true, false},
                    verdict{"tests/unit/base/base_test.cpp", "core/runtime/runtime.hpp", true, true}));

INSTANTIATE_TEST_SUITE_P(
    interface, layering_rule,
    testing::Values(verdict{"include/tessera/detail/array.hpp", "tessera/detail/runtime.hpp", true, true},
                    verdict{"include/tessera/detail/array.hpp", "core/block/shape.hpp", true, true},
                    verdict{"include/tessera/detail/array.hpp", "core/block/record.hpp", true, false},
                    verdict{"include/tessera/detail/runtime.hpp", "core/schedule/scheduler.hpp", true, false},
                    verdict{"include/tessera/detail/runtime.hpp", "core/runtime/inside.hpp", true, false},
                    verdict{"include/tessera/tessera.hpp", "tessera/detail/statistics.hpp", true, true},
                    verdict{"include/tessera/tessera.hpp", "tessera/machine.hpp", true, false},
                    verdict{"include/tessera/machine.hpp", "core/plugin/registry.hpp", true, true},
                    verdict{"include/tessera/machine.hpp", "hierarchy/machine/assemble.hpp", true, true},
                    verdict{"include/tessera/front_end.hpp", "hierarchy/machine/assemble.hpp", true, false},
                    verdict{"include/tessera/front_end.hpp", "tessera/operation.hpp", true, true},
                    verdict{"include/tessera/detail/task.hpp", "fmt/format.h", false, false},
                    verdict{"include/tessera/detail/task.hpp", "apps/cli/main.hpp", true, false}));

// The front door: a program that includes tessera.hpp sees few headers, and of each room plain words alone.
TEST(layering, few_headers_stand_behind_the_front_door) {
  std::map<std::string, std::vector<std::string>> includes;
  for (const auto& include : scan(TESSERA_SOURCE_DIR)) {
    if (include.target == "tessera/plugin.h") continue;  // C, and frozen
    const bool is_public = include.target.starts_with("tessera/");
    includes[include.file].push_back(is_public ? "include/" + include.target : include.target);
  }
  std::set<std::string> seen;
  std::vector<std::string> left = {"include/tessera/tessera.hpp"};
  while (!left.empty()) {
    const std::string file = left.back();
    left.pop_back();
    if (!std::filesystem::exists(std::filesystem::path(TESSERA_SOURCE_DIR) / file) || !seen.insert(file).second)
      continue;
    left.insert(left.end(), includes[file].begin(), includes[file].end());
  }
  EXPECT_GT(seen.size(), 10u);  // what it counts is there
  EXPECT_LE(seen.size(), 26u) << testing::PrintToString(seen);
}

// A reader finds what there is by the names of ten headers: these, and sparse.hpp.
TEST(layering, the_interface_has_ten_doors) {
  std::set<std::string> doors;
  for (const char* folder : {"include/tessera", "libraries/sparse/interface/tessera"})
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TESSERA_SOURCE_DIR) / folder))
      if (entry.is_regular_file()) doors.insert(entry.path().stem().string());
  EXPECT_THAT(doors, testing::ElementsAre("deep_copy", "directives", "front_end", "machine", "operation", "region",
                                          "sparse", "tessera", "trace", "validation"));
}

// Each header of the interface stands on others that do not need it.
TEST(layering, no_header_of_the_interface_includes_itself_by_way_of_others) {
  std::map<std::string, std::set<std::string>> left;
  for (const auto& include : scan(TESSERA_SOURCE_DIR))
    if (include.file.starts_with("include/tessera/") && include.target.starts_with("tessera/"))
      left[include.file].insert("include/" + include.target);
  EXPECT_GT(left.size(), 20u);
  // Those that include none of what is left go, again and again; what stays are rings.
  for (std::size_t before = 0; before != left.size();) {
    before = left.size();
    std::erase_if(left, [&](const auto& header) {
      return std::ranges::none_of(header.second, [&](const std::string& target) { return left.contains(target); });
    });
  }
  std::string rings;
  for (const auto& [header, targets] : left) rings += header + "\n";
  EXPECT_EQ(rings, "");
}

TEST(layering_scan, reads_every_form_of_an_include_line) {
  const auto lines = includes_of(
      "#include <vector>\n"
      "  #  include \"core/base/error.hpp\" // why\n"
      "// #include <hwloc.h>\n"
      "#define INCLUDE 1\n"
      "#include MACRO\r\n"
      "#include\t<fmt/core.h>",
      "core/base/x.cpp");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].target, "vector");
  EXPECT_FALSE(lines[0].quoted);
  EXPECT_EQ(lines[1].target, "core/base/error.hpp");
  EXPECT_TRUE(lines[1].quoted);
  EXPECT_EQ(lines[1].line, 2);
  EXPECT_EQ(lines[2].target, "fmt/core.h");
  EXPECT_EQ(lines[2].line, 6);
}

// The whole way, from a file on the disk to the sentence: a planted upward include is found, its neighbour is not.
TEST(layering_scan, finds_a_planted_violation) {
  const auto root = std::filesystem::path(testing::TempDir()) / ("layering_" + std::to_string(::getpid()));
  std::filesystem::create_directories(root / "core/block");
  std::filesystem::create_directories(root / "plugins/sim");
  std::ofstream(root / "core/block/table.cpp") << "#include \"core/base/error.hpp\"\n"
                                                  "#include \"core/runtime/runtime.hpp\"\n";
  std::ofstream(root / "plugins/sim/notes.md") << "#include \"core/base/error.hpp\"\n";
  std::ofstream(root / "plugins/sim/device.c") << "#include <tessera/plugin.h>\n";
  const auto found = violations_in(root);
  std::filesystem::remove_all(root);
  EXPECT_THAT(found, testing::ElementsAre("core/block/table.cpp:2: includes core/runtime/runtime.hpp: core/runtime "
                                          "stands above core/block"));
}

}  // namespace
}  // namespace tessera::layering
