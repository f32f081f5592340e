// Kernels that are compiled while the program runs: tessera-c (docs/kernels.md), modules, launches.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

/// Compiles, loads, and unloads at the end of the scope.
class compiled {
 public:
  compiled(const device& on, const std::string& text, const char* options = "") : m_device(on) {
    void* image = nullptr;
    std::uint64_t bytes = 0;
    expect_ok(on.jit()->compile(on.handle(), "tessera-c", text.c_str(), options, &image, &bytes), "compile");
    expect(image != nullptr && bytes > 0, "compile answers OK and gives no image");
    std::string copy(static_cast<const char*>(image), bytes);
    on.jit()->release(on.handle(), image);
    expect_ok(on.table().module_load(on.handle(), copy.data(), copy.size(), &m_module), "module_load");
    std::fill(copy.begin(), copy.end(), '\0');  // the image was copied
  }
  ~compiled() {
    if (m_device.table().module_unload != nullptr) m_device.table().module_unload(m_device.handle(), m_module);
  }
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;

  tsr_module* module() const { return m_module; }
  tsr_kernel* kernel(const char* name) const {
    tsr_kernel* found = nullptr;
    expect_ok(m_device.table().kernel_get(m_device.handle(), m_module, name, &found),
              std::string("kernel_get ") + name);
    return found;
  }

 private:
  const device& m_device;
  tsr_module* m_module = nullptr;
};

/// A launch with its arguments.
struct call {
  tsr_launch how{};
  std::vector<std::vector<unsigned char>> values;
  std::vector<const void*> places;
  std::vector<std::uint32_t> sizes;

  call(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> group) {
    how.struct_size = sizeof how;
    std::copy(grid.begin(), grid.end(), how.grid);
    std::copy(group.begin(), group.end(), how.group);
  }
  template <class T>
  call& with(const T& value) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    values.emplace_back(bytes, bytes + sizeof value);
    return *this;
  }
  tsr_status on(const queue& stream, tsr_kernel* kernel) {
    places.clear();
    sizes.clear();
    for (const auto& value : values)
      places.push_back(value.data()), sizes.push_back(static_cast<std::uint32_t>(value.size()));
    how.arguments = places.data();
    how.argument_sizes = sizes.data();
    how.argument_count = static_cast<std::uint32_t>(values.size());
    const tsr_status status = stream.owner().table().launch(stream.owner().handle(), stream.handle(), kernel, &how);
    for (auto& value : values) std::fill(value.begin(), value.end(), 0xee);  // copied by the call
    return status;
  }
};

/// Every device that compiles tessera-c.
void each_compiling(const subject& what, const std::function<void(const device&)>& function) {
  const opened all(what);
  bool any = false;
  for_each_device(all, [&](const device& one) {
    if (one.jit() == nullptr) return;
    expect((std::string(",") + one.jit()->languages + ",").find(",tessera-c,") != std::string::npos,
           "the JIT table has no tessera-c, only {}", one.jit()->languages);
    any = true;
    function(one);
  });
  if (!any) skip("no device compiles kernels");
}

constexpr const char* vector_text = R"(
KERNEL void axpby(long n, float a, GLOBAL const float* RESTRICT x,
                  float b, GLOBAL float* y /* of n elements */) {
  long i = INDEX_X;
  if (i < n) y[i] = a * x[i] + b * y[i];
}
KERNEL void nothing(void) {}
)";

