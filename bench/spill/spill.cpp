// Jobs on the host whose data are twice the memory that it may use, with the plugin disk behind it; and the disk's own
// rate.
//
//   bench_spill --case disk                              what the disk does by itself, with blocks of the same size
//   bench_spill --case stream                            all blocks written, read, and replaced, in order, by tasks
//   bench_spill --case gemm|potrf --n 4096 --tile 512    the same as without a limit, which is measured too
//
// --direct 1 goes around the page cache, so that bytes really reach the disk and come from there; --direct 0 leaves
// them to the system, which keeps them in memory when it can. Every result is checked. Bytes are counted by the
// runtime.
#include <atomic>
#include <optional>

#include "apps/cholesky/factorization.hpp"
#include "apps/gemm/multiplication.hpp"
#include "bench/common/matrix.hpp"
#include "bench/common/traffic_bound.hpp"
#include "bench/spill/disk_rate.hpp"

namespace bench {
namespace {

struct options {
  std::string what, path, io;
  std::int64_t n = 0, tile = 0;
  std::uint64_t block = 0, blocks = 0;  ///< bytes, and how many (disk, stream)
  long percent = 200, rounds = 1;
  bool direct = true;
  int workers = 2;
};

/// The host with so many bytes for blocks and a disk behind it; 0: without a limit and a disk.
tessera::machine machine_of(const options& o, std::uint64_t limit, std::uint64_t capacity, const std::string& io) {
  std::string text = "[runtime]\nworkers = " + std::to_string(o.workers) + "\nhistory = \"off\"\nplugins = [\"host\"" +
                     (limit == 0 ? "" : ", \"disk\"") + "]\n";
  if (limit != 0)
    text += "[memory]\nhost_limit = \"" + std::to_string(limit) + " B\"\n[plugin.disk]\npath = \"" + o.path +
            "\"\ncapacity = \"" + std::to_string(capacity) + " B\"\ndirect = " + (o.direct ? "true" : "false") +
            "\nio = \"" + io + "\"\n";
  tessera::config::document configuration = tessera::config::document::parse(text);
  return tessera::hierarchy::assemble(configuration);
}

/// What `auto` comes to: io_uring where it can be had.
std::string io_of(const options& o) {
  if (o.io != "auto") return o.io;
  try {
    const tessera::machine trial = machine_of(o, 64 << 20, 64 << 20, "io_uring");
    return "io_uring";
  } catch (const tessera::error&) {
    return "threads";
  }
}

struct traffic {
  double in = 0, out = 0;  ///< bytes from and to the disk
};

traffic moved(const tessera::runtime& rt) {
  traffic sum;
  for (const auto& l : rt.statistics().links) {
    if (l.from.starts_with("disk")) sum.in += double(l.bytes);
    if (l.to.starts_with("disk")) sum.out += double(l.bytes);
  }
  return sum;
}

struct result {
  double seconds = 0;
  traffic bytes;
};

/// Runs a job until its last task is done and counts what it moved. A copy counts when it starts: the last write-backs
/// may still be under way.
template <class Submit>
result timed(tessera::runtime& rt, Submit submit) {
  const traffic before = moved(rt);
  const double began = now();
  submit();
  rt.fence();
  result r{.seconds = now() - began, .bytes = moved(rt)};
  r.bytes.in -= before.in;
  r.bytes.out -= before.out;
  return r;
}

class rows {
 public:
  rows(const options& o, std::string io) : m_options(o), m_io(std::move(io)) {}
  void say(const std::string& runtime, const std::string& kase, const char* metric, double value) const {
    row("spill", runtime, kase + (m_options.direct ? "_direct" : "_cached"), m_options.workers, metric, value);
  }
  /// A job with its lower bounds, in bytes.
  void job(const std::string& kase, const result& r, double in, double out) const {
    say("Tessera", kase, "seconds", r.seconds);
    say("Tessera", kase, "bytes_in", r.bytes.in);
    say("Tessera", kase, "bytes_out", r.bytes.out);
    say("Tessera", kase, "bound_in", in);
    say("Tessera", kase, "bound_out", out);
    say("Tessera", kase, "io_uring", m_io == "io_uring");
  }

