// An operation of one's own, on devices.
//
// A lambda runs on the host. An operation that is also to run on devices says how it is enqueued there, through the
// tables that the device's plugin offers. Here: y = alpha x + beta y, made of two BLAS calls on one stream, which keeps
// their order; nothing waits. The machine is the host and two simulated devices, described in TOML.
#include <tessera/operation.hpp>
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

constexpr const char* machine_text = R"(
[runtime]
plugins = ["host", "sim"]
[[plugin.sim.device]]
name = "first"
memory = "64 MiB"
[[plugin.sim.device]]
name = "second"
memory = "64 MiB"
)";

struct axpby_arguments {
  double alpha, beta;
};

// Called on the thread that drives the chosen device, when both blocks are in its memory. Enqueues and returns.
void enqueue_axpby(const tessera::operation::context& c) {
  const auto& given = c.arguments_as<axpby_arguments>();
  const tsr_blas_table& blas = *c.device->blas();
  tsr_vector_operation v{};
  v.struct_size = sizeof v;
  v.type = TSR_F64;
  v.n = c.operands[0].extents->count();
  v.incx = v.incy = 1;
  v.alpha = &given.beta;
  v.x = c.operands[1].address;
  c.device->check(blas.scal(c.device->handle(), c.stream, &v), "scal");
  v.alpha = &given.alpha;
  v.x = c.operands[0].address;
  v.y = c.operands[1].address;
  c.device->check(blas.axpy(c.device->handle(), c.stream, &v), "axpy");
}

bool has_blas(const tessera::plugin::device& device, tessera::element_type type) {
  return type == tessera::element_type::f64 && device.blas() != nullptr;
}

}  // namespace

int main() try {
  tessera::runtime rt({.text = machine_text});
  const tessera::operation::definition& axpby =
      rt.define({.name = "axpby",
                 .signature = {tessera::intent::read, tessera::intent::update},
                 .enqueue = enqueue_axpby,
                 .available = has_blas});
  auto x = rt.make_array<double>("x", {8000}, {1000});
  auto y = rt.make_array<double>("y", {8000}, {1000});
  const axpby_arguments arguments{.alpha = 2, .beta = 3};
  for (std::int64_t k = 0; k < x.counts()[0]; ++k) {
    tessera::fill(rt, x(k), 1.0);
    tessera::fill(rt, y(k), static_cast<double>(k));
    // Left to itself the runtime chooses; here the blocks alternate between the two devices. `at` may name any location
    // of `tessera topology`.
    const tessera::task_options on{.at = rt.at(k % 2 == 0 ? "sim0" : "sim1")};
    rt.submit_operation(axpby, arguments, {tessera::read(x(k)), tessera::update(y(k))}, on);
  }

  bool right = true;
  for (std::int64_t k = 0; k < y.counts()[0]; ++k)  // reading fetches the block from where it is
    for (const double v : y.read_host(y(k))) right = right && v == 2.0 + 3.0 * static_cast<double>(k);
  rt.fence();

  std::uint64_t on_devices = 0;
  for (const auto& done : rt.statistics().operations) {
    if (done.operation != "axpby") continue;
    std::printf("axpby ran %llu times on %s\n", static_cast<unsigned long long>(done.tasks), done.place.c_str());
    if (done.place != "host") on_devices += done.tasks;
  }
  for (const auto& link : rt.statistics().links)
    std::printf("%s -> %s: %llu bytes\n", link.from.c_str(), link.to.c_str(),
                static_cast<unsigned long long>(link.bytes));
  return right && on_devices == 8 ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
