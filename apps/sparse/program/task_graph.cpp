#include "apps/sparse/program/task_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <unordered_map>

#include "apps/sparse/program/fusion.hpp"
#include "apps/sparse/program/strip_steps.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t fan_in = 16;  // partial sums that one task adds up; part of what decides the bits of a result

block_access access(const tiled_memory& of, std::size_t tile, intent how) {
  return {.block = of.tiles()[tile].record, .version = 0, .intent = how, .flags = 0, .space = 0};
}

/// How a task uses each of its blocks: what it writes before it reads it is not fetched.
class intents {
 public:
  void note_read(std::size_t k) { m_seen.try_emplace(k, intent::read); }
  void note_write(std::size_t k) {
    const auto [at, first] = m_seen.try_emplace(k, intent::write);
    if (!first && at->second == intent::read) at->second = intent::update;
  }
  intent of(std::size_t k) const { return m_seen.at(k); }

 private:
  std::map<std::size_t, intent> m_seen;
};

/// Numbers operands in the order of their first use.
template <class Operand>
class numbering {
 public:
  std::size_t of(const std::shared_ptr<Operand>& operand) {
    const auto [at, fresh] = m_places.emplace(operand.get(), m_all.size());
    if (fresh) m_all.push_back(operand.get());
    return at->second;
  }
  const std::vector<Operand*>& all() const noexcept { return m_all; }

 private:
  std::unordered_map<const Operand*, std::size_t> m_places;
  std::vector<Operand*> m_all;
};

/// Where the sums of a reduction are among a panel's partial sums, and where they go.
struct reduced {
  std::int64_t begin, size;
  small_data* to;
  bool root;    ///< sums of squares become norms
  bool mirror;  ///< the upper triangle is there: a vector's products with itself
};

/// A multiplication's source and the blocks of it that each panel's task has.
struct multiplied_vector {
  vector_data* vector;
  std::vector<std::vector<std::size_t>> blocks;   ///< per panel: places among the task's blocks, ascending rows
  std::vector<std::vector<std::int32_t>> panels;  ///< per panel: which panels these are
};

}  // namespace

/// A pass over the rows.
struct task_graph::stage {
  const row_panels* panels = nullptr;
  std::int64_t strip_rows = 0;
  std::vector<strip_step> steps;
  std::vector<vector_data*> vectors;
  std::vector<small_data*> small;  ///< that are read
  std::vector<multiplied_vector> sources;
  std::vector<reduced> reductions;
  std::int64_t partial_size = 0;
  std::vector<std::vector<block_access>> uses;  ///< per panel: vectors, small matrices, partial sums, further panels
  std::vector<array<double>> sums;              ///< partial sums of the panels, then of fan_in of those, ...

  void run_panel(std::int64_t panel, const task_blocks& blocks) const;
  void finish(const task_blocks& blocks, std::size_t parts) const;
  void submit(runtime& rt) const;
  std::int64_t tasks() const {
    std::int64_t count = panels->count() + (reductions.empty() ? 0 : 1);
    for (std::size_t level = 1; level < sums.size(); ++level) count += static_cast<std::int64_t>(sums[level].size());
    return count;
  }
};

void task_graph::stage::run_panel(std::int64_t panel, const task_blocks& blocks) const {
  static thread_local strip_operands on;
  const std::vector<block_access>& used = uses[static_cast<std::size_t>(panel)];
  // What is only read is not written by the steps either.
  const auto data = [&](std::size_t k) {
    return used[k].intent == intent::read ? const_cast<double*>(blocks.get<const double>(k).data())
                                          : blocks.get<double>(k).data();
  };
  on.begin = panels->begin(panel), on.end = panels->end(panel), on.strip_rows = strip_rows, on.panel = panel;
  on.vectors.clear(), on.small.clear();
  for (std::size_t k = 0; k < vectors.size(); ++k) on.vectors.push_back({data(k), vectors[k]->columns});
  for (std::size_t k = 0; k < small.size(); ++k) on.small.push_back(data(vectors.size() + k));
  on.partials = nullptr;
  if (partial_size > 0) {
    on.partials = data(vectors.size() + small.size());
    std::fill_n(on.partials, partial_size, 0.0);
  }
  on.sources.resize(sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto& places = sources[s].blocks[static_cast<std::size_t>(panel)];
    const auto& touched = sources[s].panels[static_cast<std::size_t>(panel)];
    on.sources[s].pieces.clear();
    for (std::size_t k = 0; k < places.size(); ++k)
      on.sources[s].pieces.push_back({data(places[k]), panels->begin(touched[k]), panels->end(touched[k])});
    on.sources[s].join(sources[s].vector->columns);
  }
  run_steps(steps, on);
}

