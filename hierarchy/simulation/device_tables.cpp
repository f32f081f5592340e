// The plugin ABI over an imagined machine: memory is address ranges, copies and kernels are durations.
#include <algorithm>

#include "hierarchy/simulation/device_model.hpp"

namespace tessera::hierarchy {
namespace {

using meter = schedule::virtual_clock::meter;

struct model_memory {
  std::uint32_t space;
  std::uint64_t bytes, base;
};

model_device& device_of(tsr_device* d) { return *reinterpret_cast<model_device*>(d); }
model_stream& stream_of(tsr_stream* s) { return *reinterpret_cast<model_stream*>(s); }
std::uint32_t number_of(tsr_space_ref r) { return r.device == nullptr ? 0 : device_of(r.device).number; }

tsr_status spaces(tsr_device*, std::uint32_t, tsr_space_desc*) {
  return TSR_UNIMPLEMENTED;
}  // asked of the registry's copy

tsr_status link(tsr_device* d, tsr_space_ref from, tsr_space_ref to, tsr_link_desc* out) {
  const model_device& self = device_of(d);
  const std::uint32_t a = number_of(from), b = number_of(to);
  if (a == 0 && b == 0) {
    if (self.number != 0 || self.host_bandwidth == 0) return TSR_UNIMPLEMENTED;
    *out = {sizeof *out, TSR_LINK_SAME, self.host_bandwidth, 0};
    return TSR_OK;
  }
  const described_link* const l = self.world->link_between(a, b);
  if (l == nullptr) return TSR_UNIMPLEMENTED;
  *out = {sizeof *out, static_cast<tsr_link_class>(a == 0 || b == 0 ? TSR_LINK_BUS : TSR_LINK_PEER), l->bandwidth,
          static_cast<double>(l->latency_ns)};
  return TSR_OK;
}

tsr_status mem_alloc(tsr_device* d, std::uint32_t space, std::uint64_t bytes, tsr_memory** out) {
  model_device& self = device_of(d);
  if (space >= self.capacity.size()) return TSR_OUT_OF_RANGE;
  if (self.capacity[space] != 0 && self.allocated[space] + bytes > self.capacity[space]) return TSR_RESOURCE_EXHAUSTED;
  self.allocated[space] += bytes;
  auto made = std::make_unique<model_memory>(model_memory{space, bytes, self.world->make_addresses(bytes)});
  *out = reinterpret_cast<tsr_memory*>(made.release());
  return TSR_OK;
}

tsr_status mem_free(tsr_device* d, tsr_memory* m) {
  const std::unique_ptr<model_memory> owned(reinterpret_cast<model_memory*>(m));
  device_of(d).allocated[owned->space] -= owned->bytes;
  return TSR_OK;
}

tsr_status mem_base(tsr_device*, tsr_memory* m, void** out) {
  *out = reinterpret_cast<void*>(reinterpret_cast<model_memory*>(m)->base);
  return TSR_OK;
}

tsr_status stream_create(tsr_device* d, std::uint32_t flags, tsr_stream** out) {
  auto made = std::make_unique<model_stream>();
  made->device = &device_of(d);
  made->is_inline = (flags & TSR_STREAM_INLINE) != 0 || made->device->number == 0;
  *out = reinterpret_cast<tsr_stream*>(made.release());
  return TSR_OK;
}

tsr_status stream_destroy(tsr_device*, tsr_stream* s) {
  const std::unique_ptr<model_stream> owned(&stream_of(s));
  return TSR_OK;
}

tsr_status stream_signal(tsr_device*, tsr_stream* s, tsr_ticket* out) {
  model_stream& self = stream_of(s);
  device_model& of = *self.device->world;
  const meter counted(of.clock);
  *out = {s, ++self.signalled};
  of.push(self, {.kind = model_step::kind::signal, .value = self.signalled});
  return TSR_OK;
}

tsr_status stream_progress(tsr_device*, tsr_stream* s, std::uint64_t* out, std::uint64_t* failed) {
  *out = stream_of(s).completed;
  *failed = 0;
  return TSR_OK;
}

tsr_status stream_wait(tsr_device*, tsr_stream* s, tsr_ticket ticket) {
  model_stream& self = stream_of(s);
  device_model& of = *self.device->world;
  const meter counted(of.clock);
  of.push(self, {.kind = model_step::kind::wait, .value = ticket.value, .other = &stream_of(ticket.stream)});
  return TSR_OK;
}

tsr_status stream_callback(tsr_device*, tsr_stream* s, void (*function)(void*), void* argument) {
  model_stream& self = stream_of(s);
  device_model& of = *self.device->world;
  const meter counted(of.clock);
  of.push(self, {.kind = model_step::kind::callback, .call = function, .argument = argument});
  return TSR_OK;
}

tsr_status copy(tsr_device*, tsr_stream* s, const tsr_copy* c) {
  model_stream& self = stream_of(s);
  const meter counted(self.device->world->clock);
  const std::uint64_t bytes =
      c->bytes * std::max<std::uint64_t>(c->rows[0], 1) * std::max<std::uint64_t>(c->rows[1], 1);
  return self.device->world->push_copy(self, number_of(c->source_space), number_of(c->destination_space), bytes)
             ? TSR_OK
             : TSR_UNIMPLEMENTED;
}

tsr_status compute(tsr_stream* s, timed_operation what, tsr_type type, const operation_extents& e) {
  model_stream& self = stream_of(s);
  const meter counted(self.device->world->clock);
  const duration_model& speed = *self.device->speed;
  const auto t = static_cast<element_type>(type);
  self.device->world->push_kernel(self, speed.compute_ns(what, t, e),
                                  speed.is_learnt(what, t) ? 0 : speed.overhead_ns());
  return TSR_OK;
}

tsr_status move(tsr_stream* s, tsr_type type, double elements) {
  model_stream& self = stream_of(s);
  const meter counted(self.device->world->clock);
  const double bytes = elements * static_cast<double>(size_of(static_cast<element_type>(type)));
  self.device->world->push_kernel(self, self.device->speed->move_ns(bytes), self.device->speed->overhead_ns());
  return TSR_OK;
}

double real(std::int64_t n) { return static_cast<double>(n); }

bool is_real(tsr_type type) { return type == TSR_F64 || type == TSR_F32; }

tsr_status no_workspace(tsr_device*, tsr_blas_operation, const void*, std::uint64_t* out) {
  *out = 0;
  return TSR_OK;
}

}  // namespace

const tsr_device_table& world_device_table() noexcept {
  static const tsr_device_table table = [] {
    tsr_device_table t{};
    t.struct_size = sizeof t;
    t.spaces = spaces;
    t.link = link;
    t.mem_alloc = mem_alloc;
    t.mem_free = mem_free;
    t.mem_base = mem_base;
    t.stream_create = stream_create;
    t.stream_destroy = stream_destroy;
    t.stream_signal = stream_signal;
    t.stream_progress = stream_progress;
    t.stream_wait = stream_wait;
    t.stream_callback = stream_callback;
    t.copy = copy;
    return t;
  }();
  return table;
}

const tsr_blas_table& world_blas_table() noexcept {
  static const tsr_blas_table table = [] {
    tsr_blas_table t{};
    t.struct_size = sizeof t;
    t.version = 1;
    t.library = "imagined";
    t.supports = [](tsr_device*, tsr_blas_operation what, tsr_type type) {
      constexpr tsr_blas_operation known[] = {TSR_BLAS_GEMM,  TSR_BLAS_SYRK, TSR_BLAS_TRSM,
                                              TSR_BLAS_POTRF, TSR_BLAS_AXPY, TSR_BLAS_SCAL};
      return is_real(type) && std::ranges::find(known, what) != std::end(known);
    };
    t.workspace = no_workspace;
    t.gemm = [](tsr_device*, tsr_stream* s, const tsr_gemm* g) {
      return compute(s, timed_operation::gemm, g->type, {real(g->m), real(g->n), real(g->k)});
    };
    t.syrk = [](tsr_device*, tsr_stream* s, const tsr_syrk* g) {
      return compute(s, timed_operation::syrk, g->type, {1, real(g->n), real(g->k)});
    };
    t.trsm = [](tsr_device*, tsr_stream* s, const tsr_trsm* g) {
      return compute(s, timed_operation::trsm, g->type, {real(g->m), real(g->n), 1});
    };
    t.potrf = [](tsr_device*, tsr_stream* s, const tsr_potrf* g) {
      return compute(s, timed_operation::potrf, g->type, {1, real(g->n), 1});
    };
    t.axpy = [](tsr_device*, tsr_stream* s, const tsr_vector_operation* v) { return move(s, v->type, 3 * real(v->n)); };
    t.scal = [](tsr_device*, tsr_stream* s, const tsr_vector_operation* v) { return move(s, v->type, 2 * real(v->n)); };
    return t;
  }();
  return table;
}

const tsr_tensor_table& world_tensor_table() noexcept {
  static const tsr_tensor_table table = [] {
    tsr_tensor_table t{};
    t.struct_size = sizeof t;
    t.version = 1;
    t.supports = [](tsr_device*, tsr_tensor_operation what, tsr_type) { return what != TSR_TENSOR_CONTRACT; };
    t.permute = [](tsr_device*, tsr_stream* s, const tsr_permute* p) {
      double elements = 1;
      for (std::uint32_t d = 0; d < p->rank; ++d) elements *= real(p->extents[d]);
      return move(s, p->type, 2 * elements);
    };
    t.reduce_add = [](tsr_device*, tsr_stream* s, tsr_type type, std::int64_t count, tsr_address, const tsr_address*,
                      std::uint32_t sources) { return move(s, type, real(count) * (sources + 2.0)); };
    t.fill = [](tsr_device*, tsr_stream* s, tsr_type type, std::int64_t count, tsr_address, const void*) {
      return move(s, type, real(count));
    };
    return t;
  }();
  return table;
}

}  // namespace tessera::hierarchy
