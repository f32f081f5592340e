// A deep copy in the runtime's hands: its blocks at a location, the way there, and back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "core/base/call_site.hpp"
#include "core/base/lifetime.hpp"
#include "core/base/units.hpp"
#include "core/memory/space.hpp"
#include "core/placement/place.hpp"
#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/view_requests.hpp"
#include "core/schedule/waits.hpp"
#include "hierarchy/deepcopy/arena.hpp"
#include "tessera/detail/block_group.hpp"
#include "tessera/operation.hpp"

namespace tessera::detail {
namespace {

/// What a task at the location says of the memory that a block has there.
struct block_address {
  const void* host = nullptr;  ///< where it is host memory
  std::uint64_t base = 0;      ///< as code there sees it; 0: the memory has no addresses
};
struct place_arguments {
  block_address* answer;
  std::uint64_t poison;
};

constexpr std::uint8_t poison_byte = 0xff;

std::uint64_t as_number(const void* pointer) noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

void place_on_host(const operation::context& c) {
  const auto& given = c.arguments_as<place_arguments>();
  const operation::operand& block = c.operands[0];
  *given.answer = {block.host, as_number(block.host)};
  if (given.poison != 0) std::memset(block.host, poison_byte, block.bytes);
}

void place_on_device(const operation::context& c) {
  const auto& given = c.arguments_as<place_arguments>();
  const operation::operand& block = c.operands[0];
  const plugin::device& device = *c.device;
  const bool addressable = (device.spaces()[0].description.capabilities & TSR_SPACE_ADDRESSABLE) != 0;
  *given.answer = {};
  if (addressable && device.table().mem_base != nullptr) {
    void* base = nullptr;
    device.check(device.table().mem_base(device.handle(), block.address.memory, &base), "mem_base");
    given.answer->base = as_number(base) + block.address.offset;
  }
  if (given.poison != 0 && device.table().fill != nullptr)
    device.check(device.table().fill(device.handle(), c.stream, block.address, &poison_byte, 1, block.bytes), "fill");
}

void arrive(const operation::context&) {}

const operation::definition& operation_of(runtime& rt, const char* name, operation::host_function host,
                                          operation::enqueue_function enqueue, intent how) {
  static std::mutex one_at_a_time;  // so that none is added twice
  const std::lock_guard guard(one_at_a_time);
  if (const operation::definition* known = rt.operations().find(name)) return *known;
  return rt.define({.name = name, .signature = {how}, .host = host, .enqueue = enqueue});
}

std::vector<std::uint64_t> offsets_of_pointers(const hierarchy::object_graph& graph,
                                               const hierarchy::arena_layout& layout) {
  std::vector<std::uint64_t> offsets;
  for (const hierarchy::graph_pointer& p : graph.pointers())
    if (const copy_place at = layout.place_of(p.where); at.block == 0) offsets.push_back(at.offset);
  return offsets;
}

}  // namespace

/// The graph of the originals, and the blocks of its copy.
class deep_copy_state {
 public:
  deep_copy_state(void* root, const described_type& type, const copy_target& target, const paths& parts,
                  const copy_options& options, std::source_location site)
      : m_runtime(*target.rt),
        m_alive(program_side_of(m_runtime).alive),
        m_location(m_runtime.at(target.location)),
        m_graph(root, type, parts),
        m_layout(m_graph, options.form),
        m_number(hierarchy::arena_numbers::add(offsets_of_pointers(m_graph, m_layout))),
        m_group(m_runtime, "deep copy", {static_cast<std::int64_t>(m_layout.blocks())}, true) {
    try {
      if (!program_side_of(m_runtime).waits.in_program())
        throw error(error_kind::usage, "a deep copy is made inside a task", {},
                    "make it in a thread of the program, and name it when the task is submitted: update(copy)");
      if (program_side_of(m_runtime).recordings.current() != nullptr)
        throw error(error_kind::usage, "a deep copy is made inside a recording", file_and_line(site),
                    "make it before, and record the tasks that use it");
      require_room(target, site);
      move_in(target, options, site);
    } catch (...) {
      if (!m_blocks.empty()) m_runtime.fence({.reports = false});  // tasks refer to m_addresses
      end();
      throw;
    }
  }
  ~deep_copy_state() { end(); }
  deep_copy_state(const deep_copy_state&) = delete;
  deep_copy_state& operator=(const deep_copy_state&) = delete;

  runtime& owner() const noexcept { return m_runtime; }
  const copy_report& report() const noexcept { return m_report; }
  std::size_t size() const noexcept { return m_blocks.size(); }
  block::record& block(std::size_t k) const {
    if (k >= m_blocks.size())
      throw error(error_kind::usage, fmt::format("a deep copy of {} blocks has no block {}", m_blocks.size(), k), {},
                  "blocks are numbered from 0");
    return *m_blocks[k];
  }

