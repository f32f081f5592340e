// The third form of an operation: a kernel that was compiled before, as an image for each kind of device.
//
// Here the image is a shared object (scale.c), which the host and emulated GPUs load. An image is code of the user's,
// and as trusted as the program itself.
#include <tessera/operation.hpp>
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>

namespace {

constexpr const char* machine_text = R"(
[runtime]
plugins = ["host", "cuda_emulated"]
)";

void launch(const tessera::operation::context& c, tessera::operation::kernel_launch& how) {
  const std::int64_t n = c.operands[0].extents->count();
  how.over(n, 128).block(c.operands[0]).value(c.arguments_as<double>()).value(n);
}

}  // namespace

int main() try {
  using tessera::operation::kernel_image;
  tessera::runtime rt({.text = machine_text});
  const auto& scale =
      rt.define({.name = "scale",
                 .signature = {tessera::intent::update},
                 .kernel = {.name = "scale",
                            .images = {kernel_image::from_file("host", EXAMPLE_IMAGE),
                                       // ... from_file("cuda", "scale.ptx"), from_file("opencl", "scale.spv")
                                       kernel_image::from_file("cuda_emulated", EXAMPLE_IMAGE)},
                            .launch = launch}});
  auto x = rt.make_array<double>("x", {1000}, {250});
  const double factor = 1.5;
  for (std::int64_t k = 0; k < 4; ++k) {
    tessera::fill(rt, x(k), static_cast<double>(k));
    rt.submit_operation(scale, factor, {tessera::update(x(k))}, {.at = rt.at(k % 2 == 0 ? "numa0" : "cuda_emulated0")});
  }
  bool right = true;
  for (std::int64_t k = 0; k < 4; ++k)
    for (const double v : x.read_host(x(k))) right = right && v == 1.5 * static_cast<double>(k);
  rt.fence();
  std::printf("%s\n", right ? "every element is right" : "an element is wrong");
  return right ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