void results(const subject& what) {
  each_compiling(what, [&](const device& device) {
    const compiled code(device, vector_text);
    tsr_kernel* const axpby = code.kernel("axpby");
    expect(code.kernel("axpby") == axpby, "kernel_get gives another kernel for the same name");
    const queue stream(device);
    auto random = what.generator();
    for (int round = 0; round < 12; ++round) {
      const auto n = static_cast<std::size_t>(random_size(random, 3000));
      const std::size_t before = random() % 40, group = 1 + random() % 256;
      const auto x = random_numbers<float>(random, n + before);
      auto y = random_numbers<float>(random, n + before + 3);
      const buffer on_x = uploaded(stream, compute_space(device), x), on_y = uploaded(stream, compute_space(device), y);
      const float a = random_number<float>(random), b = random_number<float>(random);
      const auto groups = static_cast<std::uint32_t>(n / group + 1);
      call launch({groups, 1, 1}, {static_cast<std::uint32_t>(group), 1, 1});
      launch.with(static_cast<std::int64_t>(n))
          .with(a)
          .with(on_x.at(before * sizeof(float)))
          .with(b)
          .with(on_y.at(before * sizeof(float)));
      expect_ok(launch.on(stream, axpby), "launch");
      for (std::size_t i = before; i < before + n; ++i) y[i] = a * x[i] + b * y[i];
      expect_near(
          downloaded<float>(stream, on_y, y.size()), y, 4 * epsilon<float>,
          fmt::format("axpby of {} elements from {} on in groups of {} (seed {})", n, before, group, what.seed));
    }
    call empty({3, 1, 1}, {2, 1, 1});
    expect_ok(empty.on(stream, code.kernel("nothing")), "launch without arguments");
    stream.finish();
  });
}

/// The words for places: each thread writes where it is.
void places(const subject& what) {
  each_compiling(what, [&](const device& device) {
    const compiled code(device, R"(
FUNCTION long linear(long x, long y, long z, long wide, long high) { return x + wide * (y + high * z); }
KERNEL void mark(GLOBAL long* out) {
  long where = linear(INDEX_X, INDEX_Y, INDEX_Z, (long)THREADS_X * GROUPS_X, (long)THREADS_Y * GROUPS_Y);
  out[where] = linear(THREAD_X, THREAD_Y, THREAD_Z, THREADS_X, THREADS_Y)
               + 1000 * linear(GROUP_X, GROUP_Y, GROUP_Z, GROUPS_X, GROUPS_Y) + 1000000L * (THREADS_Z + 10 * GROUPS_Z);
})");
    const queue stream(device);
    auto random = what.generator();
    const auto extent = [&](unsigned most) { return static_cast<std::uint32_t>(1 + random() % most); };
    for (int round = 0; round < 6; ++round) {
      const std::array<std::uint32_t, 3> grid{extent(4), extent(3), extent(3)}, group{extent(5), extent(4), extent(3)};
      const std::size_t wide = grid[0] * group[0], high = grid[1] * group[1], deep = grid[2] * group[2];
      const buffer memory = uploaded(stream, compute_space(device), std::vector<std::int64_t>(wide * high * deep, -1));
      call launch(grid, group);
      launch.with(memory.at(0));
      expect_ok(launch.on(stream, code.kernel("mark")), "launch");
      const auto got = downloaded<std::int64_t>(stream, memory, wide * high * deep);
      for (std::size_t z = 0; z < deep; ++z)
        for (std::size_t y = 0; y < high; ++y)
          for (std::size_t x = 0; x < wide; ++x) {
            const std::size_t thread = x % group[0] + group[0] * (y % group[1] + group[1] * (z % group[2]));
            const std::size_t at = x / group[0] + grid[0] * (y / group[1] + grid[1] * (z / group[2]));
            const auto wanted = static_cast<std::int64_t>(thread + 1000 * at + 1000000 * (group[2] + 10 * grid[2]));
            const std::int64_t is = got[x + wide * (y + high * z)];
            expect(is == wanted, "the thread at {}, {}, {} says {}, expected {} (seed {})", x, y, z, is, wanted,
                   what.seed);
          }
    }
  });
}

