// Memory of the transport and operations on it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/conformance/transport/rig.hpp"

namespace tessera::transport_conformance {
namespace {

using bytes = std::vector<std::byte>;

std::uint64_t part_bytes(std::int32_t rank) { return static_cast<std::uint64_t>(rank) * 1000; }  // rank 0 has none

void parts_are_zeroed_aligned_and_of_any_size(rig& r) {
  tsr_window* const one = r.window(part_bytes(r.rank()));
  for (std::int32_t of = 0; of < r.size(); ++of) {
    std::uint64_t length = 1;
    std::byte* const at = r.base(one, of, &length);
    r.expect(length == part_bytes(of), fmt::format("rank {}'s part has {} bytes", of, length));
    if (of == r.rank() && length != 0) {
      r.need(at != nullptr, "the own part can be read in place");
      r.expect(reinterpret_cast<std::uintptr_t>(at) % 64 == 0, "a part begins at a multiple of 64");
      r.expect(std::all_of(at, at + length, [](std::byte b) { return b == std::byte{0}; }), "a part is zeroed");
    }
    bytes got(length, std::byte{1});
    r.get(one, of, 0, got.data(), length);
    r.expect(std::all_of(got.begin(), got.end(), [](std::byte b) { return b == std::byte{0}; }), "gets read zeros");
  }
  r.barrier();
  r.destroy(one);
}

void parts_of_a_node_are_read_in_place(rig& r) {
  tsr_window* const one = r.window(4096);
  const std::int32_t node = r.desc.node_of[r.rank()];
  int in_place = 0, copied = 0;
  for (std::int32_t of = 0; of < r.size(); ++of) {
    const bool own = of == r.rank(), here = r.desc.reads_in_place != 0 && r.desc.node_of[of] == node;
    const bool read = r.base(one, of) != nullptr;
    r.expect(!own || read, "the own part is read in place");
    r.expect(own || here || !read, fmt::format("rank {}'s part is on another node and read in place", of));
    // All of a node or none: it may have had no room for shared memory.
    if (!own && here) ++(read ? in_place : copied);
  }
  r.expect(in_place == 0 || copied == 0, "some parts of the node are read in place and some are not");
  const bytes mine = pattern(4096, static_cast<std::uint64_t>(r.rank()) + 1);
  std::memcpy(r.base(one, r.rank()), mine.data(), mine.size());
  r.barrier();  // T5: plain stores before it are seen after it
  for (std::int32_t of = 0; of < r.size(); ++of) {
    const bytes theirs = pattern(4096, static_cast<std::uint64_t>(of) + 1);
    if (const std::byte* const at = r.base(one, of); at != nullptr)
      r.expect(std::equal(theirs.begin(), theirs.end(), at), fmt::format("rank {}'s part in place", of));
    bytes got(4096);
    r.get(one, of, 0, got.data(), got.size());
    r.expect(got == theirs, fmt::format("rank {}'s part by get", of));
  }
  r.barrier();
  r.destroy(one);
}

/// T3 and T4 for every length around the limits of small, eager and split.
void puts_and_gets_of_every_size(rig& r) {
  const std::uint64_t piece =
      r.desc.largest_piece == 0 || r.desc.largest_piece > 1'000'000 ? 40000 : r.desc.largest_piece;
  const std::vector<std::uint64_t> lengths = {0,    1,     7,         8,     64,        1000,          4096,  8191,
                                              8193, 65536, piece - 1, piece, piece + 1, piece * 3 + 5, 300001};
  const std::uint64_t most = *std::max_element(lengths.begin(), lengths.end());
  tsr_window* const one = r.window(most + 13);
  for (const std::uint64_t length : lengths) {
    bytes data = pattern(length, length + static_cast<std::uint64_t>(r.rank()));
    request done;
    const tsr_transfer block = block_of(one, r.next(), 13, data.empty() ? nullptr : data.data(), length);
    r.need_ok(r.with_room([&] { return r.call.put(r.endpoint, &block, &done); }, "put"), "put");
    r.finish_ok(done, "put");
    std::fill(data.begin(), data.end(), std::byte{0xee});  // complete locally: it may be used again
    r.flush(one, r.next());
    bytes back(length, std::byte{0xdd});
    r.get(one, r.next(), 13, back.data(), length);
    r.expect(back == pattern(length, length + static_cast<std::uint64_t>(r.rank())), fmt::format("{} bytes", length));
    r.barrier();
    const bytes expected = pattern(length, length + static_cast<std::uint64_t>((r.rank() + r.size() - 1) % r.size()));
    r.expect(std::equal(expected.begin(), expected.end(), r.base(one, r.rank()) + 13),
             fmt::format("{} bytes at the target", length));
    r.barrier();
  }
  r.destroy(one);
}

void blocks_of_two_dimensions(rig& r) {
  constexpr std::uint64_t rows = 37, columns = 50, height = 11, width = 13;  // of doubles
  tsr_window* const one = r.window(rows * columns * 8);
  std::vector<double> matrix(rows * columns), mine(height * 20);
  std::iota(mine.begin(), mine.end(), 1000.0 * (r.rank() + 1));
  tsr_transfer block = block_of(one, r.next(), (3 * columns + 5) * 8, mine.data(), width * 8);
  block.rows = height;
  block.offset_stride = columns * 8;
  block.local_stride = 20 * 8;
  request done;
  r.need_ok(r.with_room([&] { return r.call.put(r.endpoint, &block, &done); }, "put"), "put");
  r.finish_ok(done, "put");
  r.flush(one, r.next());
  for (int k = 0; k < 2; ++k) {
    r.need_ok(r.with_room([&] { return r.call.accumulate(r.endpoint, &block, TSR_F64, &done); }, "accumulate"),
              "accumulate");
    r.finish_ok(done, "accumulate");
  }
  r.flush(one, r.next());
  std::vector<double> back(height * 20, -1.0);
  block.local = back.data();
  r.need_ok(r.with_room([&] { return r.call.get(r.endpoint, &block, &done); }, "get"), "get");
  r.finish_ok(done, "get");
  for (std::uint64_t i = 0; i < height; ++i)
    for (std::uint64_t j = 0; j < 20; ++j) {
      const double expected = j < width ? 3 * mine[i * 20 + j] : -1.0;
      if (back[i * 20 + j] != expected) {
        r.expect(false, fmt::format("element {}, {} is {}; expected {}", i, j, back[i * 20 + j], expected));
        i = height;
        break;
      }
    }
  r.barrier();
  const auto* const own = reinterpret_cast<const double*>(r.base(one, r.rank()));
  const double first = 1000.0 * ((r.rank() + r.size() - 1) % r.size() + 1);
  bool right = true;
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t j = 0; j < columns; ++j) {
      const bool inside = i >= 3 && i < 3 + height && j >= 5 && j < 5 + width;
      const double expected = inside ? 3 * (first + static_cast<double>((i - 3) * 20 + j - 5)) : 0.0;
      right = right && own[i * columns + j] == expected;
    }
  r.expect(right, "the block and nothing around it was written");
  block.rows = 0;  // T8
  request none;
  r.expect_status(r.call.put(r.endpoint, &block, &none), TSR_OK, "no rows");
  r.finish_ok(none, "no rows");
  r.barrier();
  r.destroy(one);
}

template <class Element>
void sums(rig& r, tsr_type type) {
  constexpr std::uint64_t count = 3000;
  tsr_window* const one = r.window(count * sizeof(Element));
  std::vector<Element> mine(count);
  for (std::uint64_t k = 0; k < count; ++k) mine[k] = static_cast<Element>(k + static_cast<std::uint64_t>(r.rank()));
  constexpr int times = 4;
  std::vector<request> done(static_cast<std::size_t>(times * r.size()));
  std::size_t next = 0;
  for (int k = 0; k < times; ++k)
    for (std::int32_t to = 0; to < r.size(); ++to, ++next) {
      const tsr_transfer block = block_of(one, to, 0, mine.data(), count * sizeof(Element));
      r.need_ok(r.with_room([&] { return r.call.accumulate(r.endpoint, &block, type, &done[next]); }, "accumulate"),
                "accumulate");
    }
  r.flush(nullptr);
  for (request& each : done) r.expect(each.status == TSR_OK, "a flush ends after the requests that it covers");
  r.barrier();
  const auto* const own = reinterpret_cast<const Element*>(r.base(one, r.rank()));
  for (std::uint64_t k = 0; k < count; ++k) {
    Element expected = 0;
    for (std::int32_t from = 0; from < r.size(); ++from)
      expected = static_cast<Element>(expected + times * static_cast<Element>(k + static_cast<std::uint64_t>(from)));
    if (own[k] != expected) {
      r.expect(false, fmt::format("element {} is {}; expected {}", k, own[k], expected));
      break;
    }
  }
  r.barrier();
  r.destroy(one);
}

void accumulates_of_every_type(rig& r) {
  sums<float>(r, TSR_F32);
  sums<double>(r, TSR_F64);
  sums<std::int64_t>(r, TSR_I64);
}

void integers_wrap(rig& r) {
  tsr_window* const one = r.window(16);
  const std::int64_t most = INT64_MAX;
  if (r.rank() == 0) {
    r.put(one, r.next(), 0, &most, 8);
    r.flush(one);
    std::int64_t two = 2, found = 0;
    const tsr_transfer block = block_of(one, r.next(), 0, &two, 8);
    request done;
    r.need_ok(r.with_room([&] { return r.call.accumulate(r.endpoint, &block, TSR_I64, &done); }, "accumulate"),
              "accumulate");
    r.finish_ok(done, "accumulate");
    r.flush(one);
    r.get(one, r.next(), 0, &found, 8);
    r.expect(found == INT64_MIN + 1, fmt::format("the largest integer and 2 make {}", found));
    r.fetch_add(one, r.next(), 8, most);
    r.expect(r.fetch_add(one, r.next(), 8, 1) == most, "fetch_add has added");
    r.expect(r.fetch_add(one, r.next(), 8, 0) == INT64_MIN, "fetch_add wraps around");
  }
  r.barrier();
  r.destroy(one);
}

void tickets_are_given_once(rig& r) {
  constexpr std::int64_t each = 200;
  tsr_window* const one = r.window(64);
  std::vector<std::int64_t> mine;
  for (std::int64_t k = 0; k < each; ++k) mine.push_back(r.fetch_add(one, 0, 24, 1));
  r.expect(std::is_sorted(mine.begin(), mine.end()), "a rank's own tickets grow");
  std::vector<std::int64_t> all(static_cast<std::size_t>(each * r.size()));
  request done;
  r.need_ok(r.call.agree(r.endpoint, mine.data(), mine.size() * 8, all.data(), &done), "agree");
  r.finish_ok(done, "agree");
  std::sort(all.begin(), all.end());
  bool right = true;
  for (std::size_t k = 0; k < all.size(); ++k) right = right && all[k] == static_cast<std::int64_t>(k);
  r.expect(right, "every ticket is given once");
  r.expect(r.fetch_add(one, 0, 16, 0) == 0 && r.fetch_add(one, 0, 32, 0) == 0, "the words beside it are untouched");
  r.barrier();
  r.destroy(one);
}

/// A counter that is increased under compare_swap loses nothing.
void compare_swap_is_whole(rig& r) {
  tsr_window* const one = r.window(8);
  const std::int32_t home = r.size() - 1;
  std::int64_t seen = 0;
  for (int done = 0; done < 50;) {
    std::int64_t before = -1;
    request swap;
    r.need_ok(r.with_room([&] { return r.call.compare_swap(r.endpoint, one, home, 0, seen, seen + 1, &before, &swap); },
                          "compare_swap"),
              "compare_swap");
    r.finish_ok(swap, "compare_swap");
    if (before == seen)
      ++done, ++seen;
    else
      seen = before;
  }
  r.barrier();
  std::int64_t found = 0;
  r.get(one, home, 0, &found, 8);
  r.expect(found == 50 * r.size(), fmt::format("{} increments of {}", found, 50 * r.size()));
  r.barrier();
  r.destroy(one);
}

/// T5: what was flushed before a message was sent is there when it comes.
void flush_then_message(rig& r) {
  tsr_window* const one = r.window(20000);
  const auto before = static_cast<std::uint64_t>((r.rank() + r.size() - 1) % r.size());
  std::uint64_t told = 0, looked = 0;
  r.listen([&](std::int32_t, std::uint32_t id, auto, auto) { ++(id == 1 ? told : looked); });
  for (std::uint64_t round = 1; round <= 20; ++round) {
    const bytes data = pattern(20000, round * 100 + static_cast<std::uint64_t>(r.rank()));
    r.put(one, r.next(), 0, data.data(), data.size());
    r.flush(one, r.next());
    r.send(r.next(), 1, {}, {});
    r.until([&] { return told == round; }, "word of the put");
    const bytes expected = pattern(20000, round * 100 + before);
    r.expect(std::equal(expected.begin(), expected.end(), r.base(one, r.rank())), fmt::format("round {}", round));
    r.send(static_cast<std::int32_t>(before), 2, {}, {});  // I have looked
    r.until([&] { return looked == round; }, "that the other one has looked");
  }
  r.barrier();
  r.listen(nullptr);
  r.destroy(one);
}

/// Many operations under way at once, and a flush that covers one window, one rank.
void many_at_once(rig& r) {
  constexpr std::uint64_t count = 300;
  tsr_window* const one = r.window(count * 8);
  tsr_window* const other = r.window(count * 8);
  std::vector<std::int64_t> mine(count), back(count, -1);
  std::iota(mine.begin(), mine.end(), 5);
  std::vector<request> done(count);
  for (std::uint64_t k = 0; k < count; ++k) {
    const tsr_transfer block = block_of(k % 2 == 0 ? one : other, r.next(), k * 8, &mine[k], 8);
    r.need_ok(r.with_room([&] { return r.call.put(r.endpoint, &block, &done[k]); }, "put"), "put");
  }
  r.flush(one, r.next());
  for (std::uint64_t k = 0; k < count; k += 2) r.expect(done[k].status == TSR_OK, "those of the flushed window");
  r.flush(nullptr, r.next());
  for (std::uint64_t k = 0; k < count; ++k) {
    const tsr_transfer block = block_of(k % 2 == 0 ? one : other, r.next(), k * 8, &back[k], 8);
    r.need_ok(r.with_room([&] { return r.call.get(r.endpoint, &block, &done[k]); }, "get"), "get");
  }
  for (request& each : done) r.finish_ok(each, "get");
  r.expect(back == mine, "what was put");
  r.barrier();
  r.destroy(other);
  r.destroy(one);
}

void a_window_with_unflushed_operations_stays(rig& r) {
  tsr_window* const one = r.window(8);
  std::int64_t value = 1;
  const tsr_transfer block = block_of(one, r.next(), 0, &value, 8);
  request put, destroy;
  r.need_ok(r.with_room([&] { return r.call.put(r.endpoint, &block, &put); }, "put"), "put");
  r.finish_ok(put, "put");
  r.expect_status(r.call.window_destroy(r.endpoint, one, &destroy), TSR_FAILED_PRECONDITION, "destroy before a flush");
  r.expect(destroy.status == 4711, "a refused request is untouched");
  r.flush(one);
  r.barrier();
  r.destroy(one);
  void* at = nullptr;
  std::uint64_t length = 0;
  r.expect_status(r.call.window_base(r.endpoint, one, 0, &at, &length), TSR_INVALID_ARGUMENT, "a dead handle");
  r.expect_status(r.call.put(r.endpoint, &block, &put), TSR_INVALID_ARGUMENT, "put to a dead handle");
  r.expect_status(r.call.window_destroy(r.endpoint, one, &destroy), TSR_INVALID_ARGUMENT, "destroyed twice");
}

void windows_come_and_go(rig& r) {
  for (int k = 0; k < 20; ++k) {
    tsr_window* const one = r.window(100000);
    r.fetch_add(one, r.next(), 99992, 1);
    r.barrier();
    r.expect(r.fetch_add(one, r.rank(), 99992, 0) == 1, "a new window begins at 0");
    r.barrier();
    r.destroy(one);
  }
}

void memory_that_is_not_there(rig& r) {
  tsr_window* made = nullptr;
  request done;
  const std::uint64_t length = r.rank() == r.size() - 1 ? std::uint64_t{1} << 60 : 64;
  r.need_ok(r.call.window_create(r.endpoint, length, &made, &done), "window_create");
  r.expect_status(r.finish(done, "window_create"), TSR_RESOURCE_EXHAUSTED, "at all ranks");
  r.expect(made == nullptr, "out_window is untouched");
  r.destroy(r.window(64));  // and the transport is as good as before
}

}  // namespace

std::vector<check> window_checks() {
  return {{"windows.parts", parts_are_zeroed_aligned_and_of_any_size},
          {"windows.in_place", parts_of_a_node_are_read_in_place},
          {"windows.every_size", puts_and_gets_of_every_size},
          {"windows.two_dimensions", blocks_of_two_dimensions},
          {"windows.accumulate", accumulates_of_every_type},
          {"windows.integers_wrap", integers_wrap},
          {"windows.tickets", tickets_are_given_once},
          {"windows.compare_swap", compare_swap_is_whole},
          {"windows.flush_then_message", flush_then_message},
          {"windows.many_at_once", many_at_once},
          {"windows.unflushed", a_window_with_unflushed_operations_stays},
          {"windows.come_and_go", windows_come_and_go},
          {"windows.exhausted", memory_that_is_not_there}};
}

}  // namespace tessera::transport_conformance
