#include "plugins/disk/settings.hpp"

#include <algorithm>
#include <cstdlib>

#include "plugins/disk/cells.hpp"

namespace tessera::disk {
namespace {

constexpr std::uint32_t size = sizeof(tsr_option);

const tsr_option options[] = {
    {size, TSR_OPTION_STRING, "path", nullptr, 0, 0, nullptr,
     "An existing directory on the disk to use; a private directory below it holds the data and goes at the end. "
     "Without it: $TMPDIR, or /tmp."},
    {size, TSR_OPTION_BYTES, "capacity", nullptr, 4096, 9e18, nullptr,
     "Bytes that may be allocated; without it, nine tenths of what is free there (layout single needs it)."},
    {size, TSR_OPTION_STRING, "layout", "files", 0, 0, "files|single",
     "files: a file per slab, its space taken with it and given back with it; single: one file of the whole capacity, "
     "taken at once."},
    {size, TSR_OPTION_STRING, "io", "auto", 0, 0, "auto|io_uring|threads",
     "auto: io_uring, or threads where the kernel or the build has none; io_uring: an error where there is none."},
    {size, TSR_OPTION_INT, "queue_depth", "32", 1, 4096, nullptr,
     "Requests of one stream under way at once (io_uring)."},
    {size, TSR_OPTION_INT, "threads", "4", 1, 256, nullptr,
     "Threads that read and write beside the streams' own (threads)."},
    {size, TSR_OPTION_BYTES, "piece", "1 MiB", 4096, 67108864, nullptr, "Bytes of one request; a multiple of 4 KiB."},
    {size, TSR_OPTION_BOOL, "direct", "false", 0, 0, nullptr,
     "Go around the operating system's page cache (O_DIRECT), where the file system can."},
    {size, TSR_OPTION_BOOL, "checksum", "true", 0, 0, nullptr,
     "Keep a CRC32C of every 4 KiB that are written and compare it whenever they are read."},
    {size, TSR_OPTION_RATE, "bandwidth", "1 GiB/s", 1, 1e15, nullptr,
     "What one copy is assumed to reach, for planning."},
    {size, TSR_OPTION_DURATION, "latency", "100 us", 0, 1e12, nullptr, "Of one small copy, for planning."},
    {size, TSR_OPTION_BYTES, "faults.fail_after_bytes", nullptr, 1, 9e18, nullptr,
     "For tests: requests fail with an I/O error once so many bytes were moved."},
    {size, TSR_OPTION_BYTES, "faults.full_after_bytes", nullptr, 1, 9e18, nullptr,
     "For tests: writes fail as on a full disk once so many bytes were written."},
    {size, TSR_OPTION_INT, "faults.corrupt_read", nullptr, 1, 9e18, nullptr,
     "For tests: one bit is flipped in what the request of this number reads."},
    {size, TSR_OPTION_BOOL, "faults.short_io", "false", 0, 0, nullptr,
     "For tests: every request moves a part of its bytes at first."},
    {size, TSR_OPTION_BOOL, "faults.refuse_io_uring", "false", 0, 0, nullptr,
     "For tests: as if the kernel refused io_uring."},
};

std::uint64_t positive(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)); }

std::string temporary_directory() {
  const char* named = ::secure_getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

}  // namespace

const tsr_option* option_schema(std::uint32_t& count) {
  count = sizeof options / sizeof options[0];
  return options;
}

tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out) {
  settings s;
  s.path = option.text("path", "");
  if (s.path.empty()) s.path = temporary_directory();
  while (s.path.size() > 1 && s.path.back() == '/') s.path.pop_back();
  s.capacity = positive(option.integer("capacity", 0)) / cell_bytes * cell_bytes;
  const auto layout = option.text("layout", "files"), io = option.text("io", "auto");
  if (layout != "files" && layout != "single")
    return report.fail(TSR_INVALID_ARGUMENT, "layout is '%s'; expected files or single", layout.c_str());
  s.layout = layout == "single" ? layout_kind::single : layout_kind::files;
  if (io != "auto" && io != "io_uring" && io != "threads")
    return report.fail(TSR_INVALID_ARGUMENT, "io is '%s'; expected auto, io_uring or threads", io.c_str());
  s.io = io == "auto" ? io_kind::automatic : io == "threads" ? io_kind::threads : io_kind::io_uring;
  s.queue_depth = static_cast<std::uint32_t>(option.integer("queue_depth", s.queue_depth));
  s.threads = static_cast<std::uint32_t>(option.integer("threads", s.threads));
  s.piece = positive(option.integer("piece", static_cast<std::int64_t>(s.piece)));
  s.direct = option.flag("direct", s.direct);
  s.checksum = option.flag("checksum", s.checksum);
  s.bandwidth = option.number("bandwidth", s.bandwidth);
  s.latency_ns = positive(option.integer("latency", static_cast<std::int64_t>(s.latency_ns)));
  s.faults.fail_after_bytes = positive(option.integer("faults.fail_after_bytes", 0));
  s.faults.full_after_bytes = positive(option.integer("faults.full_after_bytes", 0));
  s.faults.corrupt_read = positive(option.integer("faults.corrupt_read", 0));
  s.faults.short_io = option.flag("faults.short_io", false);
  s.faults.refuse_io_uring = option.flag("faults.refuse_io_uring", false);
  if (s.piece == 0 || s.piece % cell_bytes != 0 || s.piece > (64u << 20))
    return report.fail(TSR_INVALID_ARGUMENT, "piece is %llu bytes; expected a multiple of %llu up to 64 MiB",
                       static_cast<unsigned long long>(s.piece), static_cast<unsigned long long>(cell_bytes));
  if (s.queue_depth == 0 || s.queue_depth > 4096 || s.threads == 0 || s.threads > 256 || !(s.bandwidth > 0))
    return report.fail(TSR_INVALID_ARGUMENT, "queue_depth is 1 to 4096, threads 1 to 256, bandwidth positive");
  if (s.layout == layout_kind::single && s.capacity == 0)
    return report.fail(TSR_INVALID_ARGUMENT,
                       "layout single takes the whole capacity at once: say how much with 'capacity'");
  out = std::move(s);
  return TSR_OK;
}

}  // namespace tessera::disk
