#include "core/validate/race_detector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/base/of_this_thread.hpp"
#include "core/validate/intent_checker.hpp"

namespace tessera::validate {
namespace {

constexpr const char* hint_to_order =
    "order them: submit both from one thread, fence, take a view, or tell of a barrier with order_before and "
    "order_after";

}  // namespace

struct race_detector::core {
  std::mutex mutex;
  event_number events = 0;
  actor_number actors = 0;
  std::shared_ptr<actor> first;  // of the thread that made the runtime
  clock ended;                   // what threads knew and did that have ended
  std::uint64_t ended_count = 0;
  std::unordered_map<const block::record*, history> blocks;
  std::multimap<std::uintptr_t, const block::record*> memory;  // of adopted blocks, by address
  std::unordered_map<const task::record*, std::shared_ptr<task_note>> tasks;
};

struct race_detector::thread_entry {
  std::weak_ptr<core> owner;
  const core* which;
  std::shared_ptr<actor> mine;
};

/// Of the current thread, in all runtimes that validate. When the thread ends, the one that goes on is taken to have
/// waited for it.
struct race_detector::thread_list {
  std::vector<thread_entry> entries;
  ~thread_list() {
    for (const thread_entry& e : entries)
      if (const auto lives = e.owner.lock()) {
        const std::lock_guard guard(lives->mutex);
        lives->ended.learn(e.mine->known);
        lives->ended.learn(e.mine->number, e.mine->last);
        ++lives->ended_count;
      }
  }
};

struct race_detector::submission {
  actor_number author = 0;
  event_number event = 0;
  const clock* known = nullptr;
  actor_number thread = 0;  // the thread it comes from, whatever submits
  std::shared_ptr<task_note> note;
  const operation::definition* operation = nullptr;
  std::source_location site;
  bool recorded = false;
  const ranges_entered* ranges = nullptr;
};

race_detector::race_detector(journal& to) : m_journal(to), m_core(std::make_shared<core>()) {
  const std::lock_guard guard(m_core->mutex);
  current_actor();
}

race_detector::~race_detector() = default;

race_detector::actor& race_detector::current_actor() {
  thread_list& threads = of_this_thread<thread_list>();
  std::erase_if(threads.entries, [](const thread_entry& e) { return e.owner.expired(); });
  for (const thread_entry& e : threads.entries)
    if (e.which == m_core.get()) return *e.mine;
  auto fresh = std::make_shared<actor>();
  fresh->number = ++m_core->actors;
  if (m_core->first) {  // taken to be started by the thread that made the runtime, after all that it has done
    fresh->known = m_core->first->known;
    fresh->known.learn(m_core->first->number, m_core->first->last);
  } else {
    m_core->first = fresh;
  }
  threads.entries.push_back({m_core, m_core.get(), fresh});
  return *fresh;
}

void race_detector::learn_of_ended_threads(actor& learner) const {
  if (learner.ended_seen == m_core->ended_count) return;
  learner.known.learn(m_core->ended);
  learner.ended_seen = m_core->ended_count;
}

void race_detector::made(std::span<block::record* const> blocks, bool adopted, std::source_location site) {
  const std::lock_guard guard(m_core->mutex);
  for (const block::record* b : blocks) {
    const std::string name = b->from != nullptr ? b->from->array_name : std::string();
    history& h = m_core->blocks[b];
    const std::uintptr_t memory = h.memory;
    std::vector<const block::record*> overlaps = std::move(h.overlaps);
    h = {};
    h.memory = memory;
    h.overlaps = std::move(overlaps);
    h.array = name;
    h.block = b->position;
    h.made = participant::at(fmt::format("array {} {}", name, adopted ? "adopted" : "made"), site);
  }
  actor& mine = current_actor();
  mine.site = site;
  mine.has_site = true;
}

void race_detector::adopted_at(block::record& b, const void* memory) {
  const std::lock_guard guard(m_core->mutex);
  const auto from = reinterpret_cast<std::uintptr_t>(memory);
  history& h = m_core->blocks[&b];
  h = {};
  h.memory = from;
  if (b.bytes == 0) return;
  for (const auto& [start, other] : m_core->memory) {  // overlapping ones may be nested: all are looked at
    if (start >= from + b.bytes || from >= start + other->bytes) continue;
    h.overlaps.push_back(other);
    m_core->blocks[other].overlaps.push_back(&b);
  }
  m_core->memory.emplace(from, &b);
}

void race_detector::kept(std::span<block::record* const> blocks, std::source_location site) {
  const std::lock_guard guard(m_core->mutex);
  const actor& mine = current_actor();
  for (const block::record* b : blocks) {
    history& h = m_core->blocks[b];
    h.owner = mine.number;
    h.kept_by = participant::at(fmt::format("array {} kept to one thread", h.array), site);
  }
}

participant race_detector::participant_of(const use& u, const block::record& b) const {
  const history& h = m_core->blocks.at(&b);
  // A block that is gone has no name any more.
  const std::string words =
      h.gone ? fmt::format("block {} of {} {}, version {}", h.block, h.array, name_of(u.intent), u.version)
             : use_of(b, u.intent, u.version);
  if (u.operation->special != nullptr) return participant::at("view taken", u.site, words);
  return participant::at(fmt::format("task '{}' {}", u.operation->name, u.recorded ? "recorded" : "submitted"), u.site,
                         words);
}

bool race_detector::submitted(task::record& t, task_note* in) {
  const std::lock_guard guard(m_core->mutex);
  actor& mine = current_actor();
  learn_of_ended_threads(mine);
  submission s;
  s.author = in != nullptr ? in->self : mine.number;
  s.event = ++m_core->events;
  s.known = in != nullptr ? &in->known : &mine.known;
  s.thread = mine.number;
  s.operation = t.operation;
  s.site = t.site;
  (in != nullptr ? in->last : mine.last) = s.event;
  if (in == nullptr) mine.site = t.site, mine.has_site = true;
  s.note = std::make_shared<task_note>();
  s.note->submitter = s.author;
  s.note->event = s.event;
  s.note->known = *s.known;
  s.note->known.learn(s.author, s.event);
  s.note->self = ++m_core->actors;
  m_core->tasks[&t] = s.note;
  if (mine.in_ranges.note != nullptr) {
    s.ranges = &mine.in_ranges;
    s.note->before = mine.in_ranges.before;
    mine.in_ranges.note->parts.push_back(s.note);
  }
  bool alive = true;
  for (const block::access& a : t.all_accesses()) {
    const bool combines = a.intent == intent::accumulate;
    alive = check(s, *a.block, a.intent, combines ? a.space : block::addition) && alive;
  }
  return alive;
}

bool race_detector::replayed(const task::replay& r, task_note* in, std::source_location site) {
  const std::lock_guard guard(m_core->mutex);
  actor& mine = current_actor();
  if (in == nullptr) mine.site = site, mine.has_site = true;
  submission s;
  s.author = in != nullptr ? in->self : mine.number;
  s.known = in != nullptr ? &in->known : &mine.known;
  s.thread = mine.number;
  s.recorded = true;
  s.note = std::make_shared<task_note>();
  s.note->submitter = s.author;
  s.note->self = ++m_core->actors;
  s.note->is_replay = true;
  s.event = ++m_core->events;
  (in != nullptr ? in->last : mine.last) = s.event;
  s.note->event = s.event;
  s.note->known = *s.known;
  s.note->known.learn(s.author, s.event);
  ranges_entered ranges;
  ranges.note = s.note;
  s.ranges = &ranges;
  for (const std::shared_ptr<const void>& used : r.recording.ranges) {
    const auto& uses = *static_cast<const ranges_in_use*>(used.get());
    const auto is_exchanged = [&](const block::record* b) {
      const std::uint32_t k = r.recording.index_of(*b);
      return k == task::recorded_task::inner || r.recording.blocks[k].block != b;
    };
    if (std::ranges::any_of(uses.blocks, is_exchanged)) continue;  // by block, then
    ranges.blocks.insert(ranges.blocks.end(), uses.blocks.begin(), uses.blocks.end());
    use_ranges(uses, *s.known, {.author = s.author, .event = s.event, .user = uses.user, .note = s.note}, ranges);
  }
  std::ranges::sort(ranges.blocks);
  bool alive = true;
  // Its private copies have no array, but records that those of an array that is gone may have had.
  const std::unordered_set<const block::record*> own(r.recording.private_blocks().begin(),
                                                     r.recording.private_blocks().end());
  for (const task::recorded_task& t : r.recording.tasks) {
    if (t.ends_group || t.operation->special != nullptr) continue;  // the runtime's own
    s.operation = t.operation;
    s.site = t.site;
    for (const task::recorded_access& a : r.recording.accesses_of(t)) {
      const block::record* b = r.recording.blocks[a.block].block;
      if (!own.contains(b) && (b->from != nullptr || m_core->blocks.contains(b)))
        alive = check(s, *b, static_cast<intent>(a.intent), block::addition) && alive;
    }
  }
  s.note->before.clear();  // a replay starts as a whole; what its tasks submit is not followed
  return alive;
}

void race_detector::enter(std::span<const ranges_in_use> uses, task_note* in) {
  const std::lock_guard guard(m_core->mutex);
  actor& mine = current_actor();
  learn_of_ended_threads(mine);
  const clock& known = in != nullptr ? in->known : mine.known;
  auto note = std::make_shared<task_note>();
  note->submitter = in != nullptr ? in->self : mine.number;
  note->event = ++m_core->events;
  note->known = known;
  note->known.learn(note->submitter, note->event);
  (in != nullptr ? in->last : mine.last) = note->event;
  mine.in_ranges = {};
  for (const ranges_in_use& u : uses) {
    mine.in_ranges.blocks.insert(mine.in_ranges.blocks.end(), u.blocks.begin(), u.blocks.end());
    use_ranges(u, known, {.author = note->submitter, .event = note->event, .user = u.user, .note = note},
               mine.in_ranges);
  }
  std::ranges::sort(mine.in_ranges.blocks);
  mine.in_ranges.note = std::move(note);
}

void race_detector::leave() {
  const std::lock_guard guard(m_core->mutex);
  current_actor().in_ranges = {};
}

void race_detector::use_ranges(const ranges_in_use& uses, const clock& known, const range_uses::entry& as,
                               ranges_entered& to) {
  const auto said = [&](const range_user& user, std::int64_t begin, std::int64_t end, intent how) {
    return participant::at(user.description, user.site,
                           fmt::format("{} rows {} to {} {}", uses.of->name(), begin, end, name_of(how)));
  };
  for (const range_use& now : uses.ranges) {
    uses.of->for_conflicts(now, [&](std::int64_t begin, const range_uses::entry& earlier) {
      if (earlier.note != as.note && (to.before.empty() || to.before.back() != earlier.note))
        to.before.push_back(earlier.note);
      if (earlier.author == as.author || known.knows(earlier.author, earlier.event)) return;
      m_journal.add({.fault = fault::unordered,
                     .text = fmt::format("rows {} to {} of {} are used by two threads or tasks with the intents {} and "
                                         "{}, and nothing orders their submissions",
                                         std::max(begin, now.begin), std::min(earlier.end, now.end), uses.of->name(),
                                         name_of(earlier.how), name_of(now.how)),
                     .here = said(*as.user, now.begin, now.end, now.how),
                     .there = said(*earlier.user, begin, earlier.end, earlier.how),
                     .hint = hint_to_order});
    });
  }
  for (const range_use& now : uses.ranges) uses.of->add(now, as);
}

bool race_detector::check(submission& of, const block::record& b, intent how, block::combination_number combination) {
  const auto found = m_core->blocks.find(&b);
  if (found == m_core->blocks.end() || !found->second.made) return true;  // the runtime's own
  history& h = found->second;
  use now{of.author, of.event, of.note, of.operation, of.site, how, 0, combination, of.recorded, false, false};
  now.by_ranges = of.ranges != nullptr && of.ranges->has(b);
  if (!of.recorded) {
    auto& flow = const_cast<block::record&>(b).flow;
    const bool lock = !flow.is_private;
    if (lock) flow.lock.lock();
    const bool sums = b.sums != nullptr && how != intent::accumulate;  // their sum is a version of its own
    now.version = flow.next_version - (makes_version(how) ? 0 : 1) + (sums ? 1 : 0);
    if (lock) flow.lock.unlock();
    if (how == intent::accumulate || how == intent::scratch) now.version = 0;
  }
  if (h.gone) return !tell_when_gone(b, participant_of(now, b).description, of.site, how, true);
  if (h.owner != 0 && h.owner != of.thread) {
    m_journal.add(
        {.fault = fault::wrong_thread,
         .text = fmt::format("{} is used from a thread other than the one that array {} is kept to", block::name_of(b),
                             h.array),
         .here = participant_of(now, b),
         .there = h.kept_by,
         .hint = "submit from that thread alone, or do not call keep_to_this_thread: linking takes no lock then"});
  }
  const auto tell_unordered = [&](const use& earlier) {
    if (earlier.author != of.author && !of.known->knows(earlier.author, earlier.event))
      report_unordered(of, b, now, earlier);
  };
  const auto against = [&](const use& earlier) {
    of.note->before.push_back(earlier.note);
    tell_unordered(earlier);
  };
  const bool changes = makes_version(how) || how == intent::scratch;
  if (h.write && how != intent::accumulate) against(*h.write);
  if (h.write && how == intent::accumulate) tell_unordered(*h.write);
  if (changes || how == intent::accumulate)
    for (const use& u : h.reads) against(u);
  for (const use& u : h.additions)  // accumulates, and uses that commute: in any order with their like
    if (u.intent != how && how != intent::accumulate)
      against(u);
    else if (u.intent != how || u.combination != combination)
      tell_unordered(u);
  if (how != intent::scratch)
    for (const use& u : h.rooms) against(u);
  if (!now.by_ranges)
    for (const use& u : h.ranges)
      if (u.intent != how || how == intent::write || how == intent::update || u.combination != combination) against(u);
  if (!h.overlaps.empty()) check_overlaps(of, b, h, now);

  if (now.by_ranges) {
    keep_range(h, of, now);
  } else if (makes_version(how) && how != intent::commute) {
    h.write = now;
    h.reads.clear(), h.additions.clear(), h.rooms.clear(), h.ranges.clear();
  } else {
    keep(how == intent::read                                   ? h.reads
         : how == intent::accumulate || how == intent::commute ? h.additions
                                                               : h.rooms,
         now);
  }
  return true;
}

void race_detector::keep(std::vector<use>& among, const use& now) {
  const auto same = std::ranges::find_if(among, [&](const use& u) {
    return u.author == now.author && u.intent == now.intent && u.combination == now.combination;
  });
  if (same != among.end())
    *same = now;
  else
    among.push_back(now);
}

/// It takes the place of none that names other elements. Those that its submitter knew of are let go of when they are
/// many: who does not know it is told of it.
void race_detector::keep_range(history& h, const submission& of, const use& now) {
  constexpr std::size_t many = 256;
  if (h.ranges.size() >= many && makes_version(now.intent))
    std::erase_if(h.ranges, [&](const use& u) { return of.known->knows(u.author, u.event); });
  keep(h.ranges, now);
}

bool race_detector::tell_when_gone(const block::record& b, const std::string& what, const std::source_location& site,
                                   intent how, bool locked) {
  std::unique_lock guard(m_core->mutex, std::defer_lock);
  if (!locked) guard.lock();
  const auto found = m_core->blocks.find(&b);
  if (found == m_core->blocks.end() || !found->second.gone) return false;
  const history& h = found->second;
  m_journal.add({.fault = fault::after_free,
                 .text = fmt::format("block {} of array {} is used, and the array is destroyed", h.block, h.array),
                 .here = participant::at(what, site, fmt::format("{} {}", h.array, name_of(how))),
                 .there = *h.gone,
                 .hint = "an array must live until the last task or view that uses it has been asked for"});
  return true;
}

void race_detector::report_unordered(const submission&, const block::record& b, const use& now, const use& earlier) {
  m_journal.add(
      {.fault = fault::unordered,
       .text = fmt::format(
           "{} is used by two threads or tasks with the intents {} and {}, and nothing orders their submissions",
           block::name_of(b), name_of(earlier.intent), name_of(now.intent)),
       .here = participant_of(now, b),
       .there = participant_of(earlier, b),
       .hint = hint_to_order});
}

void race_detector::check_overlaps(const submission& of, const block::record& b, const history& h, const use& now) {
  const auto against = [&](const use& earlier, const block::record& other) {
    if (earlier.event <= of.known->floor() || earlier.waited_for) return;
    m_journal.add(
        {.fault = fault::overlap,
         .text = fmt::format(
             "{} and {} are the same memory, and nothing makes this use wait for the earlier one", block::name_of(b),
             m_core->blocks[&other].gone ? "a block of " + m_core->blocks[&other].array : block::name_of(other)),
         .here = participant_of(now, b),
         .there = participant_of(earlier, other),
         .hint = "adopt the memory once; or destroy the first array and fence before the second one is used"});
  };
  for (const block::record* other : h.overlaps) {
    const history& o = m_core->blocks[other];
    if (o.write) against(*o.write, *other);
    if (now.intent == intent::read)
      for (const use& u : o.ranges)
        if (u.intent != intent::read) against(u, *other);
    if (now.intent == intent::read) continue;
    for (const auto* uses : {&o.reads, &o.additions, &o.rooms, &o.ranges})
      for (const use& u : *uses) against(u, *other);
  }
}

std::shared_ptr<task_note> race_detector::started(task::record& t) {
  const std::lock_guard guard(m_core->mutex);
  if ((t.flags & task::flag_replayed) != 0) {  // what it submits counts as ordered after everything so far
    auto note = std::make_shared<task_note>();
    note->self = ++m_core->actors;
    note->known.learn_all_up_to(m_core->events);
    return note;
  }
  const auto found = m_core->tasks.find(&t);
  if (found == m_core->tasks.end()) return std::make_shared<task_note>();
  const std::shared_ptr<task_note> note = found->second;
  const auto learn = [&](const task_note& from) {
    if (from.is_replay) note->known.learn_all_up_to(m_core->events);
    note->known.learn(from.known);
    note->known.learn(from.submitter, from.event);
    if (from.last != 0) note->known.learn(from.self, from.last);
  };
  for (const auto& p : note->before) {
    if (p == note) continue;
    learn(*p);
    for (const auto& part : p->parts)
      if (part != note) learn(*part);
  }
  note->before.clear();
  return note;
}

void race_detector::view_granted(const task_note& view, const block::record& b, task_note* in) {
  const std::lock_guard guard(m_core->mutex);
  (in != nullptr ? in->known : current_actor().known).learn(view.known);
  const auto found = m_core->blocks.find(&b);
  if (found == m_core->blocks.end()) return;
  history& h = found->second;
  if (h.write) h.write->waited_for = true;
  for (use& u : h.ranges) u.waited_for = true;
}

void race_detector::fenced(std::source_location site) {
  const std::lock_guard guard(m_core->mutex);
  actor& mine = current_actor();
  mine.known.learn_all_up_to(m_core->events);
  mine.site = site;
  mine.has_site = true;
}

void race_detector::before(clock& point, task_note* in) {
  const std::lock_guard guard(m_core->mutex);
  const actor& mine = current_actor();
  point.learn(in != nullptr ? in->known : mine.known);
  if (in != nullptr)
    point.learn(in->self, in->last);
  else
    point.learn(mine.number, mine.last);
}

void race_detector::after(const clock& point, task_note* in) {
  const std::lock_guard guard(m_core->mutex);
  (in != nullptr ? in->known : current_actor().known).learn(point);
}

bool race_detector::destroyed(const block::record& b, task_note* in) {
  const std::lock_guard guard(m_core->mutex);
  const auto found = m_core->blocks.find(&b);
  if (found == m_core->blocks.end() || !found->second.made) return true;
  history& h = found->second;
  const actor& mine = current_actor();
  const bool has_site = in == nullptr && mine.has_site;
  participant gone{.description =
                       fmt::format("array {} destroyed{}", h.array, has_site ? ", after the thread's call" : "")};
  if (has_site) gone.file = mine.site.file_name(), gone.line = mine.site.line();
  if (h.gone) {
    m_journal.add({.fault = fault::after_free,
                   .text = fmt::format("a block of array {} is destroyed twice", h.array),
                   .here = gone,
                   .there = *h.gone,
                   .hint = "a block belongs to one array"});
    return false;
  }
  gone.use = to_text(*h.made);
  h.gone = std::move(gone);
  return true;
}

void race_detector::forget(const block::record& b) {
  const std::lock_guard guard(m_core->mutex);
  const auto found = m_core->blocks.find(&b);
  if (found == m_core->blocks.end()) return;
  history& h = found->second;
  for (const block::record* other : h.overlaps) std::erase(m_core->blocks[other].overlaps, &b);
  for (auto [at, last] = m_core->memory.equal_range(h.memory); at != last;)
    at = at->second == &b ? m_core->memory.erase(at) : std::next(at);
  h.overlaps.clear();
  h.write.reset();
  h.reads.clear(), h.additions.clear(), h.rooms.clear(), h.ranges.clear();
}

void race_detector::end() {
  const std::lock_guard guard(m_core->mutex);
  for (const auto& [b, h] : m_core->blocks)
    if (h.made && !h.gone)
      m_journal.add({.fault = fault::outlives,
                     .text = fmt::format("array {} is still there while its runtime is destroyed", h.array),
                     .here = *h.made,
                     .there = {},
                     .hint = "declare arrays after the runtime, so that they are destroyed before it"});
}

}  // namespace tessera::validate
