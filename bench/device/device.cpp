// bench_device: what one device of a plugin does by itself, through the plugin ABI alone: links by size, pinned and
// pageable; pinned allocation; copies beside a computation; what the host pays per call, with and without a graph;
// products of the BLAS and SPARSE tables.
//
//   bench_device --plugin FILE [--max 268435456] [--n 4096] [--calls 2000] [--side 160]      rows of
//   bench/common/measure.hpp bench_device --plugin FILE --own 1 [--side 160]      sparse products alone, without the
//   vendor's libraries
#include <dlfcn.h>
#include <tessera/plugin.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/measure.hpp"
#include "bench/device/laplacian.hpp"

namespace {

std::string& last_error() {
  static std::string text;
  return text;
}

/// Everything here is used by one thread.
class device {
 public:
  device(const std::string& file, bool own_kernels) {
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) bench::fail(::dlerror());
    const auto query = reinterpret_cast<tsr_plugin_query_function>(::dlsym(library, "tsr_plugin_query"));
    const tsr_plugin_header* const header = query != nullptr ? query(TSR_ABI_MAJOR, TSR_ABI_MINOR) : nullptr;
    if (header == nullptr) bench::fail(file + " is no plugin of this ABI");
    char why[256] = "";
    if (header->probe != nullptr && header->probe(&m_host, why, sizeof why) == 0) bench::fail(why);
    name = header->name;
    const void* opened = nullptr;
    tsr_option_value without{};
    without.struct_size = sizeof without;
    without.name = "libraries";
    without.type = TSR_OPTION_BOOL;
    check(header->open(&m_host, own_kernels ? &without : nullptr, own_kernels ? 1 : 0, &m_plugin, &opened), "open");
    m_table = static_cast<const tsr_plugin_table*>(opened);
    std::uint32_t count = 0;
    check(m_table->enumerate(m_plugin, 0, nullptr, &count), "enumerate");
    if (count == 0) bench::fail(name + " finds no device");
    check(m_table->device_open(m_plugin, 0, &handle, &table), "device_open");
    blas = static_cast<const tsr_blas_table*>(extension(TSR_EXTENSION_BLAS));
    graph = static_cast<const tsr_graph_table*>(extension(TSR_EXTENSION_GRAPH));
    sparse = static_cast<const tsr_sparse_table*>(extension(TSR_EXTENSION_SPARSE));
  }
  ~device() { m_table->shutdown(m_plugin); }
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  static void check(tsr_status status, const char* what) {
    if (status != TSR_OK) bench::fail(std::string(what) + ": status " + std::to_string(status) + ": " + last_error());
  }
  tsr_memory* allocated(std::uint32_t space, std::uint64_t bytes) const {
    tsr_memory* memory = nullptr;
    check(table->mem_alloc(handle, space, bytes, &memory), "mem_alloc");
    return memory;
  }
  tsr_stream* stream(std::uint32_t flags) const {
    tsr_stream* made = nullptr;
    check(table->stream_create(handle, flags, &made), "stream_create");
    return made;
  }
  void finish(tsr_stream* stream) const {
    tsr_ticket ticket{};
    check(table->stream_signal(handle, stream, &ticket), "stream_signal");
    check(table->stream_host_wait(handle, ticket, ~0ull), "stream_host_wait");
  }

  std::string name;
  tsr_device* handle = nullptr;
  const tsr_device_table* table = nullptr;
  const tsr_blas_table* blas = nullptr;
  const tsr_graph_table* graph = nullptr;
  const tsr_sparse_table* sparse = nullptr;

 private:
  const void* extension(tsr_extension_id id) const {
    const void* found = nullptr;
    return m_table->extension != nullptr && m_table->extension(m_plugin, handle, id, 1, &found) == TSR_OK ? found
                                                                                                          : nullptr;
  }

  const tsr_host m_host = [] {
    tsr_host made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.error = [](void*, tsr_status, const char* message) { last_error() = message; };
    return made;
  }();
  tsr_plugin* m_plugin = nullptr;
  const tsr_plugin_table* m_table = nullptr;
};

/// Seconds of the fastest of some runs.
double best_of(int runs, const std::function<void()>& run) {
  double best = 1e300;
  for (int i = 0; i < runs; ++i) {
    const double begin = bench::now();
    run();
    best = std::min(best, bench::now() - begin);
  }
  return best;
}

/// A host side of a copy: pageable memory, or the device's pinned space.
struct host_side {
  const char* word;
  tsr_space_ref space;
  tsr_address address;
};

tsr_copy copy_between(const tsr_space_ref& to_space, tsr_address to, const tsr_space_ref& from_space, tsr_address from,
                      std::uint64_t bytes) {
  tsr_copy made{};
  made.struct_size = sizeof made;
  made.destination_space = to_space, made.destination = to;
  made.source_space = from_space, made.source = from;
  made.bytes = bytes;
  made.rows[0] = made.rows[1] = 1;
  return made;
}

