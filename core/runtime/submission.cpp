// The way in: a task's record is taken, filled and handed to the scheduler.
#include <fmt/format.h>

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <cstring>
#include <limits>
#include <ranges>

#include "core/base/call_site.hpp"
#include "core/base/units.hpp"
#include "core/runtime/inside.hpp"
#include "tessera/detail/task.hpp"
#include "tessera/detail/task_group.hpp"

namespace tessera {

namespace {

/// "read, update".
template <class Range>
std::string in_words(const Range& intents) {
  std::string text;
  for (const intent use : intents) text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(use));
  return text;
}

}  // namespace

static_assert(anywhere == location::no_node);

void task_blocks::refuse(std::size_t k, element_type asked, bool to_read, std::size_t rank) const {
  if (k >= m_blocks.size())
    throw error(error_kind::usage, fmt::format("the task has {} blocks, number {} was asked for", m_blocks.size(), k));
  const operation::operand& block = m_blocks[k];
  if (block.type != asked)
    throw error(error_kind::usage,
                fmt::format("block {} of the task has elements of type {}, and asked for were {}{}", k,
                            name_of(block.type), to_read ? "const " : "", name_of(asked)),
                {}, "T of get<T> is the element type of the block's array");
  if (rank != any_rank && block.extents->rank() != rank)
    throw error(error_kind::usage,
                fmt::format("block {} of the task has rank {}, and asked for was a view of rank {}", k,
                            block.extents->rank(), rank),
                {}, "get<T, RANK> has the rank of the block's array; get<T> shows it by positions");
  if (block.intent != intent::read || to_read)
    throw error(error_kind::usage,
                fmt::format("block {} of the task has {} bytes, which are no whole number of the elements asked for", k,
                            block.extents->count()),
                {}, "T of get<T> is the element type of the block's array");
  throw error(error_kind::usage,
              fmt::format("block {} of the task was submitted as {}, and asked for was a view that can be written: the "
                          "const is missing",
                          k, name_of(block.intent)),
              {}, "get<const T> for a block that is only read");
}

std::span<std::byte> task_blocks::bytes(std::size_t k, element_type asked, std::int64_t per_element,
                                        bool to_read) const {
  if (k >= m_blocks.size() || m_blocks[k].type != asked || (m_blocks[k].intent == intent::read && !to_read) ||
      m_blocks[k].extents->count() % per_element != 0)
    refuse(k, asked, to_read, any_rank);
  const operation::operand& block = m_blocks[k];
  return {static_cast<std::byte*>(block.host), static_cast<std::size_t>(block.extents->count()) * size_of(block.type)};
}

void task_context::refuse_value(const std::type_info& asked) const {
  const operation::replay_value* const value = m_of->replayed_with;
  std::string found = "it is of no replay";
  if (value != nullptr)
    found = value->type == nullptr ? "the replay was given none"
                                   : "the replay was given one of type " + boost::core::demangle(value->type->name());
  throw error(error_kind::usage,
              fmt::format("task '{}' asks for a replay value of type {}, and {}", m_of->task_name,
                          boost::core::demangle(asked.name()), found),
              {}, "rt.replay(recording, value) gives one, of the same type");
}

