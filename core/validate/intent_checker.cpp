#include "core/validate/intent_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "core/bytes/copy.hpp"
#include "core/task/replay.hpp"

namespace tessera::validate {
namespace {

participant with_use(const shadow_copies& of, const shadow_block& b) {
  participant p = of.who;
  p.use = use_of(*b.block, b.intent, makes_version(b.intent) ? b.makes : b.found);
  return p;
}

/// "task 'smooth'" of "task 'smooth' submitted".
std::string subject(const shadow_copies& of) {
  std::string_view description = of.who.description;
  for (const std::string_view tail : {" submitted", " taken", " recorded"})
    if (description.ends_with(tail)) description.remove_suffix(tail.size());
  return description == "view" ? "a view" : std::string(description);
}

/// One intent for several uses of a block in one task.
intent both(intent a, intent b) noexcept {
  if (a == b) return a;
  if (needs_contents(a) || needs_contents(b))
    return makes_version(a) || makes_version(b) ? intent::update : intent::read;
  return intent::write;  // write and scratch
}

template <class T>
T element_as(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// How many elements of the block's type one of the program's is.
std::size_t per_element(const block::record& b) noexcept {
  return b.from == nullptr ? 1 : static_cast<std::size_t>(b.from->per_element);
}

}  // namespace

bool last_is_fastest(const block::record& b) noexcept { return b.from != nullptr && b.from->last_is_fastest; }

std::string use_of(const block::record& b, intent how, block::version_number version) {
  if (version == 0) return fmt::format("{} {}", block::name_of(b), name_of(how));
  return fmt::format("{} {}, version {}", block::name_of(b), name_of(how), version);
}

std::string element_name(const shape& extents, std::size_t position, bool last_is_fastest) {
  if (extents.rank() < 2) return std::to_string(position);
  std::string indices;
  for (const std::int64_t extent : extents.extents()) {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(extent, 1));
    const std::string index = std::to_string(position % size);
    if (indices.empty())
      indices = index;
    else
      indices = last_is_fastest ? index + "," + indices : indices + "," + index;
    position /= size;
  }
  return "(" + indices + ")";
}

std::string element_text(element_type type, const std::byte* at) {
  switch (type) {
    case element_type::f64:
      return fmt::format("{}", element_as<double>(at));
    case element_type::f32:
      return fmt::format("{}", element_as<float>(at));
    case element_type::c128:
      return fmt::format("{}{:+}i", element_as<std::complex<double>>(at).real(),
                         element_as<std::complex<double>>(at).imag());
    case element_type::c64:
      return fmt::format("{}{:+}i", element_as<std::complex<float>>(at).real(),
                         element_as<std::complex<float>>(at).imag());
    case element_type::i64:
      return fmt::format("{}", element_as<std::int64_t>(at));
    case element_type::i32:
      return fmt::format("{}", element_as<std::int32_t>(at));
    case element_type::u8:
      return fmt::format("{}", element_as<std::uint8_t>(at));
    default:
      return fmt::format("0x{:04x}", element_as<std::uint16_t>(at));
  }
}

std::unique_ptr<shadow_copies> intent_checker::begin(task::record& t, participant who,
                                                     std::span<const operation::operand> operands) {
  auto out = std::make_unique<shadow_copies>();
  out->who = std::move(who);
  out->joins =
      (t.flags & task::flag_reduction) != 0 ||
      ((t.flags & task::flag_replayed) != 0 && t.replayed().replay->recording.tasks[t.replayed().index].ends_group);
  const auto accesses = t.all_accesses();
  if (!accesses.empty()) out->first = accesses[0].block;
  const std::size_t count = std::min(accesses.size(), operands.size());
  for (std::size_t k = 0; k < count; ++k) {
    const operation::operand& o = operands[k];
    const block::access& a = accesses[k];
    // A private copy of an accumulate was zeroed; from here on it is added to.
    const intent use = (a.flags & task::access_fresh) != 0 ? intent::update : a.intent;
    const auto known = std::ranges::find(out->blocks, a.block, &shadow_block::block);
    if (known != out->blocks.end()) {
      known->intent = both(known->intent, use);
      known->of_part = known->of_part && (a.flags & block::access_of_part) != 0;
      if (makes_version(use)) known->makes = a.version;
      continue;
    }
    shadow_block b;
    b.block = a.block;
    b.intent = use;
    b.of_part = (a.flags & block::access_of_part) != 0;
    b.zeroed = (a.flags & task::access_fresh) != 0;
    b.found = a.block->committed;  // no thread publishes it while a task has it
    if (needs_contents(use) && !b.zeroed) {
      const auto made = m_contents.find(*b.block, b.found);
      b.holes = made && made->holes;
    }
    b.makes = makes_version(use) ? a.version : 0;
    b.type = a.block->type;
    b.original = static_cast<std::byte*>(o.host);
    b.copy =
        std::make_unique<guarded_memory>(a.block->bytes, m_pattern, m_next.fetch_add(1, std::memory_order_relaxed));
    out->blocks.push_back(std::move(b));
  }
  return out;
}

std::unique_ptr<shadow_copies> intent_checker::lend(task::record& t, participant who,
                                                    std::span<operation::operand> operands) {
  auto out = begin(t, std::move(who), operands);
  const auto accesses = t.all_accesses();
  for (shadow_block& b : out->blocks) {
    if (!needs_contents(b.intent)) {
      m_pattern.fill(b.copy->elements(), b.type, pattern::meaning::never_written);
      continue;
    }
    copy_bytes(b.copy->elements().data(), b.original, b.copy->elements().size());
    check_untouched_meanwhile(*out, b, b.copy->elements());
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    operation::operand& o = operands[k];
    const auto b = std::ranges::find(out->blocks, accesses[k].block, &shadow_block::block);
    o.host = b->copy->elements().data();
    o.address = {nullptr, reinterpret_cast<std::uintptr_t>(o.host)};
  }
  return out;
}

std::unique_ptr<shadow_copies> intent_checker::watch(task::record& t, participant who) {
  // Addresses come later: operands say where blocks are on the device.
  const std::vector<operation::operand> no_operands(t.all_accesses().size());
  auto out = begin(t, std::move(who), no_operands);
  for (shadow_block& b : out->blocks) {
    if (!needs_contents(b.intent)) {
      m_pattern.fill(b.copy->elements(), b.type, pattern::meaning::never_written);
      continue;
    }
    b.before.resize(b.copy->elements().size());
    b.original = b.before.data();
  }
  return out;
}

void intent_checker::check_result(shadow_copies& of) {
  for (shadow_block& b : of.blocks) {
    if (needs_contents(b.intent)) check_untouched_meanwhile(of, b, b.before);
    if (b.intent == intent::read) check_read(of, b);
    if (b.intent == intent::write && !b.of_part) check_written(of, b);
    if (makes_version(b.intent)) check_origin_of_nans(of, b);
  }
  for (shadow_block& b : of.blocks) {
    if (makes_version(b.intent))
      note_made(of, b, true);
    else if (b.intent == intent::scratch)
      m_contents.forget(*b.block);
  }
}

void intent_checker::take_back(shadow_copies& of, bool failed) {
  for (shadow_block& b : of.blocks) {
    check_zones(of, b);
    if (b.intent == intent::read) check_read(of, b);
    if (b.intent == intent::write && !b.of_part && !failed) check_written(of, b);
    if (makes_version(b.intent) && !failed) check_origin_of_nans(of, b);
  }
  for (shadow_block& b : of.blocks) {
    if (makes_version(b.intent)) {
      const auto elements = b.copy->elements();
      copy_bytes(b.original, elements.data(), elements.size());
      note_made(of, b, !failed);
    } else if (b.intent == intent::scratch) {
      m_contents.forget(*b.block);
    }
  }
  for (shadow_block& b : of.blocks) {
    const participant whose = with_use(of, b);
    m_ended.keep(std::move(b.copy), b.type, whose);
  }
  of.blocks.clear();
}

/// The elements that are not as the task has found them; the others are zero.
std::vector<std::byte> intent_checker::set_by_task(const shadow_block& b) const {
  const std::span<const std::byte> now = b.copy->elements();
  std::vector<std::byte> all(now.begin(), now.end()), found(now.size());
  if (needs_contents(b.intent))
    copy_bytes(found.data(), b.original, found.size());
  else
    m_pattern.fill(found, b.type, pattern::meaning::never_written);
  const std::size_t size = size_of(b.type);
  for (std::size_t at = 0; at + size <= all.size(); at += size)
    if (std::memcmp(all.data() + at, found.data() + at, size) == 0) std::memset(all.data() + at, 0, size);
  return all;
}

/// What was there is another version now.
void intent_checker::note_made(const shadow_copies& of, const shadow_block& b, bool known) {
  const std::span<const std::byte> elements = b.copy->elements();
  const bool holes = (b.holes || (b.of_part && b.intent == intent::write)) &&
                     m_pattern.untouched(elements, b.type, per_element(*b.block)) > 0;
  m_contents.made(*b.block, {b.makes, checksum(elements), known, holes, with_use(of, b)});
}

std::optional<participant> intent_checker::maker_of(const shadow_block& b) const {
  if (const auto made = m_contents.find(*b.block, b.found)) return made->maker;
  return std::nullopt;
}

void intent_checker::check_read(const shadow_copies& of, const shadow_block& b) {
  const auto elements = b.copy->elements();
  if (std::memcmp(elements.data(), b.original, elements.size()) == 0) return;
  const std::size_t size = size_of(b.type), count = elements.size() / size;
  std::size_t first = count, changed = 0;
  for (std::size_t k = 0; k < count; ++k)
    if (std::memcmp(elements.data() + k * size, b.original + k * size, size) != 0 && changed++ == 0) first = k;
  m_journal.add(
      {.fault = fault::read_changed,
       .text = fmt::format(
           "{} changed {} of {} elements of {}, which it has declared read: element {} was {} and became {}",
           subject(of), changed, count, block::name_of(*b.block),
           element_name(*b.block->extents, first, last_is_fastest(*b.block)),
           element_text(b.type, b.original + first * size), element_text(b.type, elements.data() + first * size)),
       .here = with_use(of, b),
       .there = maker_of(b).value_or(participant{}),
       .hint = b.before.empty() ? "declare the block update; the change was not kept" : "declare the block update"});
}

void intent_checker::check_written(const shadow_copies& of, const shadow_block& b) {
  const auto elements = b.copy->elements();
  const std::uint64_t left = m_pattern.untouched(elements, b.type, per_element(*b.block));
  if (left == 0) return;
  m_journal.add(
      {.fault = fault::not_written,
       .text = fmt::format("{} has declared {} write and left {} of {} elements unwritten", subject(of),
                           block::name_of(*b.block), left, elements.size() / size_of(b.type) / per_element(*b.block)),
       .here = with_use(of, b),
       .there = b.found != 0 ? maker_of(b).value_or(participant{}) : participant{},
       .hint = "write means every element: what was there before is not fetched; declare the block update to keep it"});
}

void intent_checker::check_zones(const shadow_copies& of, const shadow_block& b) {
  const auto damage = b.copy->find_damage(m_pattern);
  if (!damage) return;
  const std::string where = damage->first < 0 ? fmt::format("{} bytes before its first element", -damage->first)
                                              : fmt::format("{} bytes behind its last element", damage->first);
  m_journal.add(
      {.fault = fault::outside,
       .text = fmt::format("{} wrote {} bytes outside of {}, the first one {}", subject(of), damage->bytes,
                           block::name_of(*b.block), where),
       .here = with_use(of, b),
       .there = maker_of(b).value_or(participant{}),
       .hint = "compare its indices with the extents of the view: blocks at the end of an array may be smaller"});
  b.copy->mend(m_pattern);
}

void intent_checker::check_untouched_meanwhile(const shadow_copies& of, const shadow_block& b,
                                               std::span<const std::byte> elements) {
  if (b.zeroed) return;
  const auto made = m_contents.find(*b.block, b.found);
  if (!made || !made->known || made->sum == checksum(elements)) return;
  m_journal.add(
      {.fault = fault::stray,
       .text = fmt::format(
           "the contents of {} are not those that its version {} was made with: somebody wrote to it who had "
           "no task or view on it",
           block::name_of(*b.block), b.found),
       .here = with_use(of, b),
       .there = made->maker,
       .hint = b.block->foreign
                   ? "memory that an array has adopted may be touched through tasks and views only"
                   : "look for pointers that are kept, and for tasks of devices that write beyond their blocks"});
  m_contents.made(*b.block, {b.found, checksum(elements), true, made->holes, made->maker});  // once per change
}

void intent_checker::check_origin_of_nans(const shadow_copies& of, const shadow_block& b) {
  const auto elements = b.copy->elements();
  for (const auto meaning : {pattern::meaning::never_written, pattern::meaning::ended}) {
    const bool never_written = meaning == pattern::meaning::never_written;
    const bool of_some = never_written && (b.of_part || b.holes);
    const pattern::taint found =
        m_pattern.tainted(of_some ? std::span<const std::byte>(set_by_task(b)) : elements, b.type, meaning);
    if (found.elements == 0 || (never_written && of.joins && b.holes)) continue;
    // Elements that are still as they were filled are another fault; what came in with the inputs was told before.
    if (never_written && !of_some && b.intent == intent::write &&
        m_pattern.untouched(elements, b.type, per_element(*b.block)) >= found.elements)
      continue;
    const auto brought = [&](const shadow_block& in, bool holes) {
      return needs_contents(in.intent) && (never_written && in.holes) == holes &&
             m_pattern.tainted({in.original, in.copy->elements().size()}, in.type, meaning).elements > 0;
    };
    if (std::ranges::any_of(of.blocks, [&](const shadow_block& in) { return brought(in, false); })) continue;
    finding f{.fault = fault::uninitialised,
              .text = fmt::format("{} computed {} of {} elements of {} from {}, the first one {}", subject(of),
                                  found.elements, elements.size() / size_of(b.type), block::name_of(*b.block),
                                  meaning == pattern::meaning::ended ? "memory of a task or view that had ended"
                                                                     : "elements that nobody had written",
                                  element_name(*b.block->extents, found.first, last_is_fastest(*b.block))),
              .here = with_use(of, b),
              .there = {},
              .hint = "blocks that are declared write or scratch have no contents before they are written"};
    if (meaning == pattern::meaning::ended) {
      f.fault = fault::after_end;
      f.there = m_ended.whose(found.id).value_or(participant{});
      f.hint = "keep no pointer to elements; take a view, or submit a task, whenever they are needed";
    } else if (const auto in = std::ranges::find_if(of.blocks, [&](const auto& one) { return brought(one, true); });
               in != of.blocks.end()) {
      f.there = maker_of(*in).value_or(participant{});
      f.hint = fmt::format("some rows of {} were written and others were not: write all rows that are read",
                           block::name_of(*in->block));
    } else {
      for (const shadow_block& from : of.blocks)
        if (!needs_contents(from.intent) && (from.intent == intent::scratch || f.there.description.empty()))
          f.there = with_use(of, from);
    }
    m_journal.add(std::move(f));
  }
}

}  // namespace tessera::validate