void links(const device& on, std::uint64_t most) {
  std::vector<unsigned char> pageable(most, 1);
  tsr_memory* const pinned = on.allocated(1, most);
  tsr_memory* const there = on.allocated(0, most);
  tsr_stream* const stream = on.stream(TSR_STREAM_COPY);
  const host_side sides[] = {{"pageable", {nullptr, 0}, {nullptr, reinterpret_cast<std::uintptr_t>(pageable.data())}},
                             {"pinned", {on.handle, 1}, {pinned, 0}}};
  for (const host_side& side : sides)
    for (std::uint64_t bytes = 1024; bytes <= most; bytes *= 4)
      for (const bool in : {true, false}) {
        const tsr_copy copy = in ? copy_between({on.handle, 0}, {there, 0}, side.space, side.address, bytes)
                                 : copy_between(side.space, side.address, {on.handle, 0}, {there, 0}, bytes);
        const double seconds = best_of(5, [&] {
          device::check(on.table->copy(on.handle, stream, &copy), "copy");
          on.finish(stream);
        });
        bench::row("device", on.name, std::string(side.word) + (in ? "_in_" : "_out_") + std::to_string(bytes), 1,
                   "bytes_per_second", static_cast<double>(bytes) / seconds);
      }
  device::check(on.table->stream_destroy(on.handle, stream), "stream_destroy");
  for (tsr_memory* memory : {pinned, there}) device::check(on.table->mem_free(on.handle, memory), "mem_free");
  const double taken =
      best_of(3, [&] { device::check(on.table->mem_free(on.handle, on.allocated(1, most)), "mem_free"); });
  bench::row("device", on.name, "pinned_allocation", 1, "ns_per_byte", taken * 1e9 / static_cast<double>(most));
}

/// A product C += A B of n x n matrices in device memory.
class product {
 public:
  product(const device& on, std::int64_t n) : m_on(on) {
    m_call.struct_size = sizeof m_call;
    m_call.type = TSR_F64;
    m_call.m = m_call.n = m_call.k = m_call.lda = m_call.ldb = m_call.ldc = n;
    m_call.alpha = m_call.beta = &m_one;
    const auto bytes = static_cast<std::uint64_t>(n * n) * sizeof(double);
    const unsigned char zero = 0;
    tsr_stream* const stream = on.stream(TSR_STREAM_COMPUTE);
    for (tsr_address* at : {&m_call.a, &m_call.b, &m_call.c}) {
      at->memory = on.allocated(0, bytes);
      device::check(on.table->fill(on.handle, stream, *at, &zero, 1, bytes), "fill");
    }
    on.finish(stream);
    device::check(on.table->stream_destroy(on.handle, stream), "stream_destroy");
  }
  ~product() {
    for (const tsr_address& at : {m_call.a, m_call.b, m_call.c}) m_on.table->mem_free(m_on.handle, at.memory);
  }
  product(const product&) = delete;
  product& operator=(const product&) = delete;
  void enqueue(tsr_stream* stream) const { device::check(m_on.blas->gemm(m_on.handle, stream, &m_call), "gemm"); }

 private:
  const device& m_on;
  const double m_one = 1;
  tsr_gemm m_call{};
};

/// Products alone, copies alone, both at once: 1 is no overlap, 2 all of it, were they of one length.
void overlap(const device& on, std::int64_t n, std::uint64_t bytes) {
  tsr_stream *const compute = on.stream(TSR_STREAM_COMPUTE), *const copies = on.stream(TSR_STREAM_COPY);
  const product work(on, n);
  tsr_memory *const pinned = on.allocated(1, bytes), *const there = on.allocated(0, bytes);
  const tsr_copy copy = copy_between({on.handle, 0}, {there, 0}, {on.handle, 1}, {pinned, 0}, bytes);
  const auto enqueue_copy = [&] { device::check(on.table->copy(on.handle, copies, &copy), "copy"); };
  const auto alone = best_of(5, [&] { work.enqueue(compute), on.finish(compute); });
  const auto copying = best_of(5, [&] { enqueue_copy(), on.finish(copies); });
  const auto both = best_of(5, [&] { work.enqueue(compute), enqueue_copy(), on.finish(compute), on.finish(copies); });
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  bench::row("device", on.name, "gemm_f64_" + std::to_string(n), 1, "gflops", flops / alone / 1e9);
  bench::row("device", on.name, "copy_beside_gemm", 1, "times_one_after_the_other", (alone + copying) / both);
  for (tsr_stream* stream : {compute, copies})
    device::check(on.table->stream_destroy(on.handle, stream), "stream_destroy");
  for (tsr_memory* memory : {pinned, there}) device::check(on.table->mem_free(on.handle, memory), "mem_free");
}

