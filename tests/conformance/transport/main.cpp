// transport_conformance --transport NAME|FILE [--directory DIR] [--option name=value]... [--only TEXT] [--seed N]
// [--operations N] [--patience SECONDS]: does a transport keep what tessera/transport.h says? Every sentence of the
// header that can be looked at is a check. Where all ranks are of one process each has a thread here; else the program
// runs once per rank, under the network's launcher. Exit code: 0, all passed; 1, something failed; 2, wrong arguments.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "cluster/transport/loaded_transport.hpp"
#include "core/base/error.hpp"
#include "core/plugin/option.hpp"
#include "tests/conformance/transport/rig.hpp"

namespace tessera::transport_conformance {
namespace {

struct arguments {
  cluster::transport_options what;
  std::string only;
  std::uint64_t seed = 1;
  std::chrono::seconds patience{60};
};

/// The host of the suite: keeps what went wrong last, per thread.
tsr_host make_host() {
  tsr_host host{};
  host.struct_size = sizeof host;
  host.abi_major = TSR_ABI_MAJOR;
  host.abi_minor = TSR_ABI_MINOR;
  host.error = [](void*, tsr_status, const char* message) { last_error() = message != nullptr ? message : ""; };
  host.log = [](void*, std::int32_t level, const char* line) {
    if (level > 0 && std::getenv("TRANSPORT_LOG") != nullptr) std::fprintf(stderr, "[transport] %s\n", line);
  };
  return host;
}

/// One opening of the transport.
class opened {
 public:
  opened(const cluster::loaded_transport& loaded, const arguments& how) : m_host(make_host()) {
    const auto values = plugin::check_options(loaded.name, loaded.options, how.what.values);
    std::vector<tsr_option_value> given;
    for (const plugin::option_value& value : values)
      given.push_back(
          {sizeof(tsr_option_value), value.type, value.name.c_str(), value.integer, value.number, value.text.c_str()});
    const tsr_status status =
        loaded.header.open(&m_host, given.data(), static_cast<std::uint32_t>(given.size()), &handle, &table);
    if (status != TSR_OK) throw broken(fmt::format("open: status {} ({})", status, last_error()));
    desc.struct_size = sizeof desc;
    if (table->describe(handle, &desc) != TSR_OK) throw broken("describe of the transport: " + last_error());
  }
  ~opened() {
    if (const tsr_status status = table->shutdown(handle))
      std::fprintf(stderr, "shutdown: status %d (%s)\n", status, last_error().c_str());
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;

  tsr_transport* handle = nullptr;
  const tsr_transport_table* table = nullptr;
  tsr_transport_desc desc{};

 private:
  const tsr_host m_host;
};

/// Runs a check as one rank; what failed is in the rig.
void run_rank(rig& r, const check& one) {
  try {
    one.run(r);
    if (!one.breaks) r.barrier();
  } catch (const std::exception& failure) {
    r.failures.push_back(failure.what());
    for (const std::string& text : r.failures)
      std::fprintf(stderr, "FAILED %s, rank %d: %s\n", one.name, r.rank(), text.c_str());
    r.call.abort(r.endpoint, 1, fmt::format("check {}: {}", one.name, failure.what()).c_str());  // the others end too
  }
}

/// All ranks of the job, in threads of this process, on a transport of its own.
std::vector<std::string> run_threads(const cluster::loaded_transport& loaded, const check& one, const arguments& how) {
  opened transport(loaded, how);
  std::vector<std::string> failures;
  std::mutex guard;
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < transport.desc.size; ++rank)
    threads.emplace_back([&, rank] {
      std::vector<std::string> mine;
      tsr_endpoint* endpoint = nullptr;
      const tsr_endpoint_table* table = nullptr;
      rig* context = nullptr;
      if (const tsr_status status =
              transport.table->endpoint_open(transport.handle, rank, &rig::on_message, &context, &endpoint, &table)) {
        mine.push_back(fmt::format("endpoint_open: status {} ({})", status, last_error()));
      } else {
        rig r(endpoint, *table, how.patience);
        r.seed = how.seed;
        context = &r;
        run_rank(r, one);
        if (!one.breaks) r.expect(r.inbox.empty(), fmt::format("{} messages came that nobody sent", r.inbox.size()));
        mine = r.failures;
        if (const tsr_status closed = transport.table->endpoint_close(transport.handle, endpoint))
          mine.push_back(fmt::format("endpoint_close: status {} ({})", closed, last_error()));
      }
      const std::lock_guard lock(guard);
      for (const std::string& text : mine) failures.push_back(fmt::format("rank {}: {}", rank, text));
    });
  for (std::thread& thread : threads) thread.join();
  return failures;
}

/// What is about the library itself; runs before anything is opened.
std::vector<std::string> look_at_header(const cluster::loaded_transport& loaded) {
  std::vector<std::string> failures;
  const tsr_transport_header& header = loaded.header;
  const auto expect = [&](bool holds, const char* text) {
    if (!holds) failures.emplace_back(text);
  };
  expect(header.vendor != nullptr && header.version != nullptr && header.build != nullptr,
         "vendor, version and build are texts");
  expect(header.abi_minor <= TSR_TRANSPORT_MINOR + 100, "a minor version");
  expect(header.features == 0 && header.reserved_word == 0, "features and reserved words are 0");
  for (const void* const reserved : header.reserved) expect(reserved == nullptr, "reserved pointers are NULL");
  for (const plugin::option_schema& option : loaded.options) {
    expect(!option.doc.empty() && option.doc.back() == '.', "every option has a sentence");
  }
  tsr_transport* handle = nullptr;
  const tsr_transport_table* table = nullptr;
  tsr_host host = make_host();
  expect(header.open(nullptr, nullptr, 0, &handle, &table) == TSR_INVALID_ARGUMENT, "open without a host is refused");
  expect(header.open(&host, nullptr, 0, nullptr, &table) == TSR_INVALID_ARGUMENT, "open without out_transport");
  expect(header.open(&host, nullptr, 0, &handle, nullptr) == TSR_INVALID_ARGUMENT, "open without out_table");
  expect(handle == nullptr && table == nullptr, "out_ arguments are untouched on failure");
  return failures;
}

/// endpoint_open and endpoint_close, where it does not matter if this ends the job.
std::vector<std::string> look_at_openings(const cluster::loaded_transport& loaded, const arguments& how) {
  std::vector<std::string> failures;
  const auto expect = [&](tsr_status found, tsr_status expected, const char* text) {
    if (found != expected) failures.push_back(fmt::format("{}: status {}; expected {}", text, found, expected));
  };
  opened transport(loaded, how);
  tsr_endpoint* endpoint = nullptr;
  const tsr_endpoint_table* table = nullptr;
  rig* context = nullptr;
  const auto open = [&](std::int32_t rank, tsr_receive_function receive) {
    return transport.table->endpoint_open(transport.handle, rank, receive, &context, &endpoint, &table);
  };
  const std::int32_t first = transport.desc.first_rank, count = transport.desc.local_count;
  expect(open(first - 1, &rig::on_message), TSR_OUT_OF_RANGE, "a rank before those of this process");
  expect(open(first + count, &rig::on_message), TSR_OUT_OF_RANGE, "a rank behind those of this process");
  expect(open(first, nullptr), TSR_INVALID_ARGUMENT, "no function that receives");
  if (endpoint != nullptr || table != nullptr) failures.emplace_back("out_ arguments are untouched on failure");
  expect(open(first, &rig::on_message), TSR_OK, "the first rank");
  tsr_endpoint* const kept = endpoint;
  expect(open(first, &rig::on_message), TSR_ALREADY_EXISTS, "the same rank again");
  expect(transport.table->endpoint_close(transport.handle, nullptr), TSR_INVALID_ARGUMENT, "close of nothing");
  expect(transport.table->endpoint_close(transport.handle, kept), TSR_OK, "close");
  expect(transport.table->endpoint_close(transport.handle, kept), TSR_INVALID_ARGUMENT, "closed twice");
  expect(open(first, &rig::on_message), TSR_ALREADY_EXISTS, "a rank that was open");
  tsr_endpoint_desc desc{};
  desc.struct_size = sizeof desc;
  expect(table->describe(kept, &desc), TSR_INVALID_ARGUMENT, "describe of a closed endpoint");
  return failures;
}

int run(const arguments& how) {
  const cluster::loaded_transport loaded = cluster::load_transport(how.what);
  std::vector<check> all;
  for (const auto& part :
       {argument_checks(), message_checks(), collective_checks(), window_checks(), random_checks(), loss_checks()})
    all.insert(all.end(), part.begin(), part.end());
  std::size_t passed = 0, failed = 0, left_out = 0;
  bool speaks = true;
  const auto told = [&](const std::string& name, const std::vector<std::string>& failures, bool counts) {
    if (counts || !failures.empty()) ++(failures.empty() ? passed : failed);
    for (const std::string& text : failures) std::fprintf(stderr, "FAILED %s: %s\n", name.c_str(), text.c_str());
    if (speaks) std::printf("%-6s %s\n", failures.empty() ? "ok" : "FAILED", name.c_str());
    std::fflush(stdout);
  };
  const auto wanted = [&](const std::string& name) { return name.find(how.only) != std::string::npos; };
  if (wanted("library.header")) told("library.header", look_at_header(loaded), true);
  {
    std::unique_ptr<opened> kept = std::make_unique<opened>(loaded, how);
    const bool one_process = kept->desc.local_count == kept->desc.size && kept->desc.size > 0 &&
                             kept->desc.thread_mode == TSR_THREAD_ONE_AT_A_TIME;
    if (one_process) {
      kept.reset();
      if (wanted("library.openings")) told("library.openings", look_at_openings(loaded, how), true);
      for (const check& one : all)
        if (wanted(one.name)) told(one.name, run_threads(loaded, one, how), true);
    } else {
      tsr_endpoint* endpoint = nullptr;
      const tsr_endpoint_table* table = nullptr;
      rig* context = nullptr;
      if (const tsr_status status = kept->table->endpoint_open(kept->handle, kept->desc.first_rank, &rig::on_message,
                                                               &context, &endpoint, &table))
        throw broken(fmt::format("endpoint_open: status {} ({})", status, last_error()));
      speaks = kept->desc.first_rank == 0;
      rig r(endpoint, *table, how.patience);
      r.seed = how.seed;
      context = &r;
      for (const check& one : all) {
        if (!wanted(one.name)) continue;
        if (one.breaks) {
          ++left_out;
          continue;
        }
        run_rank(r, one);
        std::int64_t others = 0;
        for (const std::int64_t count : r.agree(static_cast<std::int64_t>(r.failures.size()))) others += count;
        const auto failures = r.next_check(how.patience);
        told(fmt::format("{}{}", one.name, speaks ? "" : fmt::format(" (rank {})", r.rank())), failures, true);
        if (others != 0 && failures.empty()) ++failed;
      }
      if (const tsr_status status = kept->table->endpoint_close(kept->handle, endpoint))
        told("endpoint_close", {fmt::format("status {} ({})", status, last_error())}, true);
    }
  }
  if (speaks)
    std::printf("%zu passed, %zu failed%s\n", passed, failed,
                left_out == 0 ? "" : fmt::format(", {} left out: they end a job of processes", left_out).c_str());
  if (passed + failed == 0) {
    std::fprintf(stderr, "no check is called \"%s\"\n", how.only.c_str());
    return 2;
  }
  return failed == 0 ? 0 : 1;
}

constexpr const char* usage =
    "usage: transport_conformance --transport NAME|FILE [--directory DIR] [--option name=value]...\n"
    "                             [--only TEXT] [--seed N] [--operations N] [--patience SECONDS]\n"
    "Checks that a transport keeps what tessera/transport.h says. Under mpirun, each process is a rank.\n"
    "  --transport   a name, found as tessera_NAME.so in the directories, or a whole path\n"
    "  --only        the checks whose names have the text\n"
    "  --seed, --operations   of the random operations\n"
    "  --patience    seconds after which a check that hangs is ended\n"
    "Ends with 0 when all checks pass, 1 when one fails, 2 for a wrong argument.\n";

/// A number without a sign, all of the word; throws std::invalid_argument, which says what was given.
std::uint64_t number_of(const std::string& key, const std::string& word) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc{} || end != word.data() + word.size())
    throw std::invalid_argument(fmt::format("{} is \"{}\"; expected a number such as 7", key, word));
  return number;
}