/// Adds up `parts` partial sums, the first blocks, into the small matrices, the blocks behind them.
void task_graph::stage::finish(const task_blocks& blocks, std::size_t parts) const {
  for (std::size_t r = 0; r < reductions.size(); ++r) {
    const reduced& one = reductions[r];
    double* const to = blocks.get<double>(parts + r).data();
    std::copy_n(blocks.get<const double>(0).data() + one.begin, one.size, to);
    for (std::size_t k = 1; k < parts; ++k) {
      const double* const part = blocks.get<const double>(k).data() + one.begin;
      for (std::int64_t i = 0; i < one.size; ++i) to[i] += part[i];
    }
    if (one.mirror)
      for (std::int64_t i = 0; i < one.to->rows; ++i)
        for (std::int64_t j = 0; j < i; ++j) to[i * one.to->columns + j] = to[j * one.to->columns + i];
    if (one.root) std::transform(to, to + one.size, to, [](double x) { return std::sqrt(x); });
  }
}

void task_graph::stage::submit(runtime& rt) const {
  const auto site = std::source_location::current();
  for (std::int64_t p = 0; p < panels->count(); ++p)
    rt.submit_at(
        site, {}, "sparse_panel", [this, p](task_blocks blocks) { run_panel(p, blocks); },
        std::span<const block_access>(uses[static_cast<std::size_t>(p)]));
  if (reductions.empty()) return;
  const task_options soon{.priority = 1};  // everything else waits for these
  std::vector<block_access> used;
  for (std::size_t level = 1; level < sums.size(); ++level)
    for (std::size_t k = 0; k < sums[level].size(); ++k) {
      const array<double>& parts = sums[level - 1];
      used.assign(1, write(sums[level].block(k)));
      for (std::size_t j = k * fan_in; j < std::min((k + 1) * fan_in, parts.size()); ++j)
        used.push_back(read(parts.block(j)));
      rt.submit_at(
          site, soon, "sparse_sum",
          [](task_blocks blocks) {
            const view<double> to = blocks.get<double>(0);
            std::copy_n(blocks.get<const double>(1).data(), to.size(), to.data());
            for (std::size_t part = 2; part < blocks.size(); ++part) {
              const double* const from = blocks.get<const double>(part).data();
              for (std::int64_t i = 0; i < to.size(); ++i) to[i] += from[i];
            }
          },
          std::span<const block_access>(used));
    }
  used.clear();
  const std::size_t parts = sums.back().size();
  for (std::size_t k = 0; k < parts; ++k) used.push_back(read(sums.back().block(k)));
  for (const reduced& r : reductions) used.push_back(access(*r.to->block, 0, intent::write));
  rt.submit_at(
      site, soon, "sparse_reduce", [this, parts](task_blocks blocks) { finish(blocks, parts); },
      std::span<const block_access>(used));
}

void task_graph::make_stage(const graph_shape& shape, std::span<const std::size_t> members) {
  auto made = std::make_unique<stage>();
  stage& s = *made;
  s.panels = &shape.panels;
  numbering<vector_data> vectors;
  numbering<small_data> small;
  intents how;  // of the block vectors
  std::vector<const operation*> multiplications;
  for (const std::size_t member : members) {
    const operation& o = m_operations[member];
    strip_step step{.kind = o.kind,
                    .from = {},
                    .to = {},
                    .matrix = o.matrix,
                    .product = o.product,
                    .diagonal = o.diagonal,
                    .factor = o.factor};
    if (o.kind == operation_kind::mxm) {
      step.source = std::ssize(multiplications);
      multiplications.push_back(&o);
    } else {
      for (const auto& v : o.from) step.from.push_back(vectors.of(v)), how.note_read(step.from.back());
    }
    if (!o.small_from.empty()) {
      step.small = small.of(o.small_from[0]);
      step.small_columns = o.small_from[0]->columns;
    }
    for (const auto& v : o.to) {
      step.to.push_back(vectors.of(v));
      if (o.updates()) how.note_read(step.to.back());
      how.note_write(step.to.back());
    }
    if (o.is_reduction()) {
      small_data& to = *o.small_to[0];
      step.partial = s.partial_size;
      s.reductions.push_back({s.partial_size, to.size(), &to, o.kind == operation_kind::column_norms,
                              o.kind == operation_kind::gram && o.from[0] == o.from[1]});
      s.partial_size += to.size();
    }
    s.steps.push_back(std::move(step));
  }
  s.vectors = vectors.all();
  s.small = small.all();

  // All vectors of a strip fit half of a usual second-level cache of 512 KiB.
  std::int64_t row_bytes = 0;
  for (const vector_data* v : s.vectors) row_bytes += v->columns * std::int64_t{sizeof(double)};
  const std::int64_t fitting = (std::int64_t{256} << 10) / row_bytes / 64 * 64;
  s.strip_rows = shape.strip_rows > 0 ? shape.strip_rows : std::clamp<std::int64_t>(fitting, 64, 1024);

  if (s.partial_size > 0)
    for (std::int64_t parts = shape.panels.count();; parts = (parts + fan_in - 1) / fan_in) {
      s.sums.push_back(shape.rt.make_array<double>("partial sums", {parts * s.partial_size}, {s.partial_size}));
      if (parts <= fan_in) break;
    }

  for (const operation* o : multiplications)
    s.sources.push_back({.vector = o->from[0].get(), .blocks = {}, .panels = {}});
  for (std::int64_t p = 0; p < shape.panels.count(); ++p) {
    const auto panel = static_cast<std::size_t>(p);
    std::vector<block_access> used;
    std::map<const block::record*, std::size_t> places;
    const auto add = [&](const block_access& a) {
      const auto [at, fresh] = places.emplace(a.block, used.size());
      if (fresh) used.push_back(a);
      return at->second;
    };
    for (std::size_t k = 0; k < s.vectors.size(); ++k) add(access(*s.vectors[k]->tiles, panel, how.of(k)));
    for (const small_data* m : s.small) add(access(*m->block, 0, intent::read));
    if (s.partial_size > 0) add(write(s.sums[0].block(panel)));
    for (std::size_t m = 0; m < multiplications.size(); ++m) {
      const auto& known = *std::ranges::find(shape.matrices, multiplications[m]->matrix, &matrix_panels::matrix);
      s.sources[m].panels.push_back(known.touched[panel]);
      auto& blocks = s.sources[m].blocks.emplace_back();
      for (const std::int32_t other : known.touched[panel])
        blocks.push_back(add(access(*s.sources[m].vector->tiles, static_cast<std::size_t>(other), intent::read)));
    }
    s.uses.push_back(std::move(used));
  }
  m_stages.push_back(std::move(made));
}