  copy_place place_of(const void* original) const {
    const auto found = m_graph.find(original);
    if (!found)
      throw error(error_kind::usage, "what was asked for is no part of the deep copy", {},
                  "ask for an address in an object or array that was copied");
    return m_layout.place_of(*found);
  }

  void* open(const task_blocks& blocks, std::size_t first) const {
    for (std::size_t k = 0; k < size(); ++k)
      if (as_number(blocks.get<const std::uint8_t>(first + k).data()) != m_addresses[k].base)
        throw error(
            error_kind::memory,
            fmt::format("block {} of a deep copy is not where its pointers lead: the task runs elsewhere, or the "
                        "block has left a full memory in between",
                        k),
            {}, "run the task at the location of the copy, or copy to one arena");
    auto* const begin = const_cast<std::uint8_t*>(blocks.get<const std::uint8_t>(first).data());
    return begin + m_layout.place_of(m_graph.root()).offset;
  }

  held_block hold(block::record& only, std::source_location site) const {
    const lifetime::visit here = enter_for("update", site);
    return {m_runtime, only, intent::update, site};
  }

  copy_report copy_back(std::source_location site) {
    const lifetime::visit here = enter_for("copy_back", site);
    settle();
    copy_report back = m_report;
    back.bytes_moved = back.transfers = back.pointers = 0;
    for (std::size_t k = 0; k < size(); ++k) {
      const bool at_home = m_group.spaces_of(*m_blocks[k], site).meets(m_homes[k]);
      const held_block held(m_runtime, *m_blocks[k], intent::read, site);
      m_layout.bring_back(m_graph, k, static_cast<const std::byte*>(held.data()));
      if (!at_home) ++back.transfers, back.bytes_moved += m_layout.bytes_of(k);
    }
    return back;
  }

 private:
  lifetime::visit enter_for(const char* what, std::source_location site) const {
    lifetime::visit here = enter(m_alive);
    if (!here)
      throw error(error_kind::usage, fmt::format("{} of a deep copy whose runtime has ended", what),
                  file_and_line(site), "use copies while the runtime exists");
    return here;
  }
  /// Waits for tasks: where a block is, is known when nobody makes a version of it. A thread that holds views does not
  /// wait, since tasks may wait for those.
  void settle() {
    const program_side& side = program_side_of(m_runtime);
    if (side.waits.in_program() && side.views.held_here() == 0) side.waits.wait(schedule::wait_request::quietly());
  }

  /// Where it is larger than the memory there it could never arrive: its tasks would all stay at the host.
  void require_room(const copy_target& target, std::source_location site) const {
    const location::tree& tree = m_runtime.tree();
    const placement::place* nearest = nullptr;  // that has the location; none: it is above all memories
    for (const auto& one : program_side_of(m_runtime).places)
      if (tree.is_ancestor(one->location, m_location) &&
          (nearest == nullptr || tree.is_ancestor(nearest->location, one->location)))
        nearest = one.get();
    if (nearest == nullptr) return;
    const memory::space& there = *program_side_of(m_runtime).memories[nearest->space];
    std::uint64_t bytes = 0;
    for (std::size_t k = 0; k < m_layout.blocks(); ++k) bytes += m_layout.bytes_of(k);
    if (bytes <= there.limit()) return;
    const auto text = [](std::uint64_t of) { return format_bytes(static_cast<double>(of)); };
    throw error(
        error_kind::memory,
        fmt::format("a deep copy needs {}, and the memory of '{}' has {}, of which {} are free", text(bytes),
                    target.location, text(there.limit()), text(there.limit() - std::min(there.used(), there.limit()))),
        "deep_copy at " + file_and_line(site),
        "copy the parts that are used there: deep_copy(root, to(rt, \"...\"), {\"atoms.positions\"}); or copy "
        "to a location with more memory, which `tessera topology` shows");
  }

