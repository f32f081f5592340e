// What a caller can get wrong: the answer, and that nothing was started.
#include <fmt/format.h>

#include "tests/conformance/transport/rig.hpp"

namespace tessera::transport_conformance {
namespace {

struct wrong {
  const char* what;
  tsr_status expected;
  std::function<tsr_status(tsr_request*)> call;
};

void try_all(rig& r, const std::vector<wrong>& all) {
  for (const wrong& one : all) {
    request done;
    last_error().clear();
    const tsr_status found = one.call(&done);
    r.expect_status(found, one.expected, one.what);
    r.expect(done.status == 4711, fmt::format("{}: the request is untouched", one.what));
    if (one.expected != TSR_INVALID_ARGUMENT || !last_error().empty())
      r.expect(!last_error().empty(), fmt::format("{}: the host is told why", one.what));
  }
}

void of_messages(rig& r) {
  const std::byte some[300] = {};
  const auto send = [&](std::int32_t to, std::uint32_t header, const void* at, std::uint64_t payload, const void* data,
                        std::uint32_t size = sizeof(tsr_message)) {
    return [&r, message = tsr_message{size, to, 1, header, at, data, payload}](tsr_request* done) {
      return r.call.send(r.endpoint, &message, done);
    };
  };
  try_all(r, {{"a negative rank", TSR_OUT_OF_RANGE, send(-1, 0, nullptr, 0, nullptr)},
              {"a rank too many", TSR_OUT_OF_RANGE, send(r.size(), 0, nullptr, 0, nullptr)},
              {"a header that is too long", TSR_INVALID_ARGUMENT, send(0, TSR_MAX_HEADER_BYTES + 1, some, 0, nullptr)},
              {"a header that is not there", TSR_INVALID_ARGUMENT, send(0, 4, nullptr, 0, nullptr)},
              {"a payload that is not there", TSR_INVALID_ARGUMENT, send(0, 0, nullptr, 4, nullptr)},
              {"a struct without a size", TSR_INVALID_ARGUMENT, send(0, 0, nullptr, 0, nullptr, 0)},
              {"no message", TSR_INVALID_ARGUMENT,
               [&](tsr_request* done) { return r.call.send(r.endpoint, nullptr, done); }},
              {"no endpoint", TSR_INVALID_ARGUMENT, [&](tsr_request* done) {
                 const tsr_message message{sizeof(tsr_message), 0, 1, 0, nullptr, nullptr, 0};
                 return r.call.send(nullptr, &message, done);
               }}});
  const tsr_message message{sizeof(tsr_message), 0, 1, 0, nullptr, nullptr, 0};
  r.expect_status(r.call.send(r.endpoint, &message, nullptr), TSR_INVALID_ARGUMENT, "no request");
  request unsized;
  unsized.struct_size = 0;
  r.expect_status(r.call.send(r.endpoint, &message, &unsized), TSR_INVALID_ARGUMENT, "a request without a size");
  bool happened = false;
  r.expect_status(r.call.progress(r.endpoint, 1, nullptr), TSR_INVALID_ARGUMENT, "progress without out_happened");
  r.expect_status(r.call.progress(nullptr, 1, &happened), TSR_INVALID_ARGUMENT, "progress of nothing");
  r.expect_status(r.call.describe(r.endpoint, nullptr), TSR_INVALID_ARGUMENT, "describe into nothing");
  bool lives = false;
  r.expect_status(r.call.alive(r.endpoint, r.size(), &lives), TSR_OUT_OF_RANGE, "alive of a rank too many");
  r.expect_status(r.call.alive(r.endpoint, 0, nullptr), TSR_INVALID_ARGUMENT, "alive into nothing");
  r.barrier();
  r.expect(r.inbox.empty(), "nothing was sent");
}

void of_windows(rig& r) {
  tsr_window* const one = r.window(1000);
  std::vector<std::int64_t> data(200, 7);
  using entry = decltype(tsr_endpoint_table::get);
  const auto with = [&](entry call, auto&& change) {
    tsr_transfer block = block_of(one, 0, 0, data.data(), 64);
    change(block);
    return [&r, call, block](tsr_request* done) { return call(r.endpoint, &block, done); };
  };
  for (const auto& [name, call] : {std::pair{"get", r.call.get}, std::pair{"put", r.call.put}}) {
    (void)name;
    try_all(r,
            {{"a negative rank", TSR_OUT_OF_RANGE, with(call, [](auto& b) { b.rank = -1; })},
             {"a rank too many", TSR_OUT_OF_RANGE, with(call, [&](auto& b) { b.rank = r.size(); })},
             {"one byte behind the part", TSR_OUT_OF_RANGE, with(call, [](auto& b) { b.offset = 937; })},
             {"an offset far behind", TSR_OUT_OF_RANGE, with(call, [](auto& b) { b.offset = UINT64_MAX - 8; })},
             {"more bytes than there are", TSR_OUT_OF_RANGE, with(call, [](auto& b) { b.bytes = 1001; })},
             {"bytes that overflow", TSR_OUT_OF_RANGE,
              with(call,
                   [](auto& b) { b.bytes = UINT64_MAX / 2, b.rows = 4, b.offset_stride = b.local_stride = b.bytes; })},
             {"rows that leave the part", TSR_OUT_OF_RANGE,
              with(call, [](auto& b) { b.rows = 10, b.offset_stride = 128, b.local_stride = 64; })},
             {"rows that overflow", TSR_OUT_OF_RANGE,
              with(call, [](auto& b) { b.rows = UINT64_MAX / 64, b.offset_stride = 128, b.local_stride = 64; })},
             {"a stride that is too short", TSR_INVALID_ARGUMENT,
              with(call, [](auto& b) { b.rows = 2, b.offset_stride = 63, b.local_stride = 64; })},
             {"a local stride that is too short", TSR_INVALID_ARGUMENT,
              with(call, [](auto& b) { b.rows = 2, b.offset_stride = 64, b.local_stride = 32; })},
             {"no memory", TSR_INVALID_ARGUMENT, with(call, [](auto& b) { b.local = nullptr; })},
             {"no window", TSR_INVALID_ARGUMENT, with(call, [](auto& b) { b.window = nullptr; })},
             {"a struct without a size", TSR_INVALID_ARGUMENT, with(call, [](auto& b) { b.struct_size = 0; })}});
  }
  const auto adds = [&](tsr_type type, auto&& change) {
    tsr_transfer block = block_of(one, 0, 0, data.data(), 64);
    change(block);
    return [&r, type, block](tsr_request* done) { return r.call.accumulate(r.endpoint, &block, type, done); };
  };
  try_all(r, {{"no type", TSR_INVALID_ARGUMENT, adds(TSR_TYPE_NONE, [](auto&) {})},
              {"another type", TSR_INVALID_ARGUMENT, adds(TSR_I32, [](auto&) {})},
              {"half a float", TSR_INVALID_ARGUMENT, adds(TSR_F32, [](auto& b) { b.bytes = 6; })},
              {"half a double", TSR_INVALID_ARGUMENT, adds(TSR_F64, [](auto& b) { b.offset = 4; })},
              {"behind the part", TSR_OUT_OF_RANGE, adds(TSR_F64, [](auto& b) { b.offset = 944; })}});
  std::int64_t before = 0;
  const auto add = [&](std::int32_t rank, std::uint64_t offset, std::int64_t* out) {
    return [&r, one, rank, offset, out](tsr_request* done) {
      return r.call.fetch_add(r.endpoint, one, rank, offset, 1, out, done);
    };
  };
  const auto swap = [&](std::int32_t rank, std::uint64_t offset, std::int64_t* out) {
    return [&r, one, rank, offset, out](tsr_request* done) {
      return r.call.compare_swap(r.endpoint, one, rank, offset, 0, 1, out, done);
    };
  };
  try_all(r, {{"no word", TSR_INVALID_ARGUMENT, add(0, 4, &before)},
              {"a word behind the part", TSR_OUT_OF_RANGE, add(0, 1000, &before)},
              {"a word far behind", TSR_OUT_OF_RANGE, add(0, UINT64_MAX - 7, &before)},
              {"no place for the former value", TSR_INVALID_ARGUMENT, add(0, 0, nullptr)},
              {"a rank too many", TSR_OUT_OF_RANGE, add(r.size(), 0, &before)},
              {"no word to swap", TSR_INVALID_ARGUMENT, swap(0, 4, &before)},
              {"a swap behind the part", TSR_OUT_OF_RANGE, swap(0, 1000, &before)},
              {"a flush of a rank too many", TSR_OUT_OF_RANGE,
               [&](tsr_request* done) { return r.call.flush(r.endpoint, one, r.size(), done); }},
              {"a flush of rank -2", TSR_OUT_OF_RANGE,
               [&](tsr_request* done) { return r.call.flush(r.endpoint, one, -2, done); }},
              {"window_create into nothing", TSR_INVALID_ARGUMENT,
               [&](tsr_request* done) { return r.call.window_create(r.endpoint, 8, nullptr, done); }},
              {"agree about too much", TSR_INVALID_ARGUMENT,
               [&](tsr_request* done) {
                 return r.call.agree(r.endpoint, data.data(), TSR_MAX_AGREE_BYTES + 1, data.data(), done);
               }},
              {"agree about nothing that has bytes", TSR_INVALID_ARGUMENT,
               [&](tsr_request* done) { return r.call.agree(r.endpoint, nullptr, 8, data.data(), done); }}});
  void* at = nullptr;
  std::uint64_t length = 0;
  r.expect_status(r.call.window_base(r.endpoint, one, r.size(), &at, &length), TSR_OUT_OF_RANGE,
                  "base of a rank too many");
  r.expect_status(r.call.window_base(r.endpoint, one, 0, nullptr, &length), TSR_INVALID_ARGUMENT, "base into nothing");
  r.barrier();
  bool zero = true;
  for (std::uint64_t k = 0; k < 1000; ++k) zero = zero && r.base(one, r.rank())[k] == std::byte{0};
  r.expect(zero && before == 0, "nothing was written");
  r.barrier();
  r.destroy(one);
}

void tables_are_complete(rig& r) {
  r.expect(r.call.struct_size >= sizeof(tsr_endpoint_table), "the endpoint's table has the size of version 1.0");
  tsr_endpoint_desc small{};
  small.struct_size = 12;  // R1: no more is written than there is room
  small.nodes = -77;
  r.need_ok(r.call.describe(r.endpoint, &small), "describe");
  r.expect(small.rank == r.rank() && small.size == r.size() && small.nodes == -77, "no more than the room is written");
}

}  // namespace

std::vector<check> argument_checks() {
  return {{"arguments.tables", tables_are_complete},
          {"arguments.messages", of_messages},
          {"arguments.windows", of_windows}};
}

}  // namespace tessera::transport_conformance
