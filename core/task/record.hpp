#pragma once
// One task: 256 bytes, reused through a pool, referred to by address and generation.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/atomic.hpp"
#include "core/block/record.hpp"
#include "core/operation/definition.hpp"
#include "core/task/group.hpp"
#include "core/task/source.hpp"

namespace tessera::task {

inline constexpr std::uint16_t no_place = 0xffff;      ///< a task has not been placed yet
inline constexpr std::uint32_t no_hint = 0xffff'ffff;  ///< a task may run anywhere

struct record;

/// "When that task has been enqueued or has run, count one down here." Belongs to the successor's record and lives as
/// long as it waits.
struct alignas(16) edge {
  edge* next = nullptr;
  record* successor = nullptr;
};

/// What does not fit into the 256 bytes. Once made it stays with the record, so that reuse allocates nothing. What
/// every life of a record touches is in the first line.
struct alignas(64) overflow {
  struct edge_node {
    edge e;
    std::unique_ptr<edge_node> next;
  };
  std::unique_ptr<edge_node> edges;        ///< beyond the inline ones
  edge_node* next_edge = nullptr;          ///< first unused one of them
  source* from = nullptr;                  ///< the statement that it comes from, if a front end named one
  std::vector<block::accumulation*> sums;  ///< per access: the group of an accumulate, else null
  task::group* group = nullptr;            ///< that it belongs to; with rare_group
  std::uint16_t cores = 1;                 ///< that it runs on; with rare_cores
  std::string name;                        ///< when it is not its operation's; see record::name
  std::vector<block::access> accesses;     ///< all of them, when there are more than four
  std::vector<std::byte> arguments;        ///< when they are larger than the inline bytes
};

enum : std::uint8_t {              // record::flags
  flag_many_accesses = 1u << 0,    ///< accesses are in overflow
  flag_large_arguments = 1u << 1,  ///< arguments are in overflow
  flag_acquired = 1u << 2,         ///< replicas are pinned; only tickets were missing
  flag_accumulates = 1u << 3,      ///< overflow::sums is in use
  flag_reduction = 1u << 4,        ///< ends a group of accumulates (overflow::sums[0])
  flag_prepared = 1u << 5,         ///< private copies have been assigned
  flag_replayed = 1u << 6,         ///< of a recording: `arguments` hold a replayed_task
  flag_fresh = 1u << 7             ///< some access has access_fresh
};

enum : std::uint8_t {           // record::rare
  rare_group = 1u << 0,         ///< of a group
  rare_cores = 1u << 1,         ///< on the host it runs on several cores
  rare_commutes = 1u << 2,      ///< some access commutes: it asks for its blocks when it is ready
  rare_holds_blocks = 1u << 3,  ///< it has got them, and gives them back
};

enum : std::uint8_t {        // access::flags, with block::access_of_part
  access_fresh = 1u << 0,    ///< a private copy that must be filled with the identity first
  access_commutes = 1u << 1  ///< an update that was a commute
};

struct replay;  // one run of a recording (replay.hpp)

/// What a task of a replay keeps instead of its arguments.
struct replayed_task {
  void* arguments = nullptr;  ///< the recording's
  tessera::task::replay* replay = nullptr;
  std::uint32_t index = 0;  ///< in the recording
};

/// A task. Filled by one submitter, then touched by the thread that runs it; `successors` and `dependencies` by all.
struct alignas(64) record {
  // Line 0: synchronisation and identity.
  atomic<std::uint64_t> successors{0};  ///< generation and stack of edges; see flow.hpp
  atomic<std::int32_t> dependencies{0};
  std::uint8_t access_count = 0;
  std::uint8_t flags = 0;
  std::int16_t priority = 0;
  const operation::definition* operation = nullptr;
  record* next = nullptr;          ///< queues and free lists
  std::uint64_t sequence = 0;      ///< order of submission, for ages
  std::source_location site;       ///< where it was submitted (one pointer)
  std::uint8_t rare = 0;           ///< what few tasks have
  std::uint16_t place = no_place;  ///< chosen place; no_place: none yet
  std::uint32_t hint = no_hint;    ///< location asked for by the submitter
  void* extension = nullptr;       ///< special operations' own

  // Line 1: the first four accesses.
  std::array<block::access, 4> accesses;

  // Line 2: arguments.
  static constexpr std::size_t inline_arguments = 48;
  alignas(16) std::array<std::byte, inline_arguments> arguments;
  std::unique_ptr<overflow> more;
  std::uint32_t argument_size = 0;  ///< bytes of the arguments, wherever they are
  std::uint8_t edge_count = 0;      ///< inline edges in use
  std::uint16_t owner = 0;          ///< number of the thread context whose pool it belongs to

  // Line 3: the first four edges.
  std::array<edge, 4> edges;

  std::span<block::access> all_accesses() noexcept {
    return (flags & flag_many_accesses) != 0 ? std::span(more->accesses) : std::span(accesses.data(), access_count);
  }
  void* argument_bytes() noexcept {
    if ((flags & (flag_large_arguments | flag_replayed)) == 0) return arguments.data();
    return (flags & flag_replayed) != 0 ? replayed().arguments : more->arguments.data();
  }
  /// Its operation's, or its own where many names share one operation.
  std::string_view name() const noexcept {
    return more && !more->name.empty() ? std::string_view(more->name) : std::string_view(operation->name);
  }
  source* from() const noexcept { return more ? more->from : nullptr; }
  replayed_task& replayed() noexcept { return *reinterpret_cast<replayed_task*>(arguments.data()); }
  overflow& need_more() {
    if (!more) more = std::make_unique<overflow>();
    return *more;
  }
  edge& new_edge() {
    if (edge_count < edges.size()) return edges[edge_count++];
    overflow& o = need_more();
    if (o.next_edge == nullptr) {  // grow the chain; it is reused from its start by the next task in this record
      auto node = std::make_unique<overflow::edge_node>();
      node->next = std::move(o.edges);
      o.edges = std::move(node);
      return o.edges->e;
    }
    edge& e = o.next_edge->e;
    o.next_edge = o.next_edge->next.get();
    return e;
  }
};
static_assert(sizeof(record) == 256);

}  // namespace tessera::task
