#pragma once
// Owner of all block records of a runtime.
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/block/record.hpp"
#include "core/trace/tracer.hpp"

namespace tessera::block {

/// Keeps records at stable addresses and reuses them. Thread-safe. The memory of replicas is not its business: a record
/// given back must hold none. Who still refers to a record whose table has ended finds no owner there (0): the
/// addresses of the last eight million records stay readable.
class table {
 public:
  table();
  table(const table&) = delete;
  table& operator=(const table&) = delete;
  ~table();

  /// That records in use have as their owner. No two tables of a process have the same; the first has 1.
  std::uint32_t number() const noexcept { return m_number; }

  /// Writes down which block is in which slot from now on.
  void record_to(trace::tracer& events) noexcept { m_tracer = &events; }

  /// A record with no replica and no writer. `from` comes from make_origin, or is null. Throws tessera::error (usage)
  /// for more than 2^48 bytes.
  record& create(element_type type, const shape& extents, const origin* from = nullptr, std::uint32_t position = 0);

  /// Gives a record back for reuse. Nothing may refer to it any more and all replicas must be absent.
  void destroy(record& block);

  /// Records given back from now on are reused only after `count` others: who still refers to one sees no other block
  /// in it.
  void keep_destroyed(std::size_t count);

  /// Remembers an array's name until the last of its blocks is destroyed; at least one must be created.
  void forget_origin(const origin* from);  ///< one that no block refers to
  const origin* make_origin(std::string array_name, std::vector<std::int64_t> counts, bool last_is_fastest = false,
                            std::int64_t per_element = 1);

  /// Number of records in use.
  std::size_t size() const;
  /// Number of array names that are remembered.
  std::size_t origins() const;

  /// Calls function(record&) for every record in use, in slot order. No record may be created or destroyed meanwhile by
  /// the function itself; other threads wait.
  template <class Function>
  void for_each(Function&& function) {
    const std::lock_guard guard(m_mutex);
    for (std::size_t slot = 0; slot < m_used.size(); ++slot)
      if (m_used[slot]) function((*m_chunks[slot / chunk_records])[slot % chunk_records]);
  }

 private:
  static constexpr std::size_t chunk_records = 1024;
  using record_chunk = std::array<record, chunk_records>;
  static constexpr std::size_t region_chunks = 8,
                               region_bytes =
                                   region_chunks *
                                   sizeof(
                                       record_chunk);  // of one piece of memory; all but the first ask for huge pages
  struct region_end {
    std::size_t chunks = 0;  // made in it
    void operator()(record_chunk* first) const noexcept;
  };
  record_chunk& add_chunk();  // under m_mutex
  struct shape_less {
    bool operator()(const shape& a, const shape& b) const noexcept;
  };

  void trace_creation(const record& block) const;

  const std::uint32_t m_number;
  trace::tracer* m_tracer = nullptr;  // null: nothing is recorded
  mutable std::mutex m_mutex;
  std::vector<std::unique_ptr<record_chunk[], region_end>> m_regions;
  std::vector<record_chunk*> m_chunks;
  std::vector<bool> m_used;
  std::vector<std::uint32_t> m_free;
  std::deque<std::uint32_t> m_kept;  // free, but not yet to be reused
  std::size_t m_keep = 0;
  std::map<shape, std::unique_ptr<shape>, shape_less> m_shapes;
  std::unordered_map<const origin*, std::unique_ptr<origin>> m_origins;
};

}  // namespace tessera::block
