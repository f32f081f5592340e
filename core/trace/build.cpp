#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/trace/intervals.hpp"
#include "core/trace/timeline.hpp"

namespace tessera::trace {
namespace {

nanoseconds signed_of(std::uint64_t ns) { return static_cast<nanoseconds>(ns); }

/// An interval in which a task had been set aside.
struct pause {
  std::uint32_t task;
  nanoseconds begin, end;
  bool memory;
};

/// What is known of a task while the events are being put together.
struct draft {
  trace::task task;
  std::uint64_t reference = 0;
  bool ran = false, on_device = false;
  std::vector<use> uses;
  nanoseconds enqueued = 0;  ///< device: begin of the enqueueing
  std::uint64_t point = 0;
  std::vector<std::uint64_t> before, points;
};

class builder {
 public:
  explicit builder(const recording& from) : m_from(from) {}

  timeline run() {
    copy_names();
    collect_slabs();
    collect_submissions();
    collect_uses();
    collect_runs();
    collect_steps();
    order_streams();
    settle_pauses();
    part_views();
    keep_finished();
    collect_rest();
    drop_unused_names();
    shift();
    return std::move(m_made);
  }

 private:
  static track_kind kind_of(thread_role role) {
    if (role == thread_role::interpreter) return track_kind::interpreter;
    return role == thread_role::worker || role == thread_role::program ? track_kind::worker : track_kind::program;
  }

  void copy_names() {
    m_made.title = m_from.title;
    m_made.machine = m_from.machine;
    m_made.dropped = m_from.dropped;
    m_made.operations = m_from.operations;
    m_made.blocks = m_from.block_names;
    m_made.places = m_from.places;
    m_made.links = m_from.links;
    for (const auto& s : m_from.spaces) m_made.spaces.push_back({s.name, s.limit, {}});
    for (const auto& t : m_from.threads) {
      // A program that is run after another one goes on in its rows.
      const auto same = std::ranges::find_if(m_made.tracks, [&](const track& other) {
        return t.role == thread_role::interpreter && other.kind == track_kind::interpreter && other.name == t.name;
      });
      m_track_of_thread.push_back(static_cast<std::uint32_t>(same - m_made.tracks.begin()));
      if (same == m_made.tracks.end())
        m_made.tracks.push_back({t.name.empty() ? "another thread" : t.name, kind_of(t.role), t.place});
    }
    for (const auto& s : m_from.streams) {
      m_track_of_stream[s.number] = static_cast<std::uint32_t>(m_made.tracks.size());
      m_made.tracks.push_back({s.name, track_kind::stream, s.place});
    }
  }