int read(int count, char** words, arguments& out) {
  for (int i = 1; i < count; i += 2) {
    const std::string key = words[i];
    if (key == "--help" || key == "-h") {
      std::fputs(usage, stdout);
      std::exit(0);
    }
    if (i + 1 == count) {
      std::fprintf(stderr, "%s needs a value\n", key.c_str());
      return 2;
    }
    const std::string value = words[i + 1];
    const auto middle = value.find('=');
    if (key == "--transport") {
      out.what.name = value;
    } else if (key == "--directory") {
      out.what.directories.emplace_back(std::filesystem::absolute(value));
    } else if (key == "--option" && middle != std::string::npos) {
      out.what.values.push_back({value.substr(0, middle), value.substr(middle + 1), "command line"});
    } else if (key == "--only") {
      out.only = value;
    } else if (key == "--seed") {
      out.seed = number_of(key, value);
    } else if (key == "--operations") {
      random_operations() = number_of(key, value);
    } else if (key == "--patience") {
      out.patience = std::chrono::seconds(number_of(key, value));
    } else {
      std::fprintf(stderr, "unknown argument %s%s\n", key.c_str(),
                   key == "--option" ? fmt::format(" {}; expected name=value", value).c_str() : "");
      return 2;
    }
  }
  if (!out.what.name.empty()) return 0;
  std::fputs(usage, stderr);
  return 2;
}

}  // namespace
}  // namespace tessera::transport_conformance

int main(int count, char** words) {
  using namespace tessera::transport_conformance;
  try {
    arguments how;
    if (const int code = read(count, words, how)) return code;
    return run(how);
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 2;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