/// What the host pays for small pieces of work, one by one and as one graph.
void calls(const device& on, int count) {
  tsr_stream* const stream = on.stream(TSR_STREAM_COMPUTE);
  tsr_memory* const memory = on.allocated(0, 4096);
  const double value = 1;
  const auto enqueue = [&] {
    for (int i = 0; i < count; ++i)
      device::check(on.table->fill(on.handle, stream, {memory, 0}, &value, sizeof value, 16), "fill");
  };
  const auto host_time = [&](const std::function<void()>& run) {
    double best = 1e300;
    for (int i = 0; i < 5; ++i) {
      best = std::min(best, best_of(1, run));
      on.finish(stream);
    }
    return best * 1e9 / count;
  };
  bench::row("device", on.name, "small_fills", 1, "host_ns_per_call", host_time(enqueue));
  bench::row("device", on.name, "small_fills", 1, "whole_ns_per_call",
             best_of(5, [&] { enqueue(), on.finish(stream); }) * 1e9 / count);
  if (on.graph != nullptr) {
    tsr_graph* recorded = nullptr;
    device::check(on.graph->capture_begin(on.handle, stream), "capture_begin");
    enqueue();
    device::check(on.graph->capture_end(on.handle, stream, &recorded), "capture_end");
    const auto launch = [&] { device::check(on.graph->launch(on.handle, stream, recorded), "launch"); };
    bench::row("device", on.name, "graph_of_small_fills", 1, "host_ns_per_call", host_time(launch));
    bench::row("device", on.name, "graph_of_small_fills", 1, "whole_ns_per_call",
               best_of(5, [&] { launch(), on.finish(stream); }) * 1e9 / count);
    device::check(on.graph->destroy(on.handle, recorded), "destroy");
  }
  device::check(on.table->stream_destroy(on.handle, stream), "stream_destroy");
  device::check(on.table->mem_free(on.handle, memory), "mem_free");
}

/// Products by the Laplacian of a cube, by one column and by sixteen.
void sparse_products(const device& on, std::int64_t side, const std::string& what) {
  if (on.sparse == nullptr) return;
  const bench::laplacian host(side);
  tsr_stream* const stream = on.stream(TSR_STREAM_COMPUTE);
  std::vector<tsr_memory*> all;
  const auto put = [&](const void* from, std::size_t bytes) {
    all.push_back(on.allocated(0, bytes));
    const auto copy = copy_between({on.handle, 0}, {all.back(), 0}, {nullptr, 0},
                                   {nullptr, reinterpret_cast<std::uintptr_t>(from)}, bytes);
    device::check(on.table->copy(on.handle, stream, &copy), "copy");
    return tsr_address{all.back(), 0};
  };
  tsr_csr csr{};
  csr.struct_size = sizeof csr;
  csr.type = TSR_F64;
  csr.rows = csr.columns = host.rows, csr.nonzeros = static_cast<std::int64_t>(host.columns.size());
  csr.flags = TSR_CSR_NEVER_TRANSPOSED;
  csr.row_starts = put(host.starts.data(), host.starts.size() * sizeof(std::int64_t));
  csr.column_indices = put(host.columns.data(), host.columns.size() * sizeof(std::int32_t));
  csr.values = put(host.values.data(), host.values.size() * sizeof(double));
  const std::vector<double> ones(static_cast<std::size_t>(host.rows) * 16, 1);
  const tsr_address x = put(ones.data(), ones.size() * sizeof(double)),
                    y = put(ones.data(), ones.size() * sizeof(double));
  on.finish(stream);
  tsr_sparse* matrix = nullptr;
  device::check(on.sparse->create_csr(on.handle, &csr, &matrix), "create_csr");
  constexpr int calls = 10;
  const double one = 1, none = 0;
  for (const std::int64_t b : {std::int64_t{1}, std::int64_t{16}}) {
    const double seconds = best_of(5, [&] {
      for (int i = 0; i < calls; ++i)
        device::check(on.sparse->spmm(on.handle, stream, TSR_NO_TRANSPOSE, &one, matrix, x, b, b, &none, y, b, {}),
                      "spmm");
      on.finish(stream);
    });
    bench::row("device", what, (b == 1 ? "spmv_f64_" : "spmm16_f64_") + std::to_string(host.rows), 1,
               "gigabytes_per_second", host.bytes(b) * calls / seconds * 1e-9);
  }
  device::check(on.sparse->destroy(on.handle, matrix), "destroy");
  device::check(on.table->stream_destroy(on.handle, stream), "stream_destroy");
  for (tsr_memory* memory : all) device::check(on.table->mem_free(on.handle, memory), "mem_free");
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments given(argc, argv, {"plugin", "max", "n", "calls", "side", "own"});
  const std::string file = given.text("plugin", "");
  if (file.empty()) bench::fail("--plugin FILE is needed");
  const auto max_bytes = static_cast<std::uint64_t>(given.number("max", 256 << 20));
  const auto side = static_cast<std::int64_t>(given.number("side", 160));
  const bool own = given.number("own", 0) != 0;
  const device on(file, own);
  sparse_products(on, side, own ? on.name + ", own kernels" : on.name);
  if (own) return 0;
  links(on, max_bytes);
  overlap(on, static_cast<std::int64_t>(given.number("n", 4096)), max_bytes);
  calls(on, static_cast<int>(given.number("calls", 2000)));
}
