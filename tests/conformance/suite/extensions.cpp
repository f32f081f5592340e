// GRAPH, JIT, TELEMETRY: checked where they are offered.
#include "core/plugin/tables.hpp"
#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

const char* name_of_extension(tsr_extension_id id) {
  return id == TSR_EXTENSION_GRAPH ? "GRAPH" : id == TSR_EXTENSION_JIT ? "JIT" : "TELEMETRY";
}

/// Runs `use(device, table)` on every device that has the extension; skips when none has it.
template <class Table, class Use>
void each_offered(const subject& what, tsr_extension_id id, Use&& use) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const void* raw = all.session.extension(device.handle(), id);
    if (raw == nullptr) return;
    tried = true;
    const Table table = plugin::completed(static_cast<const Table*>(raw));
    need(table.version >= 1, "the extension's table has version 0");
    use(device, table);
  });
  if (!tried) skip(fmt::format("no device offers the table {}", name_of_extension(id)));
}

/// Copies recorded once and launched twice; nothing moves while recording.
void graph(const subject& what) {
  each_offered<tsr_graph_table>(what, TSR_EXTENSION_GRAPH, [&](const device& device, const tsr_graph_table& table) {
    const queue stream(device);
    const buffer memory(device, compute_space(device), 64);
    std::vector<unsigned char> given(64, 1), zero(64, 0);
    upload(stream, memory, zero.data(), 64);
    tsr_graph* recorded = nullptr;
    expect_status(table.capture_end(device.handle(), stream.handle(), &recorded), TSR_FAILED_PRECONDITION,
                  "capture_end without begin");
    expect_ok(table.capture_begin(device.handle(), stream.handle()), "capture_begin");
    const tsr_copy copy = plain_copy(memory.where(), memory.at(0), host_space, host_address(given.data()), 64);
    expect_ok(device.table().copy(device.handle(), stream.handle(), &copy), "copy while recording");
    expect_ok(table.capture_end(device.handle(), stream.handle(), &recorded), "capture_end");
    expect(downloaded<unsigned char>(stream, memory, 64) == zero, "recorded work ran");
    for (unsigned char value : {2, 3}) {
      std::fill(given.begin(), given.end(), value);
      expect_ok(table.launch(device.handle(), stream.handle(), recorded), "launch");
      stream.finish();
      expect(downloaded<unsigned char>(stream, memory, 64) == given,
             "a launched graph does other work than was recorded");
    }
    expect_ok(table.destroy(device.handle(), recorded), "destroy");
  });
}

