// Random operations of all ranks against a sequential oracle. Every rank makes the whole program from the same seed,
// does its own part of it, and keeps what all windows have to hold.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "tests/conformance/transport/rig.hpp"

namespace tessera::transport_conformance {

std::uint64_t& random_operations() {
  static std::uint64_t count = 10000;
  return count;
}

namespace {

constexpr std::uint64_t cells = 48, cell_bytes = 512;  // of a part
constexpr std::uint64_t row_bytes = 64, cell_rows = cell_bytes / row_bytes;

enum class use : std::uint8_t {
  nothing,
  get,
  put,
  add_f64,
  add_i64,
  ticket
};

struct step {
  use what;
  std::int32_t origin, target;
  std::uint64_t cell, first, count, value;  ///< doubles `first` .. `first + count` of the cell; or columns of all rows
  bool square;                              ///< a block of columns instead of a row of elements
};

/// What is called within one epoch: no cell is used in two ways (T6), and one that is put is put once.
std::vector<step> epoch(std::mt19937_64& random, std::int32_t ranks, std::size_t count) {
  std::map<std::pair<std::int32_t, std::uint64_t>, use> uses;
  std::vector<step> all;
  const auto below = [&](std::uint64_t n) { return random() % n; };
  while (all.size() < count) {
    step one{};
    one.origin = static_cast<std::int32_t>(below(static_cast<std::uint64_t>(ranks)));
    one.target = static_cast<std::int32_t>(below(static_cast<std::uint64_t>(ranks)));
    one.cell = below(cells);
    one.what = static_cast<use>(1 + below(5));
    if (one.what == use::ticket) one.cell &= ~std::uint64_t{1};  // of integers
    one.square = below(2) == 0;
    const std::uint64_t most = one.square ? row_bytes / 8 : cell_bytes / 8;
    one.first = below(most);
    one.count = below(most - one.first + 1);
    one.value = below(1000);
    use& used = uses[{one.target, one.cell}];
    if (used == use::nothing) {
      used = one.what;
    } else {
      one.what = used;
      if (used == use::put) continue;
    }
    if (one.what == use::ticket) one.square = false, one.first = 0, one.count = 1;
    all.push_back(one);
  }
  return all;
}

using parts = std::vector<std::vector<std::uint64_t>>;  // words of each rank's part

template <class Function>
void for_words(const step& one, Function&& function) {
  const std::uint64_t base = one.cell * cell_bytes / 8;
  const std::uint64_t rows = one.square ? cell_rows : 1;
  for (std::uint64_t row = 0, n = 0; row < rows; ++row)
    for (std::uint64_t k = 0; k < one.count; ++k, ++n) function(base + row * row_bytes / 8 + one.first + k, n);
}

/// Each cell holds doubles or integers by its number, so that sums are exact in any order.
std::uint64_t datum(const step& one, std::uint64_t n) {
  const std::uint64_t value = one.value + n;
  if (one.cell % 2 == 0) return value;
  const auto number = static_cast<double>(value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, 8);
  return bits;
}

bool of_doubles(const step& one) { return one.cell % 2 != 0; }

void apply(parts& all, const step& one) {
  auto& part = all[static_cast<std::size_t>(one.target)];
  for_words(one, [&](std::uint64_t word, std::uint64_t n) {
    if (one.what == use::put) part[word] = datum(one, n);
    if (one.what == use::ticket) part[word] += one.value;
    if (one.what != use::add_f64 && one.what != use::add_i64) return;
    if (!of_doubles(one)) {
      part[word] += datum(one, n);
      return;
    }
    double sum = 0, more = 0;
    const std::uint64_t added = datum(one, n);
    std::memcpy(&sum, &part[word], 8);
    std::memcpy(&more, &added, 8);
    sum += more;
    std::memcpy(&part[word], &sum, 8);
  });
}

struct under_way {
  request done;
  step what;
  std::vector<std::uint64_t> local;
  std::int64_t before = 0;
};

void start(rig& r, tsr_window* window, under_way& one) {
  const step& s = one.what;
  if (s.what == use::ticket) {
    r.need_ok(r.with_room(
                  [&] {
                    return r.call.fetch_add(r.endpoint, window, s.target, s.cell * cell_bytes,
                                            static_cast<std::int64_t>(s.value), &one.before, &one.done);
                  },
                  "fetch_add"),
              "fetch_add");
    return;
  }
  one.local.resize(std::max<std::uint64_t>(s.count * (s.square ? cell_rows : 1), 1));
  if (s.what != use::get) for_words(s, [&](std::uint64_t, std::uint64_t n) { one.local[n] = datum(s, n); });
  tsr_transfer block = block_of(window, s.target, s.cell * cell_bytes + s.first * 8, one.local.data(), s.count * 8);
  if (s.square) {
    block.rows = cell_rows;
    block.offset_stride = row_bytes;
    block.local_stride = s.count * 8;
  }
  const auto call = [&] {
    if (s.what == use::get) return r.call.get(r.endpoint, &block, &one.done);
    if (s.what == use::put) return r.call.put(r.endpoint, &block, &one.done);
    return r.call.accumulate(r.endpoint, &block, of_doubles(s) ? TSR_F64 : TSR_I64, &one.done);
  };
  r.need_ok(r.with_room(call, "an operation"), "an operation");
}

void random_operations_match_the_oracle(rig& r) {
  constexpr std::size_t per_epoch = 200;
  std::mt19937_64 random(r.seed);  // the same at all ranks
  const auto ranks = static_cast<std::size_t>(r.size());
  parts expected(ranks, std::vector<std::uint64_t>(cells * cell_bytes / 8));
  tsr_window* const window = r.window(cells * cell_bytes);
  std::vector<std::uint32_t> heard(ranks);
  r.listen([&](std::int32_t source, std::uint32_t id, auto, std::span<const std::byte> payload) {
    r.expect(id == heard[static_cast<std::size_t>(source)]++, fmt::format("message {} of rank {}", id, source));
    const auto data = pattern(payload.size(), id);
    r.expect(std::equal(payload.begin(), payload.end(), data.begin()), fmt::format("payload of {}", id));
  });
  std::vector<std::uint32_t> told(ranks);
  std::uint32_t total_told = 0;
  std::uint64_t number = 0;
  for (std::uint64_t done = 0; done < random_operations() && r.failures.empty(); done += per_epoch, ++number) {
    const std::vector<step> program = epoch(random, r.size(), per_epoch);
    const parts before = expected;
    std::deque<under_way> mine;
    std::deque<std::pair<request, std::vector<std::byte>>> messages;
    std::mt19937_64 own(r.seed * 1000 + number * 100 + static_cast<std::uint64_t>(r.rank()));
    for (const step& one : program) {
      apply(expected, one);
      if (one.origin != r.rank()) continue;
      mine.emplace_back().what = one;
      start(r, window, mine.back());
      if (own() % 4 == 0) {
        const auto to = static_cast<std::size_t>(own() % ranks);
        auto& [sent, payload] = messages.emplace_back();
        payload = pattern(own() % 3 == 0 ? own() % 20000 : own() % 50, told[to]);
        const tsr_message message{
            sizeof(tsr_message), static_cast<std::int32_t>(to), told[to]++, 0, nullptr, payload.data(), payload.size()};
        r.need_ok(r.with_room([&] { return r.call.send(r.endpoint, &message, &sent); }, "send"), "send");
        ++total_told;
      }
      if (own() % 8 == 0) r.progress(static_cast<std::uint32_t>(own() % 3));
      if (own() % 50 == 0) r.flush(own() % 2 == 0 ? window : nullptr, one.target);
    }
    for (under_way& one : mine) r.finish_ok(one.done, "an operation");
    for (auto& [sent, payload] : messages) r.finish_ok(sent, "a message");
    r.flush(window);
    r.barrier();
    for (const under_way& one : mine) {
      const auto& part = before[static_cast<std::size_t>(one.what.target)];
      if (one.what.what == use::get)
        for_words(one.what, [&](std::uint64_t word, std::uint64_t n) {
          if (one.local[n] != part[word] && r.failures.empty())
            r.expect(false, fmt::format("epoch {}: a get from rank {} read {:#x} in word {}; expected {:#x}", number,
                                        one.what.target, one.local[n], word, part[word]));
        });
      if (one.what.what == use::ticket) {
        const std::uint64_t word = one.what.cell * cell_bytes / 8;
        const auto least = static_cast<std::int64_t>(part[word]);
        const auto most = static_cast<std::int64_t>(expected[static_cast<std::size_t>(one.what.target)][word]);
        r.expect(one.before >= least && one.before + static_cast<std::int64_t>(one.what.value) <= most,
                 fmt::format("epoch {}: fetch_add saw {}; expected {} to {}", number, one.before, least, most));
      }
    }
    const auto& own_part = expected[static_cast<std::size_t>(r.rank())];
    if (std::memcmp(r.base(window, r.rank()), own_part.data(), own_part.size() * 8) != 0)
      for (std::size_t word = 0; word < own_part.size() && r.failures.empty(); ++word) {
        std::uint64_t found = 0;
        std::memcpy(&found, r.base(window, r.rank()) + word * 8, 8);
        r.expect(found == own_part[word], fmt::format("epoch {}: word {} of the own part is {:#x}; expected {:#x}",
                                                      number, word, found, own_part[word]));
      }
    r.barrier();
  }
  // All of what was told is heard.
  std::int64_t all = 0;
  for (std::int32_t from = 0; from < r.size(); ++from) {
    std::vector<std::int64_t> row(ranks);
    if (from == r.rank())
      for (std::size_t k = 0; k < ranks; ++k) row[k] = told[k];
    for (std::size_t k = 0; k < ranks; ++k) {
      const auto counts = r.agree(row[k]);
      if (static_cast<std::int32_t>(k) == r.rank()) all += counts[static_cast<std::size_t>(from)];
    }
  }
  r.until(
      [&] {
        std::int64_t sum = 0;
        for (const std::uint32_t one : heard) sum += one;
        return sum == all;
      },
      "every message");
  r.barrier();
  r.listen(nullptr);
  r.destroy(window);
}

}  // namespace

std::vector<check> random_checks() { return {{"random.operations", random_operations_match_the_oracle}}; }

}  // namespace tessera::transport_conformance
