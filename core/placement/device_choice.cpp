// The placement as front ends ask it that would otherwise run an operation in place. The calling thread is a candidate
// that does not wait.
#include "core/placement/device_choice.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/placement/placer.hpp"

namespace tessera::placement {
namespace {

/// Seconds by what the device says of itself.
double described_seconds(const place& at, double work) {
  const tsr_device_desc& description = at.device->description();
  const double shares = at.is_host ? std::max<double>(1, description.compute_units) : at.parallelism;
  const double ns_per_operation = description.peak_f64 > 0 ? 1e9 * shares / description.peak_f64 : 0.25;
  return ((at.is_host ? 500 : 10'000) + work * ns_per_operation) * 1e-9;
}

/// The same over a usual bus.
double usual_seconds_to_bring(std::uint64_t bytes) { return 8e-6 + static_cast<double>(bytes) / (20.0 * (1u << 30)); }

/// Seconds to bring a block from the nearest of the spaces that have it.
double seconds_to_bring(const transfer::link_map& links, const block::space_set& have, memory::space_number to,
                        std::uint64_t bytes) {
  double best = 0;
  bool found = false;
  have.for_each([&](memory::space_number from) {
    const transfer::route* way = &links.between(from, to);
    double seconds = way->seconds(bytes);
    if (way->kind == transfer::route_kind::none) {
      const memory::space_number stop = links.stop_between(from, to);
      if (stop == memory::no_space) return;
      seconds = links.between(from, stop).seconds(bytes) + links.between(stop, to).seconds(bytes);
    }
    if (!found || seconds < best) best = seconds;
    found = true;
  });
  return best;
}

block::space_set spaces_of(const block::access& a) {
  const std::lock_guard guard(a.block->lock);
  return a.block->valid_spaces;
}

}  // namespace

std::optional<device_choice> placer::choose_device(const device_question& asked, const place& here,
                                                   location::node_id from) {
  const element_type type = asked.accesses.empty() ? element_type::none : asked.accesses[0].block->type;
  history::profile* profile = nullptr;
  const task_size size =
      m_history != nullptr ? look_up(*asked.operation, asked.arguments, asked.accesses, profile) : task_size{};
  const double work = asked.operation->work != nullptr ? asked.operation->work(asked.arguments, asked.accesses) : 0;

  /// Until one of the places that have a block, or are to make it, has come so far.
  const auto wait_for = [&](const block::space_set& have) {
    double least = 0;
    bool found = false;
    for (const auto& e : m_places) {
      if (!have.has(e->space)) continue;
      const double seconds = e->is_host ? 0 : e->wait_seconds();
      if (!found || seconds < least) least = seconds;
      found = true;
    }
    return least;
  };

  // Where a device's speed is a guess, what its links say of themselves may have been measured when it was opened.
  const bool usual_links = asked.fixed && std::ranges::any_of(m_places, [](const auto& e) {
                             return !e->is_host && e->device->description().peaks_are_guesses;
                           });

  boost::container::small_vector<candidate, 16> plan;
  for (const auto& e : m_places) {
    if (e->is_host ? asked.only_devices || e.get() != &here : !e->attached()) continue;
    if (!asked.operation->runs_on(*e->device, type, e->is_host)) continue;
    if (asked.also != nullptr && !asked.also->runs_on(*e->device, type, e->is_host)) continue;
    const memory::space& space = m_setup.coherence->space_at(e->space);
    candidate c{.place = e->number, .location = e->location, .distance = distance(from, *e)};
    if (!asked.fixed && !e->is_host) c.queue_seconds = m_history != nullptr ? e->wait_seconds() : e->queue_seconds();
    std::uint64_t bytes = 0;
    for (std::size_t k = 0; k < asked.accesses.size(); ++k) {
      const block::access& a = asked.accesses[k];
      bytes += space.allocated_size(a.block->bytes);
      if (!needs_contents(a.intent)) continue;
      const block::space_set known =
          k < asked.spaces.size() && !asked.spaces[k].empty() ? asked.spaces[k] : spaces_of(a);
      if (known.has(e->space)) {
        c.resident_bytes += a.block->bytes;
      } else {
        c.missing_bytes += a.block->bytes;
        c.transfer_seconds += usual_links
                                  ? usual_seconds_to_bring(a.block->bytes)
                                  : seconds_to_bring(m_setup.coherence->links(), known, e->space, a.block->bytes);
        if (!asked.fixed) c.queue_seconds = std::max(c.queue_seconds, wait_for(known));
      }
    }
    if (!e->is_host && bytes > space.limit()) continue;
    if (!asked.fixed) {
      c.execute_seconds = m_history != nullptr ? m_history->seconds(profile, e->kind, size.amount)
                                               : work * e->ns_per_flop.load(std::memory_order_relaxed) * 1e-9;
    } else {
      c.execute_seconds = described_seconds(*e, work);
      c.distance = e->is_host ? 0 : 1 + (e->number + asked.turn) % static_cast<std::uint32_t>(m_places.size());
    }
    plan.push_back(c);
  }
  if (plan.empty()) return std::nullopt;
  const std::span<const candidate> all(plan.data(), plan.size());
  const bool by_plugin = m_setup.plugin != nullptr && !asked.fixed;
  const std::size_t best =
      by_plugin ? choose_place(*m_setup.plugin, asked.operation->name, all) : choose_place(m_policy, all);
  std::size_t chosen = best;
  if (m_policy == placement_policy::cost && profile != nullptr && !asked.fixed)
    chosen = decide(*profile, size, all, best);
  const place& to = *m_places[plan[chosen].place];
  if (to.is_host) return std::nullopt;
  return device_choice{to.number, to.location, to.space, plan[chosen].execute_seconds, chosen != best};
}

void placer::learn_in_place(const device_question& asked, place& here, double nanoseconds) {
  here.learn(asked.operation->work != nullptr ? asked.operation->work(asked.arguments, asked.accesses) : 0,
             nanoseconds);
  if (m_history == nullptr) return;
  history::profile* profile = nullptr;
  const task_size size = look_up(*asked.operation, asked.arguments, asked.accesses, profile);
  if (profile != nullptr) learn(*profile, size, here, nanoseconds, true);
}

}  // namespace tessera::placement
