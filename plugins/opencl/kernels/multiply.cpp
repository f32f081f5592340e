// Products of matrices, one launch for a whole batch where its matrices lie in the same three buffers.
#include <array>
#include <vector>

#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/opencl/clblast.hpp"
#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {
namespace {

using namespace opencl;

constexpr std::size_t product_threads = 256;
constexpr std::int64_t max_at_once = 65535;

std::size_t edge_of(tsr_type type) { return type == TSR_C128 ? 32 : 64; }  // as in multiply.cl

std::size_t tiles_of(const product& p) {
  const auto along = [&](std::int64_t elements) {
    return (static_cast<std::size_t>(elements) + edge_of(p.type) - 1) / edge_of(p.type);
  };
  return along(p.m) * along(p.n);
}

/// One launch. `places`: a buffer with three offsets for each of the batch, or null.
error_t multiply_some(const product& p, std::int64_t batch, cl_mem places, stream_t stream) {
  const std::int64_t k = is_zero(p.type, p.alpha) ? 0 : p.k;
  return launch(stream, {"multiply", element_of(p.type), "multiply"}, {tiles_of(p), static_cast<std::size_t>(batch)},
                product_threads, p.m, p.n, k, one_element(p.type, p.alpha), one_element(p.type, p.beta), p.a, p.b, p.c,
                cl_int{p.lower}, p.step_a, p.step_b, p.step_c, places);
}

void advance(matrix& of, std::int64_t bytes) {
  if (bytes != 0) of.data = static_cast<char*>(of.data) + bytes;
}

error_t multiply_strided(product p, stream_t stream) {
  for (std::int64_t left = p.batch; left > 0; left -= max_at_once) {
    const std::int64_t some = left < max_at_once ? left : max_at_once;
    if (error_t error = multiply_some(p, some, nullptr, stream); kind_of(error) != error_kind::none) return error;
    advance(p.a, some * p.step_a);
    advance(p.b, some * p.step_b);
    advance(p.c, some * p.step_c);
  }
  return {};
}

/// Those of a batch from `begin` on whose matrices lie in the same buffers, as offsets.
std::int64_t collect(const product& p, std::int64_t begin, const buffer_map& buffers, std::array<cl_mem, 3>& same,
                     std::vector<std::int64_t>& offsets) {
  std::int64_t end = begin;
  for (; end < p.batch && end - begin < max_at_once; ++end) {
    std::array<place, 3> at{};
    for (std::size_t which = 0; which < 3; ++which) at[which] = buffers.find(p.pointers[end][which]);
    const std::array<cl_mem, 3> found{at[0].buffer, at[1].buffer, at[2].buffer};
    if (end == begin) same = found;
    if (found != same) break;
    for (const place& one : at) offsets.push_back(one.buffer != nullptr ? static_cast<std::int64_t>(one.offset) : 0);
  }
  return end;
}

error_t multiply_each(product p, stream_t stream) {
  const device_state& device = stream->device();
  for (std::int64_t begin = 0; begin < p.batch;) {
    std::array<cl_mem, 3> same{};
    std::vector<std::int64_t> offsets;
    const std::int64_t end = collect(p, begin, device.buffers, same, offsets);
    cl_int code = CL_SUCCESS;
    const cl_mem places = cl().create_buffer(device.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                             offsets.size() * sizeof offsets[0], offsets.data(), &code);
    if (code != CL_SUCCESS) return {code, "clCreateBuffer of a batch's addresses"};
    // The offsets count from the beginnings of the buffers.
    for (auto [of, which] : {std::pair{&p.a, 0}, {&p.b, 1}, {&p.c, 2}})
      of->data = p.pointers[begin][which] == nullptr
                     ? nullptr
                     : static_cast<char*>(p.pointers[begin][which]) - offsets[static_cast<std::size_t>(which)];
    error_t error = multiply_some(p, end - begin, places, stream);
    cl().release_buffer(places);  // it goes when the launch is done
    if (kind_of(error) != error_kind::none) return error;
    begin = end;
  }
  return {};
}

}  // namespace

error_t multiply(const product& p, stream_t stream) {
  if (p.m <= 0 || p.n <= 0 || p.batch <= 0) return {};
  if (const auto done = multiply_by_clblast(p, stream)) return *done;
  return p.pointers != nullptr ? multiply_each(p, stream) : multiply_strided(p, stream);
}

}  // namespace tessera::gpu
