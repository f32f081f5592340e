#include "libraries/sparse/program/panel_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tessera::sparse {
namespace {

/// How a task uses each of its blocks: what it writes before it reads it is not fetched.
class intents {
 public:
  void note_read(std::size_t k) { m_seen.try_emplace(k, intent::read); }
  void note_write(std::size_t k) {
    const auto [at, first] = m_seen.try_emplace(k, intent::write);
    if (!first && at->second == intent::read) at->second = intent::update;
  }
  /// Of all blocks, which are numbered from 0 on.
  std::vector<intent> all() const {
    std::vector<intent> found;
    for (const auto& [k, how] : m_seen) found.push_back(how);
    return found;
  }

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

}  // namespace

/// The argument of a panel's task.
struct panel_pass::argument {
  const panel_pass* pass;
  std::size_t panel;

  static void run(const op::context& c) {
    const auto& [pass, panel] = c.arguments_as<argument>();
    pass->run_panel(panel, c.operands);
  }
  static std::uint64_t workspace(const plugin::device&, const void* arguments, std::span<const block_access>) {
    const auto& [pass, panel] = *static_cast<const argument*>(arguments);
    return pass->m_device_steps->workspace(pass->m_device_panels[panel].rows);
  }
  static void launch(const op::context& c, op::kernel_sequence& to) {
    const auto& [pass, panel] = c.arguments_as<argument>();
    pass->m_device_steps->launch(pass->m_device_panels[panel], c, to);
  }
};

/// The blocks of a task, each once.
class panel_pass::block_list {
 public:
  /// Its place.
  std::size_t add(const block_access& a) {
    const auto [at, fresh] = m_places.emplace(a.block, all.size());
    if (fresh) all.push_back(a);
    return at->second;
  }
  std::vector<block_access> all;

 private:
  std::map<const block::record*, std::size_t> m_places;
};

/// For devices. Each width has kernels of its own.
const op::definition& panel_pass::panel_operation(runtime& rt, std::int64_t width) {
  return found_or_defined(rt, fmt::format("sparse_panel_{}", width), [width](op::definition& what) {
    what.host = &argument::run;
    what.workspace = &argument::workspace;
    what.kernel.names = step_kernel_names(width);
    what.kernel.text = steps_text(width);
    what.kernel.sequence = &argument::launch;
  });
}

const op::definition& panel_pass::host_operation(runtime& rt) {
  return found_or_defined(rt, "sparse_panel", [](op::definition& what) { what.host = &argument::run; });
}

panel_pass::panel_pass(const graph_shape& shape, std::span<const operation* const> members)
    : m_panels(shape.panels), m_location(shape.location) {
  graph_shape of = shape;
  if (std::ranges::any_of(members, [](const operation* o) { return o->rows != nullptr; })) {
    m_location = anywhere;
    of.on_devices = nullptr;
  }
  make_steps(of, members);
  m_operation = m_device_steps ? &panel_operation(shape.rt, m_device_steps->width()) : &host_operation(shape.rt);
}

/// What the host's kernels see of a task's blocks.
void panel_pass::run_panel(std::size_t panel, std::span<const op::operand> blocks) const {
  static thread_local strip_operands on{};
  const auto data = [&](std::size_t k) { return static_cast<double*>(blocks[k].host); };
  const auto p = static_cast<std::int64_t>(panel);
  on.begin = m_panels.begin(p), on.end = m_panels.end(p), on.strip_rows = m_strip_rows, on.panel = p;
  on.vectors.clear(), on.small.clear();
  for (std::size_t k = 0; k < m_vectors.size(); ++k) on.vectors.push_back({data(k), m_vectors[k]->columns});
  for (std::size_t k = 0; k < m_small.size(); ++k) on.small.push_back(data(m_vectors.size() + k));
  on.partials = nullptr;
  if (m_partial_size > 0) {
    on.partials = data(m_vectors.size() + m_small.size());
    std::fill_n(on.partials, m_partial_size, 0.0);
  }
  on.sources.resize(m_sources.size());
  for (std::size_t s = 0; s < m_sources.size(); ++s) {
    const auto& places = m_sources[s].blocks[panel];
    const auto& touched = m_sources[s].panels[panel];
    on.sources[s].pieces.clear();
    for (std::size_t k = 0; k < places.size(); ++k)
      on.sources[s].pieces.push_back({data(places[k]), m_panels.begin(touched[k]), m_panels.end(touched[k])});
    on.sources[s].join(m_sources[s].vector->columns);
  }
  run_steps(m_steps, on);
}

void panel_pass::submit(runtime& rt, bool backwards) const {
  const auto site = std::source_location::current();
  for (std::size_t k = 0; k < m_uses.size(); ++k) {
    const argument of{this, backwards ? m_uses.size() - 1 - k : k};
    rt.submit_operation(*m_operation, &of, sizeof of, m_uses[of.panel], {.at = m_location}, site);
  }
  if (m_sums != nullptr) m_sums->submit(rt, m_location);
}

std::int64_t panel_pass::tasks() const noexcept { return m_panels.count() + (m_sums != nullptr ? m_sums->tasks() : 0); }

void panel_pass::make_steps(const graph_shape& shape, std::span<const operation* const> members) {
  numbering<vector_data> vectors;
  numbering<small_data> small;
  intents how;  // of the block vectors
  std::vector<reduced> reductions;
  std::int64_t diagonals = 0;
  for (const operation* const member : members) {
    const operation& o = *member;
    strip_step step{.kind = o.kind,
                    .from = {},
                    .to = {},
                    .matrix = o.matrix,
                    .rows = o.rows,
                    .product = o.product,
                    .diagonal = o.diagonal,
                    .factor = o.factor};
    if (o.kind == operation_kind::mxm) {
      step.source = std::ssize(m_sources);
      m_sources.push_back({.vector = o.from[0].get(), .blocks = {}, .panels = {}});
    } else {
      for (const auto& v : o.from) step.from.push_back(vectors.of(v)), how.note_read(step.from.back());
    }
    if (o.kind == operation_kind::apply_diagonal) step.source = diagonals++;
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
      step.partial = m_partial_size;
      reductions.push_back({m_partial_size, to.size(), &to, o.kind == operation_kind::column_norms,
                            o.kind == operation_kind::gram && o.from[0] == o.from[1]});
      m_partial_size += to.size();
    }
    m_steps.push_back(std::move(step));
  }
  m_vectors = vectors.all();
  m_small = small.all();
  if (m_partial_size > 0)
    m_sums = std::make_unique<sum_tree>(shape.rt, m_panels.count(), m_partial_size, std::move(reductions));

