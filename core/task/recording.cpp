#include "core/task/recording.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "core/base/error.hpp"
#include "core/block/table.hpp"

namespace tessera::task {

namespace {
constexpr std::uint32_t none = recorded_task::inner;
}

/// An open group of accumulates of one block.
struct graph_recorder::group {
  block::combination_number how = block::addition;
  std::vector<std::uint32_t> copies;  // indices of private blocks
  std::uint32_t adders = 0;
};

/// What the tasks so far have done with one block.
struct graph_recorder::block_state {
  std::uint32_t last_writer = none;
  std::vector<std::uint32_t> readers;  // since then
  std::unique_ptr<group> open;
  std::vector<std::uint32_t> spare_copies;  // of earlier groups
};

recording::~recording() = default;  // the scheduler has taken back what is the runtime's (see forget)

std::uint32_t recording::index_of(const block::record& b) const noexcept {
  const auto found = m_index.find(&b);
  return found == m_index.end() ? none : found->second;
}

void recording::order_locks() {
  lock_order.resize(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) lock_order[b] = b;
  std::ranges::sort(lock_order, {}, [&](std::uint32_t b) { return blocks[b].block->slot; });
}

void recording::substitute(std::span<const std::pair<const block::record*, block::record*>> pairs) {
  std::vector<block::record*> now;
  for (const recorded_block& b : blocks) now.push_back(b.block);
  for (const auto& [recorded, other] : pairs) {
    const std::uint32_t at = index_of(*recorded);
    if (at == none)
      throw error(error_kind::usage, block::name_of(*recorded) + " is not used by the recording", {},
                  "name the block on the left as it was when it was recorded");
    if (other->type != recorded->type || *other->extents != *recorded->extents)
      throw error(error_kind::usage,
                  block::name_of(*other) + " cannot take the place of " + block::name_of(*recorded) + " in a recording",
                  {}, "type and extents must be equal");
    now[at] = other;
  }
  auto sorted = now;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw error(error_kind::usage, block::name_of(**twice) + " would take two places in a recording", {},
                "exchange both blocks in one call");
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].block = now[b];
  order_locks();
}

void recording::forget_places() noexcept {
  for (const recorded_task& t : tasks) std::atomic_ref(t.place).store(no_place, std::memory_order_relaxed);
}

graph_recorder::graph_recorder(block::table& blocks, const operation::definition& reduce,
                               const operation::definition& combine, std::uint32_t max_versions)
    : m_table(blocks),
      m_reduce(reduce),
      m_combine(combine),
      m_max_versions(max_versions),
      m_recording(std::make_unique<recording>()) {
  m_recording->m_table = &blocks;
}

graph_recorder::~graph_recorder() = default;

std::uint32_t graph_recorder::index_of(block::record& b) {
  const auto [at, fresh] = m_recording->m_index.try_emplace(&b, static_cast<std::uint32_t>(m_recording->blocks.size()));
  if (fresh) {
    m_recording->blocks.emplace_back().block = &b;
    m_states.push_back(std::make_unique<block_state>());
  }
  return at->second;
}

std::uint32_t graph_recorder::new_task(const operation::definition& what, std::source_location site) {
  const auto number = static_cast<std::uint32_t>(m_recording->tasks.size());
  recorded_task t;
  t.operation = &what;
  t.site = site;
  t.first_access = static_cast<std::uint32_t>(m_accesses.size());
  m_recording->tasks.push_back(t);
  m_recording->predecessors.push_back(0);
  return number;
}

void graph_recorder::edge(std::uint32_t before, std::uint32_t after) {
  if (before == none || before == after) return;
  if (!m_edges.empty() && m_edges.back() == std::pair(before, after)) return;
  m_edges.emplace_back(before, after);
}

recorded_access graph_recorder::visit(std::uint32_t task, std::uint32_t block, intent how, bool fresh) {
  block_state& state = *m_states[block];
  recorded_block& b = m_recording->blocks[block];
  recorded_access a;
  a.block = block;
  a.intent = static_cast<std::uint32_t>(how) & 7u;
  a.fresh = fresh;
  if (how == intent::read) {
    edge(state.last_writer, task);
    if (b.first_writer == none) b.first_readers.push_back(task);
    state.readers.push_back(task);
  } else {
    if (state.readers.empty()) edge(state.last_writer, task);
    for (const std::uint32_t reader : state.readers) edge(reader, task);
    state.readers.clear();
    state.last_writer = task;
    if (b.first_writer == none) b.first_writer = task;
    ++b.versions;
  }
  a.version = b.versions & recorded_access::max_versions;  // finish() refuses more
  return a;
}

