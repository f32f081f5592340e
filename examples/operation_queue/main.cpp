// The fourth form of an operation: a function that enqueues on the vendor's own queue.
//
// For libraries and calls of a vendor that Tessera does not know. Here OpenCL's: a block is filled with a pattern. With
// CUDA the queue would be a cudaStream_t and the place a pointer. On the host the operation's host function runs.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <tessera/operation.hpp>
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* machine_text = R"(
[runtime]
plugins = ["host", "opencl"]
[plugin.opencl]
devices = 1
memory_limit = "256 MiB"
)";

// Enqueues and returns; the operand is in the device's memory, and stays there until this has run.
void fill_natively(const tessera::operation::context& c, void* queue) {
  const auto place = tessera::operation::native_place_of(c, c.operands[0]);
  const double value = c.arguments_as<double>();
  const cl_int code = clEnqueueFillBuffer(static_cast<cl_command_queue>(queue), static_cast<cl_mem>(place.handle),
                                          &value, sizeof value, place.offset, c.operands[0].bytes, 0, nullptr, nullptr);
  if (code != CL_SUCCESS) throw std::runtime_error("clEnqueueFillBuffer answers " + std::to_string(code));
}

void fill_on_the_host(const tessera::operation::context& c) {
  auto* const values = static_cast<double*>(c.operands[0].host);
  for (std::int64_t i = 0; i < c.operands[0].extents->count(); ++i) values[i] = c.arguments_as<double>();
}

}  // namespace

int main() try {
  tessera::runtime rt({.text = machine_text});
  const auto& fill = rt.define({.name = "native_fill",
                                .signature = {tessera::intent::write},
                                .host = fill_on_the_host,
                                .native = {{"opencl", fill_natively}}});
  auto x = rt.make_array<double>("x", {1000}, {250});
  for (std::int64_t k = 0; k < 4; ++k) {
    const double value = 0.5 + static_cast<double>(k);
    rt.submit_operation(fill, value, {tessera::write(x(k))}, {.at = rt.at(k == 0 ? "numa0" : "opencl0")});
  }
  bool right = true;
  for (std::int64_t k = 0; k < 4; ++k)
    for (const double v : x.read_host(x(k))) right = right && v == 0.5 + static_cast<double>(k);
  rt.fence();
  std::uint64_t on_device = 0;
  for (const auto& done : rt.statistics().operations)
    if (done.operation == "native_fill" && done.place == "opencl0") on_device += done.tasks;
  std::printf("%llu tasks on opencl0, %s\n", static_cast<unsigned long long>(on_device),
              right ? "every element is right" : "an element is wrong");
  return right && on_device == 3 ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
