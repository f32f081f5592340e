// What an enqueueing call does before it returns and what it leaves for later: arguments are read, nothing is waited
// for, a refused call enqueues nothing, and what was enqueued is done however the stream ends.
#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <type_traits>

#include "tests/conformance/suite/host_code.hpp"
#include "tests/conformance/suite/kept_stream.hpp"
#include "tests/conformance/suite/small_calls.hpp"

namespace tessera::conformance {
namespace {

using namespace small_calls;

void arguments_are_read_at_once(const subject& what) {
  const opened all(what);
  bool held = false;
  const bool any = each_operation(all, [&](const auto& one, auto& with, hold how) {
    using T = typename std::remove_cvref_t<decltype(with.result())>::value_type;
    const std::vector<T> wanted = with.result();
    with.reset();
    const auto passed = std::make_unique<given<T>>();
    {
      held_work before(with.stream, how);
      expect_ok(one.call(*passed), one.name);
      wipe(*passed, with);
      held = held || before.holds();
    }
    with.stream.finish();
    expect(with.result() == wanted,
           "{} of {} gives another result when its struct, scalars and lists are overwritten after the call: they are "
           "read before it returns",
           one.name, number<T>::name);
  });
  if (!any) skip("neither BLAS nor TENSOR nor SPARSE is offered");
  if (!held) skip(nothing_comes_late);
}

void patterns_are_read_at_once(const subject& what) {
  const opened all(what);
  bool offered = false, held = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().fill == nullptr) return;
    offered = true;
    const queue stream(device);
    const hold how = hold_of(stream);
    if (how == hold::nothing) return;
    const buffer memory(device, compute_space(device), 64);
    for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u}) {
      std::vector<unsigned char> pattern(width, 0x5a);
      {
        held_work before(stream, how);
        expect_ok(
            device.table().fill(device.handle(), stream.handle(), memory.at(0), pattern.data(), width, 64 / width),
            "fill");
        std::fill(pattern.begin(), pattern.end(), static_cast<unsigned char>(0xa5));
        held = held || before.holds();
      }
      stream.finish();
      expect(downloaded<unsigned char>(stream, memory, 64) == std::vector<unsigned char>(64, 0x5a),
             "fill with {} bytes writes what stands in the pattern after the call: it is read before it returns",
             width);
    }
  });
  if (!offered) skip("fill is not offered");
  if (!held) skip(nothing_comes_late);
}

/// Whether `call` comes back while work behind which it stands, or which it has nothing to do with, still waits. Five
/// tries, behind ever longer rows where there is no gate. Empty: nothing could be held back.
std::optional<bool> returns_before(const queue& stream, hold how, const std::function<void()>& call) {
  if (how == hold::nothing) return std::nullopt;
  bool held = false;
  for (int copies = 64; copies <= 16384; copies *= 4) {
    held_work before(stream, how, copies);
    if (!before.holds()) continue;
    held = true;
    call();
    if (before.is_gate() ? !before.ran_out() : before.holds()) return true;
    if (before.is_gate()) return false;
  }
  return held ? std::optional<bool>(false) : std::nullopt;
}

void operations_do_not_wait(const subject& what) {
  const opened all(what);
  bool held = false;
  const bool any = each_operation(all, [&](const auto& one, auto& with, hold how) {
    using T = typename std::remove_cvref_t<decltype(with.result())>::value_type;
    with.reset();
    const auto passed = std::make_unique<given<T>>();
    expect_ok(one.call(*passed), one.name);  // the first call may load code, which waits on some devices
    with.stream.finish();
    with.reset();
    const std::optional<bool> returned =
        returns_before(with.stream, how, [&] { expect_ok(one.call(*passed), one.name); });
    with.stream.finish();
    held = held || returned.has_value();
    expect(
        returned.value_or(true),
        "{} of {} returns only when the work before it on its stream has finished: it enqueues, and waits for nothing",
        one.name, number<T>::name);
  });
  if (!any) skip("neither BLAS nor TENSOR nor SPARSE is offered");
  if (!held) skip(nothing_comes_late);
}

void allocation_waits_for_no_work(const subject& what) {
  const opened all(what);
  bool held = false;
  for_each_device(all, [&](const device& device) {
    const queue stream(device);
    { const buffer warm(device, compute_space(device), 4096); }
    const std::optional<bool> returned =
        returns_before(stream, hold_of(stream), [&] { const buffer memory(device, compute_space(device), 4096); });
    held = held || returned.has_value();
    expect(returned.value_or(true),
           "mem_alloc and mem_free return only when work that was enqueued before has finished");
  });
  if (!held) skip(nothing_comes_late);
}

/// A callback comes when the work before it has finished, and not before.
void callbacks_wait_for_work(const subject& what) {
  const opened all(what);
  bool offered = false, held = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().stream_callback == nullptr) return;
    offered = true;
    const queue stream(device);
    const hold how = hold_of(stream);
    if (how == hold::nothing) return;
    std::atomic<int> calls{0};
    {
      held_work work(stream, how);
      const auto count = [](void* n) { ++*static_cast<std::atomic<int>*>(n); };
      expect_ok(device.table().stream_callback(device.handle(), stream.handle(), count, &calls), "stream_callback");
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      while (work.holds() && std::chrono::steady_clock::now() < until) {
        const int seen = calls.load();
        if (!work.holds()) break;
        held = true;
        expect(seen == 0, "stream_callback calls while work that was enqueued before has not finished");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    wait_until([&] { return calls == 1; }, "the callback of stream_callback, behind work that has finished,");
  });
  if (!offered) skip("stream_callback is not offered");
  if (!held) skip(nothing_comes_late);
}