 private:
  const options& m_options;
  std::string m_io;
};

void measure_disk(const options& o, const std::string& io) {
  const rows to(o, io);
  const std::string kase = "disk_block" + std::to_string(o.block >> 10) + "K";
  const auto say = [&](const std::string& who, const disk_rate& r) {
    to.say(who, kase, "first_write_mib_per_s", r.first / (1 << 20));
    to.say(who, kase, "write_mib_per_s", r.write / (1 << 20));
    to.say(who, kase, "read_mib_per_s", r.read / (1 << 20));
  };
  for (const int threads : {1, 2, 4, 8})
    say("pwrite/pread, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
        plain_rate(o.path, o.block, o.blocks, threads, o.direct));
  const tessera::machine machine = machine_of(o, 64 << 20, o.block * o.blocks + (64 << 20), io);
  for (const auto& device : machine.plugins->devices())
    if (device->plugin_name() == "disk") say("plugin disk", plugin_rate(*device, o.block, o.blocks));
}

/// Word k of a block in its n-th version.
constexpr std::int64_t word(std::uint64_t block, std::uint64_t version, std::uint64_t k) {
  return std::int64_t((block * 31 + version) * 0x9e3779b97f4a7c15ull + k * 0xbf58476d1ce4e5b9ull);
}

using words = tessera::view<std::int64_t>;
using seen_words = tessera::view<const std::int64_t>;

template <class View>
bool differs(View x, std::uint64_t block, std::uint64_t version) {
  std::int64_t d = 0;
  for (std::int64_t k = 0; k < x.size(); ++k) d |= x[k] ^ word(block, version, std::uint64_t(k));
  return d != 0;
}

void write(words x, std::uint64_t block, std::uint64_t version) {
  for (std::int64_t k = 0; k < x.size(); ++k) x[k] = word(block, version, std::uint64_t(k));
}

void measure_stream(const options& o, const std::string& io) {
  const rows to(o, io);
  const std::uint64_t data = o.block * o.blocks, limit = data * 100 / std::uint64_t(o.percent);
  tessera::runtime rt(machine_of(o, limit, data + (256u << 20), io));
  const double least = double(data - limit);
  const auto length = std::int64_t(o.block / sizeof(std::int64_t));
  std::atomic<std::uint64_t> wrong{0};
  for (long r = 0; r < o.rounds; ++r) {
    auto a = rt.make_array<std::int64_t>("data", {std::int64_t(o.blocks) * length}, {length});
    const auto for_all = [&](auto submit) {
      return timed(rt, [&] {
        for (std::uint64_t b = 0; b < o.blocks; ++b) submit(b);
      });
    };
    const auto read_all = [&](std::uint64_t version) {
      return for_all([&](std::uint64_t b) {
        rt.submit(
            "read", [&wrong, b, version](seen_words x) { wrong += differs(x, b, version); },
            tessera::read(a(std::int64_t(b))));
      });
    };
    const result written = for_all([&](std::uint64_t b) {
      rt.submit(
          "write", [b](words x) { write(x, b, 1); }, tessera::write(a(std::int64_t(b))));
    });
    const result read = read_all(1);
    const result replaced = for_all([&](std::uint64_t b) {
      rt.submit(
          "replace", [&wrong, b](words x) { wrong += differs(x, b, 1), write(x, b, 2); },
          tessera::update(a(std::int64_t(b))));
    });
    read_all(2);
    if (wrong != 0) fail("stream: " + std::to_string(wrong) + " blocks are not what was written");
    const std::string round = r == 0 ? "_first" : "";  // memory and disk are taken, and touched for the first time
    to.job("write" + round, written, 0, least);
    to.job("read" + round, read, least, 0);
    to.job("replace" + round, replaced, least, least);
  }
}

double element(std::int64_t i, std::int64_t j) { return noise(long(i), long(j)); }
double other_element(std::int64_t i, std::int64_t j) { return noise(long(j) + 7, long(i)); }

result run_product(const options& o, tessera::runtime& rt) {
  const auto make = [&](const char* name) { return rt.make_matrix<double>(name, {o.n, o.n}, {o.tile, o.tile}); };
  auto a = make("A"), b = make("B"), c = make("C");
  fill(rt, a, element);
  fill(rt, b, other_element);
  const result r = timed(rt, [&] { tessera::apps::multiply(rt, a, b, c, tessera::apps::memory_budget_of(rt)); });
  const column x = test_vector(o.n);
  compare("gemm", times(c, x), times(a, times(b, x)));
  return r;
}

result run_factorization(const options& o, tessera::runtime& rt) {
  auto a = rt.make_matrix<double>("A", {o.n, o.n}, {o.tile, o.tile});
  auto info = rt.make_array<std::int32_t>("info", {a.counts()[0]}, {1});
  const auto definite = [n = o.n](std::int64_t i, std::int64_t j) {
    return i == j ? double(n) : element(std::max(i, j), std::min(i, j));
  };
  for (std::int64_t j = 0; j < a.counts()[1]; ++j)  // the lower half: no more is needed, and no more is counted
    for (std::int64_t i = j; i < a.counts()[0]; ++i)
      rt.submit(
          "noise",
          [definite, row = i * o.tile, col = j * o.tile](tessera::matrix_view<double> t) {
            for (std::int64_t q = 0; q < t.extent(1); ++q)
              for (std::int64_t p = 0; p < t.extent(0); ++p) t(p, q) = definite(row + p, col + q);
          },
          tessera::write(a(i, j)));
  rt.fence();
  const result r = timed(rt, [&] { tessera::apps::factorize(rt, a, info, tessera::apps::memory_budget_of(rt)); });
  check_factor(a, definite);
  return r;
}

void measure_dense(const options& o, const std::string& io) {
  const rows to(o, io);
  const bool product = o.what == "gemm";
  const double n = double((o.n + o.tile - 1) / o.tile), tile = double(o.tile) * double(o.tile) * sizeof(double);
  const double data = product ? 3 * n * n : n * (n + 1) / 2, room = std::floor(data * 100 / double(o.percent));
  const auto limit = std::uint64_t(room * tile + n * 4096);  // and the pivots' flags
  const std::string kase = o.what + "_n" + std::to_string(o.n) + "_tile" + std::to_string(o.tile);
  // Tiles of the job's data may be in memory before it begins and may stay there in the end.
  const double views = product ? product_views(n, room) : factorization_views(n, room);
  const double in = std::max({0.0, (product ? 2 * n * n : data) - room, views - room - (product ? n * n : 0)});
  const double out = product ? 0 : data - room;
  const auto once = [&](std::uint64_t bytes) {
    tessera::runtime rt(machine_of(o, bytes, std::uint64_t(2 * data * tile) + (256u << 20), io));
    return product ? run_product(o, rt) : run_factorization(o, rt);
  };
  for (long r = 0; r < o.rounds; ++r) {
    to.say("Tessera", kase, "in_memory_seconds", once(0).seconds);
    to.job(kase, once(limit), in * tile, out * tile);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::arguments args(
      argc, argv, {"case", "n", "tile", "block", "mib", "percent", "direct", "io", "path", "workers", "rounds"});
  bench::options o;
  o.what = args.text("case", "stream");
  const char* folder = std::getenv("TMPDIR");
  o.path = args.text("path", folder != nullptr && *folder != '\0' ? folder : "/tmp");
  o.io = args.text("io", "auto");
  o.n = args.number("n", 4096);
  o.tile = args.number("tile", 512);
  o.block = std::uint64_t(args.number("block", 2048)) << 10;
  o.blocks = o.block == 0 ? 0 : (std::uint64_t(args.number("mib", 4096)) << 20) / o.block;
  o.percent = args.number("percent", 200);
  o.rounds = args.number("rounds", 2);
  o.direct = args.number("direct", 1) != 0;
  o.workers = int(args.number("workers", 2));
  const bool dense = o.what == "gemm" || o.what == "potrf";
  if ((!dense && o.what != "stream" && o.what != "disk") || o.n < 1 || o.tile < 1 || o.tile > o.n || o.blocks < 8 ||
      o.percent < 100 || o.rounds < 1 || o.workers < 1 || (o.io != "auto" && o.io != "io_uring" && o.io != "threads")) {
    std::fprintf(stderr,
                 "--case is disk, stream, gemm or potrf; --io auto, io_uring or threads; --n, --workers, --rounds "
                 "start at 1, --percent at 100;\n"
                 "--tile is from 1 to n; --mib (all data) holds at least 8 blocks of --block KiB\n");
    return 2;
  }
  try {
    const std::string io = bench::io_of(o);
    if (o.what == "disk")
      bench::measure_disk(o, io);
    else if (dense)
      bench::measure_dense(o, io);
    else
      bench::measure_stream(o, io);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