/// For the open group of a block: one that an earlier group with the same combination has had, or a new one.
std::uint32_t graph_recorder::new_private(std::uint32_t base) {
  const group& g = *m_states[base]->open;
  for (const std::uint32_t spare : m_states[base]->spare_copies)
    if (m_recording->blocks[spare].block->position == g.how && std::ranges::find(g.copies, spare) == g.copies.end())
      return spare;
  const block::record& like = *m_recording->blocks[base].block;
  block::record& fresh = m_table.create(like.type, *like.extents);
  fresh.position = g.how;
  m_recording->m_private.push_back(&fresh);
  const std::uint32_t made = index_of(fresh);
  m_states[base]->spare_copies.push_back(made);
  return made;
}

recorded_access graph_recorder::add_private(std::uint32_t task, std::uint32_t base, block::combination_number how) {
  block_state& state = *m_states[base];
  if (!state.open) {
    state.open = std::make_unique<group>();
    state.open->how = how;
  }
  group& g = *state.open;
  const std::uint32_t turn = g.adders++ % copies_per_group;
  const bool fresh_copy = turn == g.copies.size();  // this group's first use of it
  if (fresh_copy) g.copies.push_back(new_private(base));
  return visit(task, g.copies[turn], fresh_copy ? intent::write : intent::update, fresh_copy);
}

void graph_recorder::close_group(std::uint32_t base) {
  const std::unique_ptr<group> g = std::move(m_states[base]->open);
  const bool adds = g->how == block::addition;
  const std::uint32_t sum = new_task(adds ? m_reduce : m_combine, std::source_location::current());
  m_recording->tasks[sum].ends_group = true;
  if (!adds) {
    m_recording->tasks[sum].arguments = &block::combination_at(g->how);
    m_recording->tasks[sum].argument_size = sizeof(block::combination);
  }
  m_accesses.push_back(visit(sum, base, intent::update, false));
  for (const std::uint32_t copy : g->copies) m_accesses.push_back(visit(sum, copy, intent::read, false));
  m_recording->tasks[sum].access_count = static_cast<std::uint32_t>(1 + g->copies.size());
}

bool graph_recorder::add(record& t) {
  const auto accesses = t.all_accesses();
  // Groups that this task ends become tasks of their own before it.
  for (const block::access& a : accesses) {
    const std::uint32_t b = index_of(*a.block);
    const group* const open = m_states[b]->open.get();
    if (open != nullptr && (a.intent != intent::accumulate || a.space != open->how)) close_group(b);
  }
  const std::uint32_t number = new_task(*t.operation, t.site);
  if (t.operation->special == nullptr) m_recording->submitted.push_back(number);
  {
    recorded_task& r = m_recording->tasks[number];
    r.priority = t.priority;
    r.hint = t.hint;
    if ((t.rare & rare_cores) != 0) r.cores = t.more->cores;
    r.argument_size = t.argument_size;
  }
  // Additions last, as in linking: a task that also reads or writes the block does so before its own contribution
  // counts.
  const std::size_t first = m_accesses.size();
  m_accesses.resize(first + accesses.size());
  for (const bool additions : {false, true})
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      const bool adds = accesses[k].intent == intent::accumulate;
      if (adds != additions) continue;
      const std::uint32_t b = index_of(*accesses[k].block);
      // Those that commute have the order in which they were submitted, which is one of any.
      const intent how = accesses[k].intent == intent::commute ? intent::update : accesses[k].intent;
      recorded_access a = adds ? add_private(number, b, accesses[k].space) : visit(number, b, how, false);
      a.of_part = (accesses[k].flags & block::access_of_part) != 0;
      m_accesses[first + k] = a;
    }
  m_recording->tasks[number].access_count = static_cast<std::uint32_t>(accesses.size());
  recorded_task& r = m_recording->tasks[number];
  if (t.argument_size == 0) return false;
  if (!t.operation->plain_arguments) {
    m_recording->m_kept.push_back(&t);
    r.arguments = t.argument_bytes();
    return true;
  }
  const std::size_t pieces = (t.argument_size + 15) / 16;
  if (m_recording->m_plain_room - m_recording->m_plain_used < pieces) {
    constexpr std::size_t chunk = 4096;
    m_recording->m_plain_room = std::max(pieces, chunk);
    m_recording->m_plain.push_back(
        std::make_unique_for_overwrite<recording::argument_piece[]>(m_recording->m_plain_room));
    m_recording->m_plain_used = 0;
  }
  recording::argument_piece* const to = m_recording->m_plain.back().get() + m_recording->m_plain_used;
  m_recording->m_plain_used += pieces;
  std::memcpy(to, t.argument_bytes(), t.argument_size);
  r.arguments = to;
  return false;
}