/// A text that wants products and sums apart gets them so.
void contraction(const subject& what) {
  each_compiling(what, [&](const device& device) {
    const compiled code(device, R"(#pragma STDC FP_CONTRACT OFF
KERNEL void rest(GLOBAL const float* x, GLOBAL const float* squares, GLOBAL float* y, long n) {
  if (INDEX_X < n) y[INDEX_X] = x[INDEX_X] * x[INDEX_X] - squares[INDEX_X];
})");
    const queue stream(device);
    auto random = what.generator();
    const auto x = random_numbers<float>(random, 200);
    std::vector<float> squares;
    for (const float value : x) {
      const volatile float rounded = value * value;
      squares.push_back(static_cast<float>(rounded));
    }
    const buffer on_x = uploaded(stream, compute_space(device), x),
                 on_squares = uploaded(stream, compute_space(device), squares),
                 on_y = uploaded(stream, compute_space(device), std::vector<float>(x.size(), 1));
    call launch({1, 1, 1}, {200, 1, 1});
    launch.with(on_x.at(0)).with(on_squares.at(0)).with(on_y.at(0)).with(std::int64_t{200});
    expect_ok(launch.on(stream, code.kernel("rest")), "launch");
    expect(downloaded<float>(stream, on_y, x.size()) == std::vector<float>(x.size(), 0.0f),
           "x * x - s was computed in one step in a text with #pragma STDC FP_CONTRACT OFF (seed {})", what.seed);
  });
}

/// Memory of a group, and waiting for its threads.
void group_reduction(const subject& what) {
  each_compiling(what, [&](const device& device) {
    const compiled code(device, R"(
FUNCTION void halve(LOCAL int* part, int width) {
  if (THREAD_X < width) part[THREAD_X] += part[THREAD_X + width];
}
KERNEL void sums(GLOBAL const int* x, GLOBAL int* out, long n, GLOBAL int* all) {
  LOCAL_ARRAY(int, part, MOST);
  part[THREAD_X] = INDEX_X < n ? x[INDEX_X] : 0;
  BARRIER;
  for (int width = THREADS_X / 2; width > 0; width /= 2) {
    halve(part, width);
    BARRIER;
  }
  if (THREAD_X == 0) {
    out[GROUP_X] = part[0];
    ATOMIC_ADD(all, part[0]);
  }
})",
                        "-DMOST=256");
    const queue stream(device);
    auto random = what.generator();
    for (const std::uint32_t group : {1u, 2u, 32u, 256u}) {
      const std::size_t n = 1 + random() % 2000, groups = (n + group - 1) / group;
      std::vector<std::int32_t> x(n), wanted(groups, 0), total{0};
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = static_cast<std::int32_t>(random() % 2001) - 1000;
        wanted[i / group] += x[i];
        total[0] += x[i];
      }
      const buffer on_x = uploaded(stream, compute_space(device), x);
      const buffer out = uploaded(stream, compute_space(device), std::vector<std::int32_t>(groups, -1));
      const buffer all = uploaded(stream, compute_space(device), std::vector<std::int32_t>{0});
      call launch({static_cast<std::uint32_t>(groups), 1, 1}, {group, 1, 1});
      launch.with(on_x.at(0)).with(out.at(0)).with(static_cast<std::int64_t>(n)).with(all.at(0));
      expect_ok(launch.on(stream, code.kernel("sums")), "launch");
      stream.finish();
      expect(downloaded<std::int32_t>(stream, out, groups) == wanted, "sums of groups of {} are wrong (seed {})", group,
             what.seed);
      expect(downloaded<std::int32_t>(stream, all, 1) == total, "the sum by ATOMIC_ADD is wrong (seed {})", what.seed);
    }
  });
}