namespace detail {

const shape& stored_extents_of(const block::record& b) noexcept {
  static constexpr shape none;  // of a block whose runtime has ended
  return b.extents != nullptr ? *b.extents : none;
}
std::uint64_t bytes_of(const block::record& b) noexcept { return b.bytes; }

submission::submission(runtime_inside& of, const operation::definition& what, std::string_view name,
                       std::source_location site, const task_options& options, std::span<const block_access> blocks,
                       std::size_t argument_bytes)
    : m_scheduler(*of.scheduler) {
  const std::string_view task = name.empty() ? std::string_view(what.name) : name;
  of.check_blocks(task, blocks, site);
  if (options.at != anywhere && options.at >= of.machine.tree.known()) [[unlikely]]
    throw error(error_kind::usage,
                fmt::format("task '{}' is to run at location {}, and the runtime has {}", task, options.at,
                            of.machine.tree.known()),
                file_and_line(site), "runtime::at gives the number of a location by its name");
  task::record& t = m_scheduler.begin(what, site, m_thread);
  m_task = &t;
  t.priority = options.priority;
  t.hint = options.at;
  t.argument_size = static_cast<std::uint32_t>(argument_bytes);
  if (blocks.size() <= t.accesses.size() && argument_bytes <= task::record::inline_arguments && name.empty() &&
      options.is_short()) [[likely]] {  // all of it in the record itself
    t.access_count = static_cast<std::uint8_t>(blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k) t.accesses[k] = blocks[k];
    m_arguments = t.arguments.data();
    return;
  }
  try {
    fill(name, options, blocks, argument_bytes);
  } catch (...) {
    take_back();
    throw;
  }
}

void submission::fill(std::string_view name, const task_options& options, std::span<const block_access> blocks,
                      std::size_t argument_bytes) {
  if (argument_bytes > std::numeric_limits<std::uint32_t>::max())
    throw error(error_kind::usage,
                fmt::format("a task with {} of arguments", format_bytes(static_cast<double>(argument_bytes))),
                file_and_line(m_task->site),
                "arguments are copied, and have less than 4 GiB: put what is large into a block");
  task::record& t = *m_task;
  if (!name.empty()) t.need_more().name = name;
  if (options.from != nullptr) t.need_more().from = options.from;
  name_blocks(blocks);
  if (argument_bytes > task::record::inline_arguments) {
    t.need_more().arguments.resize(argument_bytes);
    t.flags |= task::flag_large_arguments;
  }
  m_arguments = t.argument_bytes();
  if (options.to != nullptr) m_scheduler.in_place().send_to(*options.to, t);
  if (options.cores != 1 || options.group != nullptr) fill_rare(options);
}

void submission::fill_rare(const task_options& options) {
  task::record& t = *m_task;
  const auto refuse = [&](const std::string& what, const char* hint) {
    throw error(error_kind::usage, fmt::format("task '{}' {}", t.name(), what), file_and_line(t.site), hint);
  };
  if (options.cores != 1) {
    const schedule::run_mode& mode = m_scheduler.facts().mode;
    if (options.cores == 0) refuse("is to run on no core", "task_options::cores is 1 or more");
    if (options.cores > mode.workers)
      refuse(fmt::format("is to run on {} cores, and the runtime has {} worker{}", options.cores, mode.workers,
                         mode.workers == 1 ? "" : "s"),
             "runtime::workers() tells how many there are; runtime.workers sets it");
    if (mode.simulated)
      refuse(fmt::format("is to run on {} cores in virtual time", options.cores),
             "a simulation knows tasks of one core only");
    t.need_more().cores = options.cores;
    t.rare |= task::rare_cores;
  }
  if (options.group == nullptr) return;
  if (&options.group->scheduler() != &m_scheduler)
    refuse("is to belong to a group of another runtime", "make a task_group of the runtime that runs the task");
  if (schedule::scheduler::is_recording(*m_thread))
    refuse("of a recording is to belong to a group", "tasks of replays are in no group: fence waits for them");
  t.need_more().group = &options.group->tasks();
  t.rare |= task::rare_group;
}

void submission::name_blocks(std::span<const block_access> blocks) {
  task::record& t = *m_task;
  if (blocks.size() > t.accesses.size()) {
    t.need_more().accesses.assign(blocks.begin(), blocks.end());
    t.flags |= task::flag_many_accesses;
  } else {
    std::ranges::copy(blocks, t.accesses.begin());
  }
  t.access_count = static_cast<std::uint8_t>(std::min<std::size_t>(blocks.size(), 255));
}

void submission::take_back() noexcept {
  task::record& t = *std::exchange(m_task, nullptr);
  if (m_has_function && t.operation->destroy_arguments != nullptr) t.operation->destroy_arguments(t.argument_bytes());
  schedule::take_back(*m_thread, t);
}

void submission::commit() { m_scheduler.commit(*m_thread, *std::exchange(m_task, nullptr)); }

const operation::definition& define_or_find(runtime_inside& of, std::string_view name, const function_form& form) {
  operation::catalog& known = of.operations;
  operation::definition fresh;
  fresh.name = std::string(name);
  fresh.host = form.run;
  fresh.destroy_arguments = form.destroy;
  fresh.plain_arguments = form.plain;
  if (form.is_shared_type && known.size() >= operation::catalog::max_with_own_names &&
      known.find(fresh.name) == nullptr)
    fresh.name = "other functions";
  // Two call sites may use one name, and a function template one call site for several types.
  const std::string first = fresh.name;
  for (int suffix = 2;; ++suffix) {
    if (const operation::definition* found = known.find(fresh.name)) {
      if (found->host == form.run) return *found;
      fresh.name = fmt::format("{}#{}", first, suffix);
      continue;
    }
    try {
      return known.add(fresh);
    } catch (const error&) {  // another thread was faster: look again
      if (known.find(fresh.name) == nullptr) throw;
    }
  }
}

bool counts_many_names(const operation::definition& what, std::string_view name) noexcept {
  return !what.name.starts_with(name);
}

}  // namespace detail

void runtime::submit_operation(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                               std::span<const block_access> accesses, const task_options& options,
                               std::source_location site) {
  if (what.catalog != m_inside->operations.number())
    throw error(
        error_kind::usage,
        fmt::format("operation '{}' is {}", what.name, what.catalog == 0 ? "in no runtime" : "one of another runtime"),
        file_and_line(site), "submit what define(), operations() or builtin() of the same runtime returned");
  const auto as_declared = [](const block_access& a) {
    return a.intent == intent::commute ? intent::update : a.intent;  // in which order is the caller's matter
  };
  if (!what.signature.empty() && !std::ranges::equal(what.signature, accesses, {}, {}, as_declared))
    throw error(error_kind::usage,
                fmt::format("operation '{}' takes ({}) and was given ({})", what.name, in_words(what.signature),
                            in_words(accesses | std::views::transform(&block_access::intent))),
                file_and_line(site), "its definition's signature says how it uses each block, in this order");
  detail::submission task(*m_inside, what, {}, site, options, accesses, argument_bytes);
  if (argument_bytes > 0) std::memcpy(task.arguments(), arguments, argument_bytes);
  task.commit();
}

}  // namespace tessera