void graph_recorder::count_replays(const std::shared_ptr<std::atomic<std::uint64_t>>& by) {
  auto& all = m_recording->replay_counts;
  if (std::ranges::find(all, by) == all.end()) all.push_back(by);
}

void graph_recorder::call_at_end(bool finished) {
  std::exception_ptr why;
  for (const auto& each : std::exchange(m_at_end, {})) try {
      each(finished && !why);
    } catch (...) {
      why = std::current_exception();
    }
  if (why) std::rethrow_exception(why);
}

void graph_recorder::destroyed(const block::record& b) {
  if (m_destroyed.empty() && m_recording->index_of(b) != none) m_destroyed = block::name_of(b);
}

std::unique_ptr<recording> graph_recorder::finish() {
  if (!m_destroyed.empty())
    throw error(error_kind::usage, m_destroyed + " was destroyed while tasks that use it were recorded", {},
                "make the arrays of an iteration before it is recorded, and keep them as long as the recording");
  for (std::uint32_t b = 0; b < m_states.size(); ++b)
    if (m_states[b]->open) close_group(b);
  for (const recorded_block& b : m_recording->blocks)
    if (b.versions > m_max_versions)
      throw error(error_kind::usage,
                  block::name_of(*b.block) + " is written " + std::to_string(b.versions) +
                      " times by one recording; at most " + std::to_string(m_max_versions) + " are counted",
                  {}, "record fewer tasks, and replay them more often");
  recording& result = *m_recording;
  const std::size_t count = result.tasks.size();

  // Edges by predecessor, each pair once.
  std::ranges::sort(m_edges);
  m_edges.erase(std::unique(m_edges.begin(), m_edges.end()), m_edges.end());
  std::size_t next = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    recorded_task& t = result.tasks[number];
    const std::size_t first = next;
    for (; next < m_edges.size() && m_edges[next].first == number; ++next) ++result.predecessors[m_edges[next].second];
    t.successor_count = static_cast<std::uint32_t>(next - first);
    t.first_successor = static_cast<std::uint32_t>(result.successors.size());
    const bool many = t.successor_count > recorded_task::inline_successors;
    for (std::size_t k = first; k < next; ++k) {
      if (many)
        result.successors.push_back(m_edges[k].second);
      else
        t.successors[k - first] = m_edges[k].second;
    }
    if (t.successor_count == 0) ++result.leaf_count;

    const recorded_access* const from = m_accesses.data() + t.first_access;
    if (t.access_count <= recorded_task::inline_accesses) {
      std::copy_n(from, t.access_count, t.accesses.begin());
    } else {
      t.first_access = static_cast<std::uint32_t>(result.accesses.size());
      result.accesses.insert(result.accesses.end(), from, from + t.access_count);
    }
  }

  // Who meets the world.
  const auto meets = [&](std::uint32_t t) {
    if (t == none || result.tasks[t].boundary != none) return;
    result.tasks[t].boundary = static_cast<std::uint32_t>(result.boundary.size());
    result.boundary.push_back(t);
  };
  for (std::uint32_t b = 0; b < result.blocks.size(); ++b) {
    recorded_block& block = result.blocks[b];
    block.last_writer = m_states[b]->last_writer;
    block.last_readers = std::move(m_states[b]->readers);
    for (const std::uint32_t t : block.first_readers) meets(t);
    meets(block.first_writer);
    meets(block.last_writer);
    for (const std::uint32_t t : block.last_readers) meets(t);
  }
  for (std::uint32_t t = 0; t < count; ++t)
    if (result.tasks[t].access_count == 0) result.tasks_without_blocks.push_back(t);

  result.order_locks();
  m_states.clear();
  m_edges.clear();
  m_accesses.clear();
  return std::move(m_recording);
}

}  // namespace tessera::task