/// Messages name the place in the text, by the text's own count too.
void messages(const subject& what) {
  each_compiling(what, [&](const device& device) {
    const auto said = [&](const char* text, const char* options) {
      void* image = nullptr;
      std::uint64_t bytes = 7;
      plugin::take_error_details();
      const auto status = device.jit()->compile(device.handle(), "tessera-c", text, options, &image, &bytes);
      expect_status(status, TSR_INVALID_ARGUMENT, "compile of a text with a mistake");
      expect(image == nullptr && bytes == 7, "a compile that failed touches its out arguments");
      return plugin::take_error_details();
    };
    const std::string plain = said("KERNEL void f(GLOBAL int* x) {\n  x[0] = 1;\n  x[1] = undeclared;\n}\n", "");
    expect(plain.find(":3:") != std::string::npos && plain.find("undeclared") != std::string::npos,
           "the message names no line 3 and no undeclared: \"{}\"", plain);
    const std::string placed =
        said("#line 41 \"solver.txt\"\nKERNEL void f(GLOBAL int* x,\n  int n) {\n  x[0] = n +;\n}\n", nullptr);
    expect(placed.find("solver.txt:43:") != std::string::npos, "the message does not name solver.txt:43: \"{}\"",
           placed);
    const std::string defined = said("KERNEL void f(GLOBAL int* x) { x[0] = WORD; }\n", "-DWORD=missing_word");
    expect(defined.find("missing_word") != std::string::npos, "the message does not name missing_word: \"{}\"",
           defined);
  });
}

void refusals(const subject& what) {
  each_compiling(what, [&](const device& device) {
    const auto& table = device.table();
    const queue stream(device);
    tsr_module* module = nullptr;
    const char rubbish[] = "this is no image of any kind of device, whatever its length may be";
    expect_status(table.module_load(device.handle(), rubbish, sizeof rubbish, &module), TSR_INVALID_ARGUMENT,
                  "module_load of rubbish");
    expect_status(table.module_load(device.handle(), rubbish, 0, &module), TSR_INVALID_ARGUMENT,
                  "module_load of 0 bytes");
    expect(module == nullptr, "a module_load that failed touches out_module");
    auto code = std::make_unique<compiled>(device, vector_text);
    tsr_kernel* none = nullptr;
    plugin::take_error_details();
    expect_status(table.kernel_get(device.handle(), code->module(), "axpbz", &none), TSR_NOT_FOUND,
                  "kernel_get of another name");
    const std::string details = plugin::take_error_details();
    expect(details.find("axpbz") != std::string::npos, "the message does not name the kernel: \"{}\"", details);
    tsr_kernel* const kernel = code->kernel("axpby");
    const buffer memory(device, compute_space(device), 64);
    const auto launched = [&](std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> group,
                              std::uint64_t offset) {
      call launch(grid, group);
      launch.with(std::int64_t{0}).with(1.0f).with(memory.at(0)).with(1.0f).with(memory.at(offset));
      return launch.on(stream, kernel);
    };
    expect_status(launched({1, 1, 0}, {1, 1, 1}, 0), TSR_INVALID_ARGUMENT, "launch of an empty grid");
    expect_status(launched({1, 1, 1}, {1, 0, 1}, 0), TSR_INVALID_ARGUMENT, "launch of empty groups");
    expect_status(launched({1, 1, 1}, {1u << 20, 1, 1}, 0), TSR_INVALID_ARGUMENT, "launch of groups of 2^20 threads");
    expect_status(launched({1, 1, 1}, {1, 1, 1}, std::uint64_t{1} << 40), TSR_OUT_OF_RANGE,
                  "launch with an offset beyond the memory");
    expect_ok(launched({1, 1, 1}, {1, 1, 1}, 0), "launch after refused ones");
    stream.finish();
    code.reset();
    expect_status(launched({1, 1, 1}, {1, 1, 1}, 0), TSR_INVALID_ARGUMENT,
                  "launch of a kernel whose module was unloaded");
    void* image = nullptr;
    std::uint64_t bytes = 0;
    expect_status(device.jit()->compile(device.handle(), "fortran", "", "", &image, &bytes), TSR_UNIMPLEMENTED,
                  "compile of another language");
    expect_status(device.jit()->compile(device.handle(), "tessera-c", nullptr, "", &image, &bytes),
                  TSR_INVALID_ARGUMENT, "compile of NULL");
    device.jit()->release(device.handle(), nullptr);
  });
}

}  // namespace

std::vector<check> jit_checks() {
  return {{"jit.results", results},         {"jit.places", places},
          {"jit.contraction", contraction}, {"jit.group_reduction", group_reduction},
          {"jit.messages", messages},       {"jit.refusals", refusals}};
}

}  // namespace tessera::conformance