/// What depends on time is refused while a stream records, and the recording ends one way or the other.
void graph_misuse(const subject& what) {
  each_offered<tsr_graph_table>(what, TSR_EXTENSION_GRAPH, [&](const device& device, const tsr_graph_table& table) {
    const queue stream(device), other(device);
    const std::uint32_t space = compute_space(device);
    const buffer memory(device, space, 64);
    const std::vector<unsigned char> given(64, 7), zero(64, 0);
    upload(stream, memory, zero.data(), 64);
    const tsr_copy copy = plain_copy(memory.where(), memory.at(0), host_space, host_address(given.data()), 64);
    const auto begin = [&] { expect_ok(table.capture_begin(device.handle(), stream.handle()), "capture_begin"); };
    const auto record = [&] {
      tsr_graph* made = nullptr;
      begin();
      expect_ok(device.table().copy(device.handle(), stream.handle(), &copy), "copy while recording");
      expect_ok(table.capture_end(device.handle(), stream.handle(), &made), "capture_end");
      expect(made != nullptr, "capture_end answers OK and gives no graph");
      return made;
    };
    tsr_graph* const kept = record();

    // Each refusal in a recording of its own: it may spoil the recording.
    const std::pair<const char*, std::function<tsr_status()>> refused[] = {
        {"capture_begin on a stream that records",
         [&] { return table.capture_begin(device.handle(), stream.handle()); }},
        {"launch on a stream that records", [&] { return table.launch(device.handle(), stream.handle(), kept); }},
        {"stream_signal on a stream that records",
         [&] {
           tsr_ticket ticket{};
           return device.table().stream_signal(device.handle(), stream.handle(), &ticket);
         }},
        {"stream_wait on a stream that records",
         [&] {
           return device.table().stream_wait == nullptr
                      ? tsr_status{TSR_FAILED_PRECONDITION}
                      : device.table().stream_wait(device.handle(), stream.handle(), other.signal());
         }},
        {"stream_callback on a stream that records",
         [&] {
           return device.table().stream_callback == nullptr
                      ? tsr_status{TSR_FAILED_PRECONDITION}
                      : device.table().stream_callback(
                            device.handle(), stream.handle(), [](void*) {}, nullptr);
         }},
        {"stream_destroy of a stream that records",
         [&] { return device.table().stream_destroy(device.handle(), stream.handle()); }},
        {"mem_alloc by a thread that records",
         [&] {
           tsr_memory* more = nullptr;
           return device.table().mem_alloc(device.handle(), space, 64, &more);
         }},
        {"mem_free by a thread that records",
         [&] { return device.table().mem_free(device.handle(), memory.memory()); }}};
    for (const auto& [call, function] : refused) {
      begin();
      expect_status(function(), TSR_FAILED_PRECONDITION, call);
      tsr_graph* made = nullptr;
      const tsr_status status = table.capture_end(device.handle(), stream.handle(), &made);
      expect(status == TSR_OK || status == TSR_ABORTED, "after a refused call capture_end answers {}",
             plugin::name_of(status));
      if (status == TSR_OK) expect_ok(table.destroy(device.handle(), made), "destroy");
      tsr_graph* none = nullptr;
      expect_status(table.capture_end(device.handle(), stream.handle(), &none), TSR_FAILED_PRECONDITION,
                    "capture_end after the recording has ended");
      expect(none == nullptr, "a failed capture_end wrote its out_ argument");
    }
    expect(downloaded<unsigned char>(stream, memory, 64) == zero, "recorded work ran");

    // Another stream is not concerned, and a launch may be there; destroying does not take back what was launched.
    begin();
    expect_ok(table.launch(device.handle(), other.handle(), kept),
              "launch on another stream than the one that records");
    other.finish();
    tsr_graph* empty = nullptr;
    expect_ok(table.capture_end(device.handle(), stream.handle(), &empty), "capture_end of nothing");
    expect_ok(table.launch(device.handle(), stream.handle(), empty), "launch of an empty graph");
    stream.finish();
    expect_ok(table.destroy(device.handle(), empty), "destroy");
    expect(downloaded<unsigned char>(stream, memory, 64) == given, "a graph launched on another stream did not run");
    upload(stream, memory, zero.data(), 64);
    expect_ok(table.launch(device.handle(), stream.handle(), kept), "launch");
    expect_ok(table.destroy(device.handle(), kept), "destroy behind a launch");
    stream.finish();
    expect(downloaded<unsigned char>(stream, memory, 64) == given, "a graph destroyed behind its launch did not run");

    if (table.update != nullptr) {
      tsr_graph* const one = record();
      tsr_launch nothing{};
      nothing.struct_size = sizeof nothing;
      const tsr_status beyond = table.update(device.handle(), one, 1000, &nothing);
      expect(beyond == TSR_OUT_OF_RANGE || beyond == TSR_UNIMPLEMENTED, "update of a node that there is not answers {}",
             plugin::name_of(beyond));
      expect(table.update(device.handle(), one, 0, &nothing) != TSR_OK, "update turns a copy into a kernel launch");
      expect_ok(table.destroy(device.handle(), one), "destroy");
    }
  });
}