  std::uint32_t site_named(std::uint64_t name, std::uint32_t line) {
    return site_of(name < m_made.blocks.size() ? m_made.blocks[name].c_str() : nullptr, line);
  }
  std::uint32_t site_of(const char* file, std::uint32_t line) {
    const auto [entry, is_new] = m_sites.try_emplace({file, line}, static_cast<std::uint32_t>(m_made.sites.size()));
    if (is_new) {
      std::string_view name = file == nullptr ? "?" : file;
      if (const auto slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
      m_made.sites.push_back(std::string(name) + ":" + std::to_string(line));
    }
    return entry->second;
  }

  void collect_submissions() {
    for (std::size_t thread = 0; thread < m_from.threads.size(); ++thread)
      for (const event& e : m_from.threads[thread].events) {
        if (e.kind == event_kind::submitted) {
          draft d;
          d.reference = e.task;
          d.task.operation = e.small < m_made.operations.size() ? e.small : 0;
          d.task.submitted = signed_of(e.time);
          d.task.submitter = m_track_of_thread[thread];
          d.task.site = site_of(reinterpret_cast<const char*>(e.words[0]), e.number);
          d.before.assign(e.words.begin() + 1, e.words.begin() + 1 + std::min<std::size_t>(e.count, 4));
          m_drafts.push_back(std::move(d));
        }
      }
    std::ranges::stable_sort(m_drafts, {}, [](const draft& d) { return d.task.submitted; });
    m_index.reserve(m_drafts.size());
    for (std::uint32_t k = 0; k < m_drafts.size(); ++k) m_index[m_drafts[k].reference] = k;
    // More predecessors than a submission holds, and those of a replay that show themselves when they release it.
    for (const auto& thread : m_from.threads)
      for (const event& e : thread.events)
        if (e.kind == event_kind::predecessors)
          if (draft* const d = find(e.task))
            d->before.insert(d->before.end(), e.words.begin(), e.words.begin() + std::min<std::size_t>(e.count, 5));
  }

  draft* find(std::uint64_t reference) {
    const auto found = m_index.find(reference);
    return found == m_index.end() ? nullptr : &m_drafts[found->second];
  }

  /// Blocks by slot, as they followed each other there; then what tasks did with those that were there at their time.
  void collect_uses() {
    struct life {
      nanoseconds since;
      std::uint32_t name;
      std::uint64_t bytes;
      bool single;
    };
    std::unordered_map<std::uint32_t, std::vector<life>> lives;
    for (const auto& thread : m_from.threads)
      for (const event& e : thread.events)
        if (e.kind == event_kind::block)
          lives[e.number].push_back({signed_of(e.time),
                                     e.task < m_from.block_names.size() ? static_cast<std::uint32_t>(e.task) : no_index,
                                     e.words[0], e.count != 0});
    for (auto& [slot, all] : lives) {
      std::ranges::stable_sort(all, {}, &life::since);
      if (std::ranges::find(all, no_index, &life::name) == all.end()) continue;
      const auto number = static_cast<std::uint32_t>(m_made.blocks.size());
      m_made.blocks.push_back("block " + std::to_string(slot));
      for (life& one : all)
        if (one.name == no_index) one.name = number;
    }
    for (const auto& thread : m_from.threads)
      for (const event& e : thread.events) {
        draft* const d = e.kind == event_kind::uses ? find(e.task) : nullptr;
        if (d == nullptr) continue;
        d->task.flops = known_flops(std::bit_cast<float>(e.number));
        for (std::size_t k = 0; k < std::min<std::size_t>(e.count, 2 * e.words.size()); ++k) {
          const auto packed = static_cast<std::uint32_t>(e.words[k / 2] >> (k % 2 * 32));
          const auto found = lives.find(slot_of(packed));
          if (found == lives.end()) continue;  // no room for its event
          const auto behind = std::ranges::upper_bound(found->second, signed_of(e.time), {}, &life::since);
          if (behind == found->second.begin()) continue;
          const life& there = *(behind - 1);
          d->task.single = there.single && (d->uses.empty() || d->task.single);
          d->uses.push_back({there.name, trace::kind_of(packed), there.bytes});
        }
      }
  }

  void collect_runs() {
    for (std::size_t thread = 0; thread < m_from.threads.size(); ++thread)
      for (const event& e : m_from.threads[thread].events) {
        if (e.kind == event_kind::transfer) m_reached[e.words[2]] = signed_of(e.words[0]);
        const bool ran = e.kind == event_kind::ran, device = e.kind == event_kind::enqueued;
        const bool other = e.kind == event_kind::waits || e.kind == event_kind::parked || e.kind == event_kind::resumed;
        if (!ran && !device && !other) continue;
        draft* const d = find(e.task);
        if (d == nullptr) continue;
        const auto number = static_cast<std::uint32_t>(d - m_drafts.data());
        if (e.kind == event_kind::waits) {
          d->points.insert(d->points.end(), e.words.begin(), e.words.begin() + std::min<std::size_t>(e.count, 5));
        } else if (e.kind == event_kind::parked) {
          m_parks.push_back(
              {number, signed_of(e.time), e.small == parked_for_memory ? park::for_memory : park::for_data});
        } else if (e.kind == event_kind::resumed) {
          m_parks.push_back({number, signed_of(e.time), park::over});
        } else {
          d->ran = true;
          d->task.failed = (e.small & run_failed) != 0;
          d->task.view = (e.small & run_view) != 0;
          d->task.started = signed_of(e.time);
          d->task.ended = std::max(signed_of(e.words[0]), d->task.started);
          d->task.track = m_track_of_thread[thread];
          if (!device) continue;
          d->on_device = true;
          d->enqueued = d->task.started;
          d->point = e.words[1];
          const auto track = m_track_of_stream.find(stream_of(d->point));
          if (track != m_track_of_stream.end()) d->task.track = track->second;
          if (d->point != 0) m_reached[d->point] = d->task.ended;
        }
      }
  }

  /// Starts of device tasks: in the order of their streams.
  void order_streams() {
    std::vector<draft*> on_devices;
    for (draft& d : m_drafts)
      if (d.on_device) on_devices.push_back(&d);
    std::ranges::stable_sort(on_devices, {}, &draft::point);
    nanoseconds free = 0;
    for (std::size_t k = 0, next = 0; k < on_devices.size(); k = next) {
      const std::uint64_t point = on_devices[k]->point;
      if (k == 0 || stream_of(on_devices[k - 1]->point) != stream_of(point))
        free = std::numeric_limits<nanoseconds>::min();
      for (next = k + 1; next < on_devices.size() && point != 0 && on_devices[next]->point == point;) ++next;
      free = order_launch({on_devices.data() + k, next - k}, free);
    }
  }

  /// Tasks of one launch share its time evenly. Returns its end.
  nanoseconds order_launch(std::span<draft* const> tasks, nanoseconds free) {
    nanoseconds start = free, end = std::numeric_limits<nanoseconds>::min();
    for (draft* const d : tasks) {
      nanoseconds arrived = d->enqueued;
      for (const std::uint64_t p : d->points)
        if (const auto at = m_reached.find(p); at != m_reached.end()) arrived = std::max(arrived, at->second);
      if (arrived > d->enqueued)
        m_pauses.push_back({static_cast<std::uint32_t>(d - m_drafts.data()), d->enqueued, arrived, false});
      start = std::max(start, arrived);
      end = std::max(end, d->task.ended);
    }
    start = std::min(start, end);
    const auto count = static_cast<nanoseconds>(tasks.size());
    for (nanoseconds k = 0; k < count; ++k) {
      tasks[static_cast<std::size_t>(k)]->task.started = start + (end - start) * k / count;
      tasks[static_cast<std::size_t>(k)]->task.ended = start + (end - start) * (k + 1) / count;
    }
    return end;
  }

  /// The four waits of every task that ran.
  void settle_pauses() {
    std::ranges::stable_sort(m_parks, {}, [](const park& p) { return std::pair(p.task, p.time); });
    for (std::size_t k = 0; k + 1 < m_parks.size(); ++k) {
      const park &begin = m_parks[k], &end = m_parks[k + 1];
      if (begin.task == end.task && begin.why != park::over)
        m_pauses.push_back({begin.task, begin.time, end.time, begin.why == park::for_memory});
    }
    std::ranges::stable_sort(m_pauses, {}, [](const pause& p) { return std::pair(p.task, p.begin); });
    auto next = m_pauses.begin();
    for (std::uint32_t k = 0; k < m_drafts.size(); ++k) {
      draft& d = m_drafts[k];
      task& t = d.task;
      while (next != m_pauses.end() && next->task < k) ++next;
      if (!d.ran) continue;
      nanoseconds depended = t.submitted;
      for (const std::uint64_t reference : d.before)
        if (const draft* p = find(reference); p != nullptr && p->ran) depended = std::max(depended, p->task.ended);
      depended = std::min(depended, t.started);
      // An inline view of time: clocks are read by several threads, and a task may be timed before its submission's
      // stamp.
      t.submitted = std::min(t.submitted, t.started);
      t.waited.dependency = std::max<nanoseconds>(depended - t.submitted, 0);
      nanoseconds at = std::max(depended, t.submitted);
      // Between pauses its place had not taken it up: a thread of it may have been asking for a slab.
      const auto idle_until = [&](nanoseconds end) {
        const nanoseconds asked = m_asking.overlap(m_made.tracks[t.track].place, at, end);
        t.waited.slab += asked;
        t.waited.worker += end - at - asked;
        at = end;
      };
      for (; next != m_pauses.end() && next->task == k; ++next) {
        const nanoseconds begin = std::max(next->begin, at), end = std::min(next->end, t.started);
        if (end <= begin) continue;
        idle_until(begin);
        (next->memory ? t.waited.memory : t.waited.data) += end - begin;
        at = end;
      }
      idle_until(t.started);
    }
  }

  /// When threads of a place asked plugins for slabs.
  void collect_slabs() {
    for (const auto& thread : m_from.threads)
      for (const event& e : thread.events)
        if (e.kind == event_kind::slab && thread.place < m_made.places.size())
          m_asking.add(thread.place, signed_of(e.time), signed_of(e.words[0]));
    m_asking.settle();
  }

  std::uint32_t operation_of(std::uint64_t name) {
    const auto [entry, is_new] = m_steps.try_emplace(name, static_cast<std::uint32_t>(m_made.operations.size()));
    if (is_new) m_made.operations.push_back(name < m_made.blocks.size() ? m_made.blocks[name] : "?");
    return entry->second;
  }

  /// What a front end did in place counts as a task of its thread that waited for nothing, behind the one before; the
  /// first ones behind a barrier come after the last ones before it, of all threads.
  void collect_steps() {
    struct found {
      nanoseconds time;
      std::uint32_t row;
      const event* what;
    };
    std::vector<found> all;
    for (std::size_t thread = 0; thread < m_from.threads.size(); ++thread)
      for (const event& e : m_from.threads[thread].events)
        if (e.kind == event_kind::step || (e.kind == event_kind::fence && e.count != 0))
          all.push_back({signed_of(e.words[0]), m_track_of_thread[thread], &e});
    std::ranges::stable_sort(all, {}, &found::time);
    constexpr std::uint64_t first_reference = std::uint64_t{1} << 63;  // no task's
    std::uint64_t next = first_reference;
    std::vector<std::uint64_t> last(m_made.tracks.size(), 0);    // step by row
    std::vector<std::vector<std::uint64_t>> ahead(last.size());  // of the first step behind a barrier
    for (const found& one : all) {
      if (one.what->kind == event_kind::fence) {
        for (const std::uint64_t reference : last)
          if (reference != 0) ahead[one.row].push_back(reference);
        continue;
      }
      draft d;
      d.reference = next++;
      d.ran = true;
      d.task.operation = operation_of(one.what->task);
      d.task.site = site_named(one.what->words[1], one.what->number);
      d.task.track = d.task.submitter = one.row;
      d.task.submitted = d.task.started = signed_of(one.what->time);
      d.task.ended = std::max(one.time, d.task.started);
      d.task.flops = known_flops(std::bit_cast<double>(one.what->words[2]));
      d.before = std::exchange(ahead[one.row], {});
      if (d.before.empty() && last[one.row] != 0) d.before.push_back(last[one.row]);
      last[one.row] = d.reference;
      m_index[d.reference] = static_cast<std::uint32_t>(m_drafts.size());
      m_drafts.push_back(std::move(d));
    }
  }

  /// Views get tracks of their own: the thread that holds one runs tasks meanwhile, and a program may hold several.
  void part_views() {
    std::vector<draft*> views;
    for (draft& d : m_drafts)
      if (d.ran && d.task.view) views.push_back(&d);
    std::ranges::sort(views, {}, [](const draft* d) { return d->task.started; });
    struct row {
      std::uint32_t thread, track;
      nanoseconds free;
    };
    std::vector<row> rows;
    for (draft* d : views) {
      const std::uint32_t thread = d->task.track;
      auto fits =
          std::ranges::find_if(rows, [&](const row& r) { return r.thread == thread && r.free <= d->task.started; });
      const auto of_thread = [&](const row& r) { return r.thread == thread; };
      if (fits == rows.end() && std::ranges::count_if(rows, of_thread) >= max_view_rows)
        fits = std::ranges::find_if(rows, of_thread);  // beside others
      if (fits == rows.end()) {
        rows.push_back({thread, static_cast<std::uint32_t>(m_made.tracks.size()), 0});
        m_made.tracks.push_back({m_made.tracks[thread].name + ": views", track_kind::program, 0});
        fits = rows.end() - 1;
      }
      fits->free = std::max(fits->free, d->task.ended);
      // The thread that asked for the view waited for it.
      if (d->task.started > d->task.submitted)
        m_made.waits.push_back({d->task.submitter, d->task.submitted, d->task.started, false});
      d->task.track = fits->track;
    }
  }
  static constexpr std::ptrdiff_t max_view_rows = 3;  // of one thread: a front end may hold a hundred

  /// Tasks that ran, with their predecessors as indices.
  void keep_finished() {
    std::vector<std::uint32_t> place(m_drafts.size(), no_index);
    for (std::uint32_t k = 0; k < m_drafts.size(); ++k) {
      if (!m_drafts[k].ran) {
        ++m_made.unfinished;
        continue;
      }
      place[k] = static_cast<std::uint32_t>(m_made.tasks.size());
      task& kept = m_made.tasks.emplace_back(m_drafts[k].task);
      kept.first_use = static_cast<std::uint32_t>(m_made.uses.size());
      kept.use_count = static_cast<std::uint32_t>(m_drafts[k].uses.size());
      m_made.uses.insert(m_made.uses.end(), m_drafts[k].uses.begin(), m_drafts[k].uses.end());
    }
    for (std::uint32_t k = 0; k < m_drafts.size(); ++k) {
      if (place[k] == no_index) continue;
      task& t = m_made.tasks[place[k]];
      t.first_predecessor = static_cast<std::uint32_t>(m_made.predecessors.size());
      for (const std::uint64_t reference : m_drafts[k].before) {
        const auto found = m_index.find(reference);
        if (found == m_index.end() || place[found->second] == no_index || found->second == k) continue;
        m_made.predecessors.push_back(place[found->second]);
      }
      const auto first = m_made.predecessors.begin() + t.first_predecessor;
      std::sort(first, m_made.predecessors.end());
      m_made.predecessors.erase(std::unique(first, m_made.predecessors.end()), m_made.predecessors.end());
      t.predecessor_count = static_cast<std::uint32_t>(m_made.predecessors.size()) - t.first_predecessor;
    }
  }

  std::uint32_t link_track(std::uint32_t from, std::uint32_t to) {
    const auto [entry, is_new] =
        m_track_of_link.try_emplace({from, to}, static_cast<std::uint32_t>(m_made.tracks.size()));
    if (is_new)
      m_made.tracks.push_back({m_made.spaces[from].name + " -> " + m_made.spaces[to].name, track_kind::link, 0});
    return entry->second;
  }

  void collect_rest() {
    struct copy {
      std::uint64_t point;
      trace::transfer transfer;
      nanoseconds allowed;  ///< by what it waits for on the device
    };
    std::vector<copy> copies;
    for (std::size_t thread = 0; thread < m_from.threads.size(); ++thread)
      for (const event& e : m_from.threads[thread].events) {
        if (e.kind == event_kind::memory && e.number < m_made.spaces.size()) {
          m_made.spaces[e.number].samples.push_back({signed_of(e.time), e.words[0]});
        } else if (e.kind == event_kind::evicted && e.number < m_made.spaces.size()) {
          m_made.evictions.push_back(
              {e.number, static_cast<std::uint32_t>(e.task), e.words[0], signed_of(e.time), e.count != 0});
        } else if (e.kind == event_kind::slab && e.number < m_made.spaces.size()) {
          m_made.slabs.push_back(
              {e.number, e.words[1], signed_of(e.time), std::max(signed_of(e.words[0]), signed_of(e.time))});
        } else if (e.kind == event_kind::fence && e.count != 0) {
          m_made.waits.push_back({m_track_of_thread[thread], signed_of(e.time), signed_of(e.words[0]), true});
        } else if (e.kind == event_kind::fence) {
          m_made.fences.push_back({m_track_of_thread[thread], signed_of(e.time), signed_of(e.words[0])});
        } else if (e.kind == event_kind::transfer && e.small < m_made.spaces.size() &&
                   e.number < m_made.spaces.size()) {
          transfer x;
          x.from = e.small, x.to = e.number;
          x.block = static_cast<std::uint32_t>(e.task);
          x.bytes = e.words[1];
          x.issued = signed_of(e.time);
          x.ended = std::max(signed_of(e.words[0]), x.issued);
          x.write_back = e.count != 0;
          nanoseconds allowed = x.issued;
          for (const std::uint64_t point : {e.words[3], e.words[4]})
            if (const auto at = m_reached.find(point); at != m_reached.end()) allowed = std::max(allowed, at->second);
          copies.push_back({e.words[2], x, allowed});
        }
      }
    for (auto& s : m_made.spaces) std::ranges::stable_sort(s.samples, {}, &memory_sample::time);
    std::ranges::stable_sort(m_made.evictions, {}, &eviction::time);
    std::ranges::stable_sort(m_made.slabs, {}, &slab::started);
    std::ranges::stable_sort(m_made.fences, {}, &fence::started);
    std::ranges::stable_sort(m_made.waits, {}, &program_wait::started);
    // In the order of their streams; inline copies have no point and keep the order of their ends.
    std::ranges::stable_sort(copies, {}, [](const copy& c) { return std::pair(c.point, c.transfer.ended); });
    std::unordered_map<std::uint32_t, nanoseconds> stream_free, track_free;
    for (auto& [point, x, allowed] : copies) {
      x.track = link_track(x.from, x.to);
      nanoseconds& free = track_free[x.track];
      nanoseconds before = free;
      if (point != 0) before = std::max(before, stream_free[stream_of(point)]);
      x.started = std::min(std::max(allowed, before), x.ended);
      free = std::max(free, x.ended);
      if (point != 0) stream_free[stream_of(point)] = x.ended;
      m_made.transfers.push_back(x);
    }
    std::ranges::stable_sort(m_made.transfers, {}, &transfer::started);
  }

  /// Numbers names in the order of their first use, as who reads the timeline from a file does.
  void drop_unused_names() {
    renaming operations(m_made.operations), sites(m_made.sites), blocks(m_made.blocks);
    for (task& t : m_made.tasks) operations.apply(t.operation), sites.apply(t.site);
    for (use& u : m_made.uses) blocks.apply(u.block);
    for (transfer& x : m_made.transfers) blocks.apply(x.block);
    for (eviction& e : m_made.evictions) blocks.apply(e.block);
    m_made.operations = std::move(operations.kept);
    m_made.sites = std::move(sites.kept);
    m_made.blocks = std::move(blocks.kept);
  }
  struct renaming {
    explicit renaming(const std::vector<std::string>& names) : all(names), number(names.size() + 1, no_index) {}
    void apply(std::uint32_t& name) {
      std::uint32_t& as = number[std::min<std::size_t>(name, all.size())];
      if (as == no_index) {
        as = static_cast<std::uint32_t>(kept.size());
        kept.push_back(name < all.size() ? all[name] : "?");
      }
      name = as;
    }
    const std::vector<std::string>& all;
    std::vector<std::uint32_t> number;
    std::vector<std::string> kept;
  };

  /// Counts time from the first event on.
  void shift() {
    nanoseconds first = std::numeric_limits<nanoseconds>::max(), last = 0;
    const auto seen = [&](nanoseconds begin, nanoseconds end) {
      first = std::min(first, begin), last = std::max(last, end);
    };
    for (const task& t : m_made.tasks) seen(t.submitted, t.ended);
    for (const transfer& x : m_made.transfers) seen(x.issued, x.ended);
    if (last == 0) first = 0;
    m_made.length = last - first;
    const auto clamp = [&](nanoseconds& time) { time = std::clamp<nanoseconds>(time - first, 0, m_made.length); };
    for (task& t : m_made.tasks) t.submitted -= first, t.started -= first, t.ended -= first;
    for (transfer& x : m_made.transfers) x.issued -= first, x.started -= first, x.ended -= first;
    for (auto& s : m_made.spaces)
      for (memory_sample& m : s.samples) clamp(m.time);
    for (eviction& e : m_made.evictions) clamp(e.time);
    for (slab& s : m_made.slabs) clamp(s.started), clamp(s.ended);
    for (fence& f : m_made.fences) clamp(f.started), clamp(f.ended);
    for (program_wait& w : m_made.waits) clamp(w.started), clamp(w.ended);
  }

  struct park {
    enum reason : std::uint8_t {
      over,
      for_data,
      for_memory
    };
    std::uint32_t task;
    nanoseconds time;
    reason why;
  };
  struct pair_hash {
    template <class A, class B>
    std::size_t operator()(const std::pair<A, B>& p) const noexcept {
      return std::hash<A>{}(p.first) * 31 + std::hash<B>{}(p.second);
    }
  };

  const recording& m_from;
  timeline m_made;
  std::vector<draft> m_drafts;
  std::unordered_map<std::uint64_t, std::uint32_t> m_index;  // drafts by reference
  std::vector<std::uint32_t> m_track_of_thread;
  std::unordered_map<std::uint32_t, std::uint32_t> m_track_of_stream;
  std::unordered_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t, pair_hash> m_track_of_link;
  std::unordered_map<std::pair<const char*, std::uint32_t>, std::uint32_t, pair_hash> m_sites;
  std::unordered_map<std::uint64_t, nanoseconds> m_reached;  // points of streams
  std::unordered_map<std::uint64_t, std::uint32_t> m_steps;  // operations by the names of steps
  interval_sets m_asking;                                    // for slabs, by place
  std::vector<park> m_parks;
  std::vector<pause> m_pauses;
};

}  // namespace

timeline build(const recording& from) { return builder(from).run(); }

}  // namespace tessera::trace
