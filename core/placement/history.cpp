#include "core/placement/history.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

namespace tessera::placement {
namespace {

constexpr std::memory_order relaxed = std::memory_order_relaxed;

/// What choosing reads of one bucket and kind; 16 bytes.
struct hot_cell {
  std::atomic<float> ns_per_unit{0};         // 0: nothing measured
  std::atomic<float> amount{0};              // of the last measurement
  std::atomic<std::uint32_t> samples{0};     // exact ones, up to `kept`
  std::atomic<std::uint32_t> last_given{0};  // decision of the bucket that chose this kind; 0: never
};

/// What only measuring touches; 64 bytes.
struct ring {
  std::array<float, history::kept> ns_per_unit{};
  std::uint8_t next = 0, count = 0, outliers = 0;
  bool fresh = false;

  void add(float value) noexcept {
    ns_per_unit[next] = value;
    next = static_cast<std::uint8_t>((next + 1) % history::kept);
    count = static_cast<std::uint8_t>(std::min<std::size_t>(count + 1u, history::kept));
  }
  float median() const noexcept { return median_of({ns_per_unit.data(), count}); }
};
static_assert(sizeof(ring) == 64);

struct row {                               // one kind
  std::atomic<std::uint64_t> measured{0};  // a bit per bucket
  std::array<hot_cell, history::buckets> cells;
  mutable spin_lock lock;  // of what follows, and of writing to cells
  std::array<ring, history::buckets> rings;
};
static_assert(history::buckets <= 64);

struct bucket_state {
  std::atomic<std::uint32_t> decisions{0};
  std::atomic<float> block_bytes{0}, input_bytes{0}, inputs{0};
  std::atomic<std::int64_t> budget_ns{static_cast<std::int64_t>(history::trial_allowance * 1e9)};
};

/// A point that was measured: amount, and nanoseconds of a task with it.
struct point {
  double amount, ns;
};

point point_of(const row& r, unsigned bucket) noexcept {
  const hot_cell& c = r.cells[bucket];
  const double amount = c.amount.load(relaxed);
  return {amount, amount * c.ns_per_unit.load(relaxed)};
}

/// Beyond what was measured: the line through the two nearest points, or, with one point alone, of the slope that is
/// guessed. A task has a fixed part and one per unit, so the slope is not negative, and no steeper than the nearest
/// point's own time per unit. (With one point, that would be the other choice; but it makes a small task's overhead
/// grow with the amount, and a place that is believed to be slow is not chosen, so the error would stay. One that is
/// believed to be fast is measured next.)
double continued(const point& near, const point& far, double amount, double guessed_slope) noexcept {
  const double slope = far.amount == near.amount ? guessed_slope : (near.ns - far.ns) / (near.amount - far.amount);
  return near.ns + std::clamp(slope, 0.0, near.ns / near.amount) * (amount - near.amount);
}

double guessed_slope(const place_kind& kind, bool counts_operations) noexcept {
  return counts_operations ? kind.ns_per_operation : kind.ns_per_byte;
}

double between(const point& a, const point& b, double amount) noexcept {
  return b.amount > a.amount ? std::lerp(a.ns, b.ns, (amount - a.amount) / (b.amount - a.amount)) : b.ns;
}

unsigned lowest(std::uint64_t bits) noexcept { return static_cast<unsigned>(std::countr_zero(bits)); }
unsigned highest(std::uint64_t bits) noexcept { return static_cast<unsigned>(std::bit_width(bits)) - 1; }

}  // namespace

struct history::profile {
  std::string operation;
  element_type type = element_type::none;
  bool counts_operations = true;
  bool persistent = true;
  std::size_t number = 0;
  std::atomic<std::uint64_t> measured_kinds{0};  // a bit per kind
  std::array<bucket_state, buckets> state;
  std::vector<row> rows;  // by kind
  explicit profile(std::size_t kinds) : rows(kinds) {}
};

float median_of(std::span<const float> values) {
  std::array<float, history::kept> few;
  std::vector<float> many;
  if (values.empty()) return 0;
  if (values.size() > few.size())
    many.assign(values.begin(), values.end());
  else
    std::copy(values.begin(), values.end(), few.begin());
  const std::span<float> all = many.empty() ? std::span(few.data(), values.size()) : std::span(many);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

double history_cell::ns_per_unit() const { return median_of(samples); }

history::history(std::vector<place_kind> kinds)
    : m_kinds(std::move(kinds)),
      m_index(std::make_unique<std::atomic<std::uint16_t>[]>(operation::catalog::max_operations * types)) {}

history::~history() = default;

std::uint32_t history::bucket_of(double amount) noexcept {
  if (!(amount >= 2)) return 0;
  return std::min<std::uint32_t>(static_cast<std::uint32_t>(std::ilogb(amount)), buckets - 1);
}

history::profile* history::make_profile(const operation::definition& what, element_type type) {
  const std::lock_guard guard(m_mutex);
  std::atomic<std::uint16_t>& at = m_index[what.number * types + static_cast<std::size_t>(type)];
  if (at.load(relaxed) != 0) return m_profiles[at.load(relaxed) - 1].get();
  if (m_count == max_profiles) return nullptr;
  auto fresh = std::make_unique<profile>(m_kinds.size());
  fresh->operation = what.name;
  fresh->type = type;
  fresh->counts_operations = what.work != nullptr;
  fresh->persistent = what.enqueue != nullptr;
  fresh->number = m_count;
  std::erase_if(m_restored, [&](const history_cell& c) {
    if (c.operation != what.name || c.type != type || c.counts_operations != fresh->counts_operations) return false;
    const auto kind = std::ranges::find(m_kinds, c.place, &place_kind::name);  // restore() kept known ones only
    row& r = fresh->rows[static_cast<std::size_t>(kind - m_kinds.begin())];
    hot_cell& to = r.cells[c.bucket];
    ring& samples = r.rings[c.bucket];
    samples = {};
    for (const float ns : c.samples) samples.add(ns);
    to.ns_per_unit.store(samples.median(), relaxed);
    to.amount.store(static_cast<float>(c.amount), relaxed);
    to.samples.store(samples.count, relaxed);
    to.last_given.store(1, relaxed);  // known: its next trial is due like any other
    r.measured.fetch_or(std::uint64_t{1} << c.bucket, relaxed);
    fresh->measured_kinds.fetch_or(std::uint64_t{1} << (kind - m_kinds.begin()), relaxed);
    bucket_state& s = fresh->state[c.bucket];
    s.block_bytes.store(static_cast<float>(c.block_bytes), relaxed);
    s.input_bytes.store(static_cast<float>(c.input_bytes), relaxed);
    s.inputs.store(static_cast<float>(c.inputs), relaxed);
    return true;
  });
  m_profiles[m_count] = std::move(fresh);
  at.store(static_cast<std::uint16_t>(++m_count), std::memory_order_release);
  return m_profiles[m_count - 1].get();
}

double history::prior_seconds(std::uint32_t kind, double amount, bool counts_operations) const noexcept {
  const place_kind& k = m_kinds[kind];
  return (k.overhead_ns + amount * (counts_operations ? k.ns_per_operation : k.ns_per_byte)) * 1e-9;
}

double history::guesses_err_by(const profile& p, std::uint32_t kind, double amount) const noexcept {
  double logarithms = 0;
  int count = 0;
  for (std::uint32_t k = 0; k < m_kinds.size(); ++k) {
    if (k == kind || m_kinds[k].is_host != m_kinds[kind].is_host || p.rows[k].measured.load(relaxed) == 0) continue;
    const double real = seconds(&p, k, amount), guess = prior_seconds(k, amount, p.counts_operations);
    if (!(real > 0) || !(guess > 0)) continue;
    logarithms += std::log(real / guess);
    ++count;
  }
  return count == 0 ? 1 : std::exp(logarithms / count);
}

double history::seconds(const profile* p, std::uint32_t kind, double amount) const noexcept {
  if (p == nullptr) return prior_seconds(kind, amount, true);
  const row& r = p->rows[kind];
  const unsigned bucket = bucket_of(amount);
  const std::uint64_t measured = r.measured.load(relaxed);
  if ((measured >> bucket & 1) != 0) return r.cells[bucket].ns_per_unit.load(relaxed) * amount * 1e-9;
  if (measured == 0) {
    const double guess = prior_seconds(kind, amount, p->counts_operations);
    return p->measured_kinds.load(relaxed) == 0 ? guess : guess * guesses_err_by(*p, kind, amount);
  }
  const std::uint64_t lower_bits = (std::uint64_t{1} << bucket) - 1;
  const std::uint64_t below = measured & lower_bits, above = measured & ~lower_bits;
  if (below != 0 && above != 0) return between(point_of(r, highest(below)), point_of(r, lowest(above)), amount) * 1e-9;
  const unsigned nearest = below != 0 ? highest(below) : lowest(above);
  const std::uint64_t rest = measured & ~(std::uint64_t{1} << nearest);
  const unsigned next = rest == 0 ? nearest : below != 0 ? highest(rest) : lowest(rest);
  return continued(point_of(r, nearest), point_of(r, next), amount,
                   guessed_slope(m_kinds[kind], p->counts_operations)) *
         1e-9;
}

bool history::observe(profile& p, std::uint32_t kind, const task_size& size, double ns, bool exact) noexcept {
  if (!(ns > 0) || !m_kinds[kind].learns) return false;
  const double amount = std::max(size.amount, 1.0);
  const unsigned bucket = bucket_of(amount);
  const double before = seconds(&p, kind, amount);
  const auto per_unit = static_cast<float>(ns / amount);
  row& r = p.rows[kind];
  {
    if (!r.lock.try_lock()) return false;
    const std::lock_guard guard(r.lock, std::adopt_lock);
    hot_cell& cell = r.cells[bucket];
    ring& samples = r.rings[bucket];
    if (!exact) {
      if (samples.count != 0) return false;
      const float known = cell.ns_per_unit.load(relaxed);
      cell.ns_per_unit.store(known == 0 ? per_unit : std::min(known, per_unit), relaxed);
    } else {
      if (samples.count >= minimum) {
        const double ratio = per_unit / samples.median();
        if (ratio > outlier || ratio < 1 / outlier) {
          if (++samples.outliers < outliers_believed) return false;
          samples.count = samples.next = 0;  // the place has changed: begin anew
        }
      }
      samples.outliers = 0;
      samples.add(per_unit);
      samples.fresh = true;
      cell.ns_per_unit.store(samples.median(), relaxed);
      cell.samples.store(samples.count, relaxed);
    }
    cell.amount.store(static_cast<float>(amount), relaxed);
    r.measured.fetch_or(std::uint64_t{1} << bucket, relaxed);
    p.measured_kinds.fetch_or(std::uint64_t{1} << kind, relaxed);
  }
  bucket_state& s = p.state[bucket];
  s.block_bytes.store(size.block_bytes, relaxed);
  s.input_bytes.store(size.input_bytes, relaxed);
  s.inputs.store(size.inputs, relaxed);
  const double after = seconds(&p, kind, amount);
  return after > before * surprise || before > after * surprise;
}

std::size_t history::decide(profile& p, double amount, std::span<const option> options, std::size_t best) noexcept {
  const unsigned bucket = bucket_of(amount);
  bucket_state& s = p.state[bucket];
  std::uint32_t now = s.decisions.fetch_add(1, relaxed) + 1;
  if (now == 0) now = 1;  // 0 means never
  s.budget_ns.fetch_add(static_cast<std::int64_t>(options[best].execute_seconds * trial_share * 1e9), relaxed);
  p.rows[options[best].kind].cells[bucket].last_given.store(now, relaxed);

  // The kind left out longest; of a kind the place that would be done first.
  std::size_t chosen = best;
  std::uint32_t longest = 0;
  for (std::size_t k = 0; k < options.size(); ++k) {
    const option& o = options[k];
    if (o.kind == options[best].kind || !m_kinds[o.kind].learns) continue;
    const hot_cell& cell = p.rows[o.kind].cells[bucket];
    const std::uint32_t last = cell.last_given.load(relaxed);
    const std::uint32_t left_out = last == 0 ? ~std::uint32_t{0} : now - last;
    if (left_out < (cell.samples.load(relaxed) < minimum ? retry_after : resample_after)) continue;
    if (left_out > longest || (left_out == longest && o.finish_seconds < options[chosen].finish_seconds)) {
      chosen = k;
      longest = left_out;
    }
  }
  if (chosen == best) return best;
  const double loss = std::max(options[chosen].finish_seconds - options[best].finish_seconds, 0.0);
  const auto loss_ns = static_cast<std::int64_t>(std::min(loss, 1e9) * 1e9);
  std::int64_t left = s.budget_ns.load(relaxed);
  do {
    if (left < loss_ns) return best;
  } while (!s.budget_ns.compare_exchange_weak(left, left - loss_ns, relaxed));
  p.rows[options[chosen].kind].cells[bucket].last_given.store(now, relaxed);
  m_trials.fetch_add(1, relaxed);
  m_trial_ns.fetch_add(loss_ns, relaxed);
  return chosen;
}

std::vector<history_cell> history::cells(bool persistent_only) const {
  std::vector<history_cell> all;
  const std::lock_guard guard(m_mutex);
  for (std::size_t n = 0; n < m_count; ++n) {
    const profile& p = *m_profiles[n];
    if (persistent_only && !p.persistent) continue;
    for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
      const row& r = p.rows[kind];
      const std::lock_guard row_guard(r.lock);
      for (std::uint32_t b = 0; b < buckets; ++b) {
        const ring& samples = r.rings[b];
        if (samples.count == 0) continue;
        history_cell c;
        c.operation = p.operation;
        c.type = p.type;
        c.place = m_kinds[kind].name;
        c.counts_operations = p.counts_operations;
        c.bucket = b;
        c.amount = r.cells[b].amount.load(relaxed);
        c.block_bytes = p.state[b].block_bytes.load(relaxed);
        c.input_bytes = p.state[b].input_bytes.load(relaxed);
        c.inputs = p.state[b].inputs.load(relaxed);
        c.fresh = samples.fresh;
        const std::size_t oldest = samples.count < kept ? 0 : samples.next;
        for (std::size_t k = 0; k < samples.count; ++k) c.samples.push_back(samples.ns_per_unit[(oldest + k) % kept]);
        all.push_back(std::move(c));
      }
    }
  }
  if (persistent_only) all.insert(all.end(), m_restored.begin(), m_restored.end());
  std::ranges::stable_sort(all, {},
                           [](const history_cell& c) { return std::tie(c.operation, c.type, c.place, c.bucket); });
  return all;
}

void history::restore(std::vector<history_cell> cells) {
  const auto impossible = [&](const history_cell& c) {
    return std::ranges::find(m_kinds, c.place, &place_kind::name) == m_kinds.end() || c.bucket >= buckets ||
           c.samples.empty() || c.samples.size() > kept || !(c.amount >= 1) || !std::isfinite(c.amount) ||
           static_cast<std::size_t>(c.type) >= types ||
           std::ranges::any_of(c.samples, [](float ns) { return !(ns > 0) || !std::isfinite(ns); });
  };
  std::erase_if(cells, impossible);
  const std::lock_guard guard(m_mutex);
  m_restored = std::move(cells);
  for (history_cell& c : m_restored) c.fresh = false;
}

namespace {

/// The sizes of one operation and type that were measured at one place, by bucket.
using series = std::map<std::uint32_t, const history_cell*>;

/// As history::seconds, in nanoseconds.
double estimate(const series& cells, const place_kind& kind, double amount) {
  const auto point_at = [](const history_cell& c) { return point{c.amount, c.ns_per_unit() * c.amount}; };
  const auto above = cells.lower_bound(history::bucket_of(amount));
  if (above != cells.end() && above->first == history::bucket_of(amount)) return above->second->ns_per_unit() * amount;
  if (above != cells.begin() && above != cells.end())
    return between(point_at(*std::prev(above)->second), point_at(*above->second), amount);
  const bool beyond = above == cells.end();
  const auto nearest = beyond ? std::prev(above) : above;
  const bool single = cells.size() == 1;
  const auto next = single ? nearest : beyond ? std::prev(nearest) : std::next(nearest);
  return continued(point_at(*nearest->second), point_at(*next->second), amount,
                   guessed_slope(kind, nearest->second->counts_operations));
}

}  // namespace

std::vector<crossover> crossovers_of(std::span<const history_cell> cells, std::span<const place_kind> kinds) {
  std::map<std::tuple<std::string, element_type, bool>, std::vector<series>> operations;  // by kind
  for (const history_cell& c : cells) {
    const auto kind = std::ranges::find(kinds, c.place, &place_kind::name);
    if (kind == kinds.end() || c.samples.empty()) continue;
    auto& places = operations[{c.operation, c.type, c.counts_operations}];
    places.resize(kinds.size());
    places[static_cast<std::size_t>(kind - kinds.begin())][c.bucket] = &c;
  }
  std::vector<crossover> rows;
  for (const auto& [operation, places] : operations)
    for (std::size_t h = 0; h < kinds.size(); ++h)
      for (std::size_t d = 0; d < kinds.size(); ++d) {
        if (!kinds[h].is_host || kinds[d].is_host || places[h].empty() || places[d].empty()) continue;
        const auto& [name, type, counts_operations] = operation;
        crossover c{name, type, kinds[h].name, kinds[d].name, counts_operations, {}, {}, 0, 0};
        series sizes = places[d];
        sizes.insert(places[h].begin(), places[h].end());
        c.smallest_block = sizes.begin()->second->block_bytes;
        c.largest_block = sizes.rbegin()->second->block_bytes;
        for (const auto& [bucket, size] : sizes) {
          const double on_host = estimate(places[h], kinds[h], size->amount);
          const double there = estimate(places[d], kinds[d], size->amount);
          const double way =
              kinds[d].link_bytes_per_second > 0
                  ? (size->inputs * kinds[d].link_seconds + size->input_bytes / kinds[d].link_bytes_per_second) * 1e9
                  : 0;
          const auto weigh = [&](crossover::size& from, double ns) {
            if (ns > on_host)
              from = {};  // it loses here, so whatever was below does not count
            else if (!from.found)
              from = {true, size->amount, size->block_bytes};
          };
          weigh(c.resident, there);
          weigh(c.moved, there + way);
        }
        rows.push_back(std::move(c));
      }
  return rows;
}

}  // namespace tessera::placement