  void move_in(const copy_target& target, const copy_options& options, std::source_location site) {
    reserve(options, site);
    std::vector<held_block> held;
    std::vector<std::byte*> data;
    for (block::record* const b : m_blocks) {  // waits for the addresses too
      held.emplace_back(m_runtime, *b, intent::write, site);
      data.push_back(static_cast<std::byte*>(held.back().data()));
    }
    std::vector<std::uint64_t> bases;
    for (const block_address& a : m_addresses) bases.push_back(a.base);
    if (size() > 1 && std::ranges::find(bases, 0u) != bases.end())
      throw error(error_kind::usage,
                  fmt::format("the memory of '{}' has no addresses, so pointers cannot lead from one block to another",
                              target.location),
                  {}, "copy to one arena, whose pointers are offsets there");
    m_layout.write(m_graph, data, bases, m_number);
    held.clear();
    m_report = {.nominal_bytes = m_graph.nominal_bytes(),
                .objects = m_graph.objects(),
                .arrays = static_cast<std::uint64_t>(
                    std::ranges::count(m_graph.pieces(), false, &hierarchy::graph_piece::objects)),
                .pointers = m_layout.pointers()};
    for (std::size_t k = 0; k < size(); ++k) {
      const std::uint64_t bytes = m_layout.bytes_of(k);
      m_report.bytes += bytes;
      m_homes.push_back(m_group.spaces_of(*m_blocks[k], site));
      if (m_addresses[k].host != data[k]) ++m_report.transfers, m_report.bytes_moved += bytes;
    }
    const operation::definition& arrival = operation_of(m_runtime, "deep copy: arrive", &arrive, &arrive, intent::read);
    for (block::record* const b : m_blocks)
      m_runtime.submit_operation(arrival, nullptr, 0, std::array{use_of(*b, intent::read)}, {.at = m_location}, site);
  }

  /// Makes the blocks, and has tasks at the location tell where their memory is.
  void reserve(const copy_options& options, std::source_location site) {
    m_addresses.resize(m_layout.blocks());
    const operation::definition& place =
        operation_of(m_runtime, "deep copy: place", &place_on_host, &place_on_device, intent::scratch);
    for (std::size_t k = 0; k < m_layout.blocks(); ++k) {
      const shape extents{static_cast<std::int64_t>(m_layout.bytes_of(k))};
      m_blocks.push_back(&m_group.make(element_type::u8, extents, static_cast<std::uint32_t>(k), site));
      const place_arguments arguments{&m_addresses[k], options.poison ? 1u : 0u};
      m_runtime.submit_operation(place, &arguments, sizeof arguments, std::array{use_of(*m_blocks[k], intent::scratch)},
                                 {.at = m_location}, site);
    }
  }

  static block_access use_of(block::record& b, intent how) {
    return {.block = &b, .version = 0, .intent = how, .flags = 0, .space = 0};
  }

  void end() noexcept {
    hierarchy::arena_numbers::remove(m_number);
    if (const lifetime::visit here = enter(m_alive))
      for (block::record* const b : m_blocks) m_group.destroy(*b, std::source_location::current());
    m_blocks.clear();
  }

  runtime& m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  location::node_id m_location;
  hierarchy::object_graph m_graph;
  hierarchy::arena_layout m_layout;
  std::uint64_t m_number;
  loose_blocks m_group;
  std::vector<block::record*> m_blocks;
  std::vector<block_address> m_addresses;  // at the location
  std::vector<block::space_set> m_homes;   // where the program wrote them
  copy_report m_report;
};

deep_copy_handle::deep_copy_handle(void* root, const described_type& type, const copy_target& target,
                                   const paths& parts, const copy_options& options, std::source_location site)
    : m_state(with_place(
          site, [&] { return std::make_unique<deep_copy_state>(root, type, target, parts, options, site); })) {}
deep_copy_handle::deep_copy_handle(deep_copy_handle&&) noexcept = default;
deep_copy_handle& deep_copy_handle::operator=(deep_copy_handle&&) noexcept = default;
deep_copy_handle::~deep_copy_handle() = default;

namespace {

deep_copy_state& needed(const std::unique_ptr<deep_copy_state>& state) {
  if (state == nullptr)
    throw error(error_kind::usage, "a deep copy that was moved from has nothing", {},
                "use the object that it was moved to");
  return *state;
}

}  // namespace

const copy_report& deep_copy_handle::report() const noexcept {
  static constexpr copy_report nothing;
  return m_state == nullptr ? nothing : m_state->report();
}
copy_report deep_copy_handle::copy_back(std::source_location site) {
  return with_place(site, [&] { return needed(m_state).copy_back(site); });
}
std::size_t deep_copy_handle::size() const noexcept { return m_state == nullptr ? 0 : m_state->size(); }
block::record& deep_copy_handle::block(std::size_t k) const { return needed(m_state).block(k); }
runtime& deep_copy_handle::owner() const { return needed(m_state).owner(); }
copy_place deep_copy_handle::place_of(const void* original) const { return needed(m_state).place_of(original); }
void* deep_copy_handle::open(const task_blocks& blocks, std::size_t first) const {
  return needed(m_state).open(blocks, first);
}

held_block deep_copy_handle::hold(std::source_location site) const {
  return with_place(site, [&] { return m_state->hold(only_block(), site); });
}

block::record& deep_copy_handle::only_block() const {
  if (needed(m_state).size() != 1)
    throw error(error_kind::usage, fmt::format("a deep copy of {} blocks as one", size()), {},
                "submit a task with a list of uses, one per block, and open the copy in it");
  return m_state->block(0);
}

}  // namespace tessera::detail