/// stream_wait makes the stream wait, and not its caller.
void waits_do_not_block(const subject& what) {
  const opened all(what);
  bool offered = false, held = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().stream_wait == nullptr) return;
    offered = true;
    if (streams_of(device, 2) < 2) throw beyond_limits("the device has one stream at a time");
    const queue first(device), second(device);
    const std::optional<bool> returned = returns_before(first, hold_of(first), [&] {
      expect_ok(device.table().stream_wait(device.handle(), second.handle(), first.signal()), "stream_wait");
    });
    second.finish();
    held = held || returned.has_value();
    expect(returned.value_or(true),
           "stream_wait returns only when the ticket is reached: it has the stream wait, and not the calling thread "
           "(leave the entry NULL where there is no such wait)");
  });
  if (!offered) skip("stream_wait is not offered");
  if (!held) skip(nothing_comes_late);
}

/// stream_destroy waits for the stream's work and does all of it.
void destroyed_streams_finish_their_work(const subject& what) {
  kept_memory kept;
  std::deque<blocking_task> tasks;
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    auto random = what.generator();
    constexpr int copies = 32;
    const std::uint64_t bytes = std::min(bytes_of_row(device), std::uint64_t{1} << 18);
    const auto& given = kept.bytes.emplace_back(random_bytes(random, bytes));
    kept_stream stream(device, bytes, kept);
    stream.into(0, given);
    if (runs_host_code(device)) tasks.emplace_back(std::chrono::seconds(1)).enqueue(device, stream.handle());
    std::vector<std::vector<unsigned char>*> back;
    for (int i = 0; i < copies; ++i) stream.out_of(0, *back.emplace_back(&kept.filled(bytes, 0)));
    if (!tasks.empty())
      tasks.back().limit(std::chrono::milliseconds(200));  // counted from the call, however late it is
    stream.destroy();
    if (!tasks.empty()) {
      const bool done = tasks.back().done();
      tasks.back().release();
      expect(done,
             "stream_destroy returns while a host task of the stream still runs: it waits for the stream's work, and "
             "drops none");
    }
    for (int i = copies - 1; i >= 0; --i)
      expect(*back[static_cast<std::size_t>(i)] == given,
             "copy {} of {} was not done when stream_destroy returned: it waits for the stream's work, and drops none",
             i + 1, copies);
    stream.free();
  });
}

/// A batch of which one member is wrong is refused as a whole.
void refused_batches_enqueue_nothing(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    using T = double;
    const queue stream(device);
    operands<T> with(stream);
    const std::optional<buffer> workspace = workspace_of(with);
    const auto refused = [&](const char* name, const std::function<tsr_status(given<T>&)>& call) {
      tried = true;
      with.reset();
      const std::vector<T> before = with.result();
      given<T> from;
      expect_status(call(from), TSR_OUT_OF_RANGE, fmt::format("{} whose last address is beyond its allocation", name));
      stream.finish();
      expect(with.result() == before,
             "{} is refused, and part of it is done all the same: a refused call enqueues nothing", name);
    };
    const tsr_address beyond = with.c.at(with.bytes - sizeof(T));
    if (const tsr_blas_table* blas = device.blas();
        blas != nullptr && blas->supports(device.handle(), TSR_BLAS_GEMM_BATCHED, TSR_F64))
      refused("gemm_batched", [&](given<T>& from) {
        fill_gemm(with, from);
        from.c[1] = beyond;
        return blas->gemm_batched(device.handle(), stream.handle(), &from.gemm);
      });
    const tsr_tensor_table* tensor = device.tensor();
    if (tensor == nullptr) return;
    std::vector<operation<T>> operations;
    add_tensor(operations, with, workspace);
    for (const operation<T>& one : operations)
      if (std::string_view(one.name) == "contract_batched")
        refused(one.name, [&](given<T>& from) {
          one.call(from);  // fills the struct; what it does is undone below
          stream.finish();
          with.reset();
          from.c[1] = beyond;
          return tensor->contract_batched(device.handle(), stream.handle(), &from.contract);
        });
    if (tensor->reduce_add != nullptr && tensor->supports(device.handle(), TSR_TENSOR_REDUCE_ADD, TSR_F64))
      refused("reduce_add", [&](given<T>& from) {
        from.a = {with.a.at(0), with.b.at(with.bytes - sizeof(T))};
        return tensor->reduce_add(device.handle(), stream.handle(), TSR_F64, elements, with.c.at(0), from.a.data(), 2);
      });
  });
  if (!tried) skip("no device offers gemm_batched, contract_batched or reduce_add for float64");
}

}  // namespace

std::vector<check> enqueueing_checks() {
  return {{"enqueueing.arguments_are_read_at_once", arguments_are_read_at_once},
          {"enqueueing.patterns_are_read_at_once", patterns_are_read_at_once},
          {"enqueueing.operations_do_not_wait", operations_do_not_wait},
          {"enqueueing.allocation_waits_for_no_work", allocation_waits_for_no_work},
          {"enqueueing.callbacks_wait_for_work", callbacks_wait_for_work},
          {"enqueueing.waits_do_not_block", waits_do_not_block},
          {"enqueueing.destroyed_streams_finish_their_work", destroyed_streams_finish_their_work},
          {"enqueueing.refused_batches_enqueue_nothing", refused_batches_enqueue_nothing}};
}

}  // namespace tessera::conformance
