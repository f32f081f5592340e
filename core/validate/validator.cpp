#include "core/validate/validator.hpp"

#include <fmt/format.h>

#include <random>
#include <vector>

#include "core/base/of_this_thread.hpp"

namespace tessera::validate {
namespace {

constexpr std::uint64_t quarantined_bytes = 32u << 20;

/// What this thread runs; tasks may be nested where one waits for a view.
struct running_tasks {
  struct one {
    const validator* by;
    shadow_copies* copies;
  };
  std::vector<one> all;
};
std::vector<running_tasks::one>& running() { return of_this_thread<running_tasks>().all; }

std::uint64_t fresh_seed() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace

participant participant_of(const task::record& t) {
  if ((t.flags & task::flag_reduction) != 0)
    return {.description = "sum of additions"};  // the runtime's own: it has no place
  if (t.operation->special != nullptr)
    return participant::at(t.operation->name == "view" ? "view taken" : "array destroyed", t.site);
  return participant::at(
      fmt::format("task '{}' {}", t.operation->name, (t.flags & task::flag_replayed) != 0 ? "recorded" : "submitted"),
      t.site);
}

validator::validator()
    : m_pattern(fresh_seed()),
      m_ended(m_pattern, m_journal, quarantined_bytes),
      m_intent_checker(m_journal, m_pattern, m_ended, m_contents),
      m_race_detector(m_journal) {}

validator::~validator() = default;

shadow_copies* validator::begin_task(task::record& t, std::span<operation::operand> operands) {
  auto fresh = m_intent_checker.lend(t, participant_of(t), operands);
  fresh->note = m_race_detector.started(t);
  running().push_back({this, fresh.get()});
  return fresh.release();
}

task_note* validator::in_task() const noexcept {
  const auto& tasks = running();
  return tasks.empty() || tasks.back().by != this ? nullptr : tasks.back().copies->note.get();
}

void validator::end_task(shadow_copies* of, bool failed) {
  const std::unique_ptr<shadow_copies> owned(of);
  if (!owned) return;
  running().pop_back();
  m_intent_checker.take_back(*owned, failed);
}

void validator::begin_on_device(std::unique_ptr<shadow_copies>& out, task::record& t,
                                std::span<const operation::operand> operands, transfer::stream& on,
                                const memory::space& in) {
  m_race_detector.started(t);
  out = m_intent_checker.watch(t, participant_of(t));
  enqueue_before(*out, operands, t.all_accesses(), on, in);
}

void validator::enqueued_on_device(shadow_copies& of, transfer::stream& on, const memory::space& in) {
  enqueue_after(of, on, in);
}

void validator::end_on_device(std::unique_ptr<shadow_copies> of, task::record& t, const plugin::device& device,
                              transfer::stream& on, block::ticket done, bool failed) {
  if (done) {
    if (!wait_for(on, done) || failed) return;
    m_intent_checker.check_result(*of);
    m_device_checks.run(t, *of, device);
    return;
  }
  const std::lock_guard guard(m_views_mutex);  // copies may still be under way
  m_lost.push_back(std::move(of));
}

std::shared_ptr<shadow_copies> validator::begin_view(task::record& t, std::span<operation::operand> operands) {
  std::shared_ptr<shadow_copies> fresh = m_intent_checker.lend(t, participant_of(t), operands);
  fresh->note = m_race_detector.started(t);
  const std::lock_guard guard(m_views_mutex);
  m_views.push_back(fresh.get());
  return fresh;
}

void validator::require(const block::record& b, intent how, std::source_location site) {
  if (!m_race_detector.tell_when_gone(b, "view taken", site, how, false)) return;
  m_journal.raise();
}

void validator::view_granted(const shadow_copies& of) { m_race_detector.view_granted(*of.note, *of.first, in_task()); }

void validator::adopted(block::record& b, const void* memory, std::source_location site) {
  m_race_detector.adopted_at(b, memory);
  const participant who = participant::at(
      "array " + (b.from != nullptr ? b.from->array_name : std::string("?")) + " adopted", site, block::name_of(b));
  m_contents.made(b, {b.committed, checksum({static_cast<const std::byte*>(memory), b.bytes}), true, false, who});
  participant other;
  bool covered = m_ended.covers(memory, b.bytes, other);
  {
    const auto from = reinterpret_cast<std::uintptr_t>(memory);
    const std::lock_guard guard(m_views_mutex);
    for (const shadow_copies* v : m_views)
      for (const shadow_block& of : v->blocks) {
        const auto elements = of.copy->elements();
        const auto at = reinterpret_cast<std::uintptr_t>(elements.data());
        if (from >= at + elements.size() || at >= from + b.bytes) continue;
        covered = true;
        other = v->who;
        other.use = use_of(*of.block, of.intent, makes_version(of.intent) ? of.makes : of.found);
      }
  }
  if (covered)
    m_journal.add(
        {.fault = fault::overlap,
         .text = fmt::format("{} adopts memory that belongs to a view or task of another array", block::name_of(b)),
         .here = who,
         .there = other,
         .hint = "adopt memory of the program; elements of a view are valid until it ends"});
}

void validator::entered(task::group& of) {
  const std::lock_guard guard(m_groups_mutex);
  if (!of.known) of.known = std::make_shared<clock>();
  order_before(*static_cast<clock*>(of.known.get()));
}

void validator::waited_for(const task::group& of) {
  const std::lock_guard guard(m_groups_mutex);
  if (of.known) order_after(*static_cast<const clock*>(of.known.get()));
}

void validator::end_view(shadow_copies& of) {
  {
    const std::lock_guard guard(m_views_mutex);
    std::erase(m_views, &of);
  }
  m_intent_checker.take_back(of, false);
}

void validator::forget(const block::record& b) {
  m_contents.forget(b);
  m_race_detector.forget(b);
}

void validator::at_fence(std::source_location site, const std::string& also) {
  m_race_detector.fenced(site);
  m_ended.look();
  m_journal.raise(also);
}

void validator::end() {
  m_ended.look();
  m_race_detector.end();
  const std::vector<finding> left = m_journal.unreported();
  if (!left.empty()) fmt::print(stderr, "validation found, and no fence has told:\n{}", to_text(left));
}

}  // namespace tessera::validate