  // All vectors of a strip fit half of a usual second-level cache of 512 KiB.
  std::int64_t row_bytes = 0;
  for (const vector_data* v : m_vectors) row_bytes += v->columns * std::int64_t{sizeof(double)};
  const std::int64_t fitting = (std::int64_t{256} << 10) / row_bytes / 64 * 64;
  m_strip_rows = std::min(shape.strip_rows > 0 ? shape.strip_rows : std::clamp<std::int64_t>(fitting, 64, 1024),
                          m_panels.ends.back());

  if (shape.on_devices != nullptr) {
    std::vector<std::int64_t> columns;
    for (const vector_data* v : m_vectors) columns.push_back(v->columns);
    m_device_steps.emplace(m_steps, std::move(columns), m_small.size(), m_partial_size);
  }
  for (std::size_t p = 0; p < static_cast<std::size_t>(m_panels.count()); ++p) make_uses(shape, p, how.all());
}

void panel_pass::make_uses(const graph_shape& shape, std::size_t panel, std::span<const intent> how) {
  block_list used;
  for (std::size_t k = 0; k < m_vectors.size(); ++k) used.add(m_vectors[k]->use(panel, how[k]));
  for (const small_data* m : m_small) used.add(m->use(intent::read));
  if (m_sums != nullptr) used.add(m_sums->partial(static_cast<std::int64_t>(panel)));
  for (const strip_step& step : m_steps) {
    if (step.kind != operation_kind::mxm) continue;
    multiplied_vector& source = m_sources[static_cast<std::size_t>(step.source)];
    const auto& known = *std::ranges::find_if(
        shape.matrices, [&](const matrix_panels& m) { return m.matrix == step.matrix && m.rows == step.rows; });
    source.panels.push_back(known.touched[panel]);
    auto& blocks = source.blocks.emplace_back();
    for (const std::int32_t other : known.touched[panel])
      blocks.push_back(used.add(source.vector->use(static_cast<std::size_t>(other), intent::read)));
  }
  if (shape.on_devices != nullptr) add_device_data(*shape.on_devices, panel, used);
  m_uses.push_back(std::move(used.all));
}

/// The host's tasks name these blocks too, where there are devices, and read the matrix itself.
void panel_pass::add_device_data(device_data& data, std::size_t panel, block_list& to) {
  const auto p = static_cast<std::int64_t>(panel);
  device_panel& made = m_device_panels.emplace_back();
  made.rows = m_panels.end(p) - m_panels.begin(p);
  for (const strip_step& step : m_steps) {
    if (step.kind == operation_kind::apply_diagonal)
      made.diagonals.push_back(to.add(access(data.of(step.diagonal), panel, intent::read)));
    if (step.kind != operation_kind::mxm) continue;
    const multiplied_vector& vector = m_sources[static_cast<std::size_t>(step.source)];
    const matrix_blocks::panel rows = data.of(*step.matrix).of(panel);
    device_source& source = made.sources.emplace_back();
    source.starts = to.add(rows.starts);
    source.entries = rows.count;
    if (!rows.entries.empty()) source.columns = to.add(rows.entries[0]), source.values = to.add(rows.entries[1]);
    for (std::size_t k = 0; k < vector.blocks[panel].size(); ++k) {
      const std::int32_t other = vector.panels[panel][k];
      source.pieces.push_back({vector.blocks[panel][k], m_panels.begin(other), m_panels.end(other)});
    }
  }
}

}  // namespace tessera::sparse
