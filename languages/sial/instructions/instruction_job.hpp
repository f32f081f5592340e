#pragma once
// A worker as its super instructions see it.
#include <tessera/sial.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "languages/sial/data/init_data.hpp"

namespace tessera::sial {

/// What super instructions ask of the interpreter that runs the program. Called on the worker's thread.
class instruction_host {
 public:
  virtual ~instruction_host() = default;
  /// Text for the program's output, under its rules (one worker's, unless all print). Lines end with "\n".
  virtual void print(std::string_view text) = 0;
  /// enable_all_rank_print, disable_all_rank_print.
  virtual void print_on_all_workers(bool) {}
  /// enable_debug_print, disable_debug_print.
  virtual void print_for_debugging(bool) {}
  /// The worker's blocks, a line each, for list_block_map and list_blocks_with_number.
  virtual std::string list_blocks() { return {}; }
};

/// Data, numbers and services for the instructions of one worker; used by one thread at a time. Refers to data and
/// host, which outlive it.
class instruction_job {
 public:
  instruction_job(const init_data& data, std::int32_t worker, std::int32_t workers, instruction_host& host);
  instruction_job(const instruction_job&) = delete;
  instruction_job& operator=(const instruction_job&) = delete;

  const init_data& data() const noexcept { return m_data; }
  instruction_host& host() const noexcept { return m_host; }
  std::int32_t worker() const noexcept { return m_table.worker; }
  std::int32_t workers() const noexcept { return m_table.workers; }

  /// Memory until end_call(), not initialized; null when there is none.
  double* scratch(std::int64_t elements) noexcept;
  void end_call() noexcept {
    m_scratch.clear();
    m_thrown = nullptr;
  }

  /// For C functions; its address is stable.
  const sial_job* table() const noexcept { return &m_table; }
  /// What the last C function said through `fail`; forgets it.
  std::string take_failure() { return std::exchange(m_failure, {}); }
  /// Throws what the host threw while the last C function printed; forgets it.
  void rethrow();

 private:
  friend struct job_functions;
  const init_data& m_data;
  instruction_host& m_host;
  sial_job m_table{};
  std::vector<std::unique_ptr<double[]>> m_scratch;
  std::string m_failure;
  std::exception_ptr m_thrown;
};

}  // namespace tessera::sial
