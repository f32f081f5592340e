// The first form of an operation: a function of the host.
//
// A lambda given to submit needs no name. An operation with a name can be submitted with arguments as bytes, can be
// given an estimate of its work, and can get further forms for devices (see the other operation_ examples).
#include <tessera/operation.hpp>
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>

namespace {

void shift(const tessera::operation::context& c) {
  const tessera::operation::operand& x = c.operands[0];
  auto* const values = static_cast<double*>(x.host);
  for (std::int64_t i = 0; i < x.extents->count(); ++i) values[i] += c.arguments_as<double>();
}

double work(const void*, std::span<const tessera::block::access> blocks) {
  return static_cast<double>(blocks[0].block->extents->count());  // floating-point operations
}

}  // namespace

int main() try {
  tessera::runtime rt;
  const auto& what = rt.define({.name = "shift", .signature = {tessera::intent::update}, .host = shift, .work = work});
  auto x = rt.make_array<double>("x", {1000}, {300});
  const double by = 2.5;
  for (std::int64_t k = 0; k < x.counts()[0]; ++k) {
    tessera::fill(rt, x(k), static_cast<double>(k));
    rt.submit_operation(what, by, {tessera::update(x(k))});
  }
  bool right = true;
  for (std::int64_t k = 0; k < x.counts()[0]; ++k)
    for (const double v : x(k).read()) right = right && v == static_cast<double>(k) + by;
  rt.fence();
  std::printf("%s\n", right ? "every element is right" : "an element is wrong");
  return right ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