/// A chain of kernels, fills and copies: each launch does all of it, in order, and an address stays what it was.
void graph_of_kernels(const subject& what) {
  each_offered<tsr_graph_table>(what, TSR_EXTENSION_GRAPH, [&](const device& device, const tsr_graph_table& table) {
    if (device.blas() == nullptr || !device.blas()->supports(device.handle(), TSR_BLAS_SCAL, TSR_F64) ||
        !device.blas()->supports(device.handle(), TSR_BLAS_AXPY, TSR_F64))
      return;
    const queue stream(device);
    auto random = what.generator();
    const std::size_t count = 100;
    const auto x = random_numbers<double>(random, count);
    auto y = random_numbers<double>(random, count);
    const buffer on_x = uploaded(stream, compute_space(device), x), on_y = uploaded(stream, compute_space(device), y);
    tsr_vector_operation scal{}, axpy{};
    scal.struct_size = axpy.struct_size = sizeof scal;
    scal.type = axpy.type = TSR_F64;
    scal.n = axpy.n = static_cast<std::int64_t>(count);
    scal.incx = axpy.incx = axpy.incy = 1;
    double half = 0.5, two = 2;
    scal.alpha = &half;
    scal.x = on_y.at(0);
    axpy.alpha = &two;
    axpy.x = on_x.at(0);
    axpy.y = on_y.at(0);
    tsr_graph* graph = nullptr;
    expect_ok(table.capture_begin(device.handle(), stream.handle()), "capture_begin");
    for (int k = 0; k < 3; ++k) {
      expect_ok(device.blas()->scal(device.handle(), stream.handle(), &scal), "scal while recording");
      expect_ok(device.blas()->axpy(device.handle(), stream.handle(), &axpy), "axpy while recording");
    }
    expect_ok(table.capture_end(device.handle(), stream.handle(), &graph), "capture_end");
    half = two = 0;  // read before the calls returned
    for (int launches = 0; launches < 4; ++launches) {
      expect_ok(table.launch(device.handle(), stream.handle(), graph), "launch");
      for (int k = 0; k < 3; ++k)
        for (std::size_t i = 0; i < count; ++i) y[i] = 0.5 * y[i] + 2 * x[i];
    }
    stream.finish();
    expect_near(downloaded<double>(stream, on_y, count), y, 1000 * epsilon<double>,
                "a graph of kernels launched four times");
    expect_ok(table.destroy(device.handle(), graph), "destroy");
  });
}

void jit(const subject& what) {
  each_offered<tsr_jit_table>(what, TSR_EXTENSION_JIT, [&](const device& device, const tsr_jit_table& table) {
    expect(table.languages != nullptr && table.compile != nullptr && table.release != nullptr,
           "an entry of the JIT table is null");
    const std::string languages = table.languages, first = languages.substr(0, languages.find(','));
    void* image = nullptr;
    std::uint64_t bytes = 0;
    plugin::take_error_details();
    expect(table.compile(device.handle(), first.c_str(), "\n\nthis is no program;\n", "", &image, &bytes) != TSR_OK,
           "rubbish compiles");
    const std::string details = plugin::take_error_details();
    expect(details.find('3') != std::string::npos, "the compiler's messages do not name line 3: \"{}\"", details);
    expect(table.compile(device.handle(), "no-such-language", "", "", &image, &bytes) != TSR_OK,
           "an unknown language compiles");
  });
}

void telemetry(const subject& what) {
  each_offered<tsr_telemetry_table>(
      what, TSR_EXTENSION_TELEMETRY, [&](const device& device, const tsr_telemetry_table& table) {
        std::uint32_t count = 0;
        expect_ok(table.read(device.handle(), nullptr, 0, &count), "read");
        std::vector<tsr_counter> counters(count);
        expect_ok(table.read(device.handle(), counters.data(), count, &count), "read");
        for (const tsr_counter& counter : counters)
          expect(counter.name != nullptr && counter.unit != nullptr, "a counter has no name or no unit");
      });
}

}  // namespace

std::vector<check> extension_checks() {
  return {{"extensions.graph", graph},
          {"extensions.graph_misuse", graph_misuse},
          {"extensions.graph_of_kernels", graph_of_kernels},
          {"extensions.jit", jit},
          {"extensions.telemetry", telemetry}};
}

}  // namespace tessera::conformance