task_graph::task_graph(const graph_shape& shape, std::vector<operation> operations)
    : m_runtime(shape.rt), m_operations(std::move(operations)) {
  for (const pass& p : fuse(m_operations)) {
    m_small.push_back(p.small);
    if (p.panels.empty())
      m_stages.push_back(nullptr);
    else
      make_stage(shape, p.panels);
  }
}

task_graph::~task_graph() = default;

void task_graph::submit_small(const operation& o) {
  // Sources, then destinations; a matrix that is both is one block.
  std::vector<block_access> used;
  std::vector<std::size_t> from, to;
  for (const auto& m : o.small_from) {
    const bool written = std::ranges::find(o.small_to, m) != o.small_to.end();
    const auto known = std::ranges::find(used, m->block->tiles()[0].record, &block_access::block);
    from.push_back(static_cast<std::size_t>(known - used.begin()));
    if (known == used.end()) used.push_back(access(*m->block, 0, written ? intent::update : intent::read));
  }
  for (const auto& m : o.small_to) {
    const auto known = std::ranges::find(used, m->block->tiles()[0].record, &block_access::block);
    to.push_back(static_cast<std::size_t>(known - used.begin()));
    if (known == used.end()) used.push_back(access(*m->block, 0, intent::write));
  }
  // Tasks of one std::function type keep their own names, those of a lambda have the first.
  const std::function<void(task_blocks)> run = [&o, from = std::move(from), to = std::move(to),
                                                used](task_blocks blocks) {
    const auto seen = [&](std::size_t k, const small_data& m) {
      return small_view{used[k].intent == intent::read ? const_cast<double*>(blocks.get<const double>(k).data())
                                                       : blocks.get<double>(k).data(),
                        m.rows, m.columns};
    };
    std::vector<small_view> sources, destinations;
    for (std::size_t k = 0; k < from.size(); ++k) sources.push_back(seen(from[k], *o.small_from[k]));
    for (std::size_t k = 0; k < to.size(); ++k) destinations.push_back(seen(to[k], *o.small_to[k]));
    o.function(sources, destinations);
  };
  m_runtime.submit_at(std::source_location::current(), {.priority = 1}, o.name, run,
                      std::span<const block_access>(used));
}

void task_graph::submit() {
  for (std::size_t k = 0; k < m_stages.size(); ++k) {
    for (const std::size_t small : m_small[k]) submit_small(m_operations[small]);
    if (m_stages[k] != nullptr) m_stages[k]->submit(m_runtime);
  }
}

std::int64_t task_graph::passes() const noexcept {
  return std::ranges::count_if(m_stages, [](const auto& s) { return s != nullptr; });
}

std::int64_t task_graph::tasks() const noexcept {
  std::int64_t count = 0;
  for (const auto& s : m_stages) count += s != nullptr ? s->tasks() : 0;
  for (const auto& s : m_small) count += std::ssize(s);
  return count;
}

}  // namespace tessera::sparse
