#include "core/schedule/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::schedule {

std::string describe(const task::record& t) {
  if (t.from() != nullptr) return fmt::format("{}, task '{}'", t.from()->text, t.name());
  std::string_view file = t.site.file_name();
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return fmt::format("task '{}' submitted at {}:{}", t.name(), file, t.site.line());
}

std::shared_ptr<const block::failure> poison_of(std::span<const block::access> accesses) {
  for (const block::access& a : accesses) {
    if (!needs_contents(a.intent)) continue;
    const std::lock_guard guard(a.block->lock);
    if (a.block->poison != nullptr) return *a.block->poison;
  }
  return nullptr;
}

failures::reason failures::note(const task::record& t, block::failure what) {
  if (what.where.empty()) what.where = describe(t);
  reason why = note(std::move(what));
  if ((t.rare & task::rare_group) != 0) t.more->group->note(why);
  return why;
}

failures::reason failures::note_loss(const task::record& t, std::string_view device) {
  return note(t, {.text = fmt::format("{} was under way on {}, which is lost", t.operation->name, device),
                  .where = {},
                  .kind = error_kind::device,
                  .by_loss = true});
}

failures::reason failures::note(block::failure what) {
  auto why = std::make_shared<const block::failure>(std::move(what));
  const std::lock_guard guard(m_mutex);
  if (!m_first) m_first = why;
  return why;
}

void failures::note_given_up(const reason& why, bool counts) {
  const std::lock_guard guard(m_mutex);
  if (!m_first) m_first = why;
  if (counts) ++m_given_up;
}

void failures::note_told(const reason& why, std::uint64_t thread) {
  const std::lock_guard guard(m_mutex);
  if (const auto known = std::ranges::find(m_told, why, &told_failure::why); known != m_told.end()) {
    if (std::ranges::find(known->threads, thread) == known->threads.end()) known->threads.push_back(thread);
    if (m_first == why) m_first.reset();
  } else if (m_first == why) {
    m_first.reset();
    if (m_told.size() < max_told) m_told.push_back({why, {thread}});
  }
}

failures::report failures::take() {
  const std::lock_guard guard(m_mutex);
  return {std::exchange(m_first, nullptr), std::exchange(m_given_up, 0)};
}

failures::report failures::take_for(std::uint64_t thread) {
  const std::lock_guard guard(m_mutex);
  report all{std::exchange(m_first, nullptr), std::exchange(m_given_up, 0)};
  const auto untold = std::ranges::find_if(
      m_told, [&](const told_failure& f) { return std::ranges::find(f.threads, thread) == f.threads.end(); });
  if (all.first == nullptr && untold != m_told.end()) all.first = untold->why;
  if (all.first != nullptr) m_told.clear();  // only the first one is reported, and the rest is over with it
  return all;
}

void failures::put_back(report what) {
  const std::lock_guard guard(m_mutex);
  if (m_first == nullptr) m_first = std::move(what.first);
  m_given_up += what.given_up;
}

void failures::cancel(std::string text, error_kind kind) {
  {
    const std::lock_guard guard(m_mutex);
    m_cancel_reason = std::move(text);
    m_cancel_kind = kind;
  }
  m_cancelled.store(true);
}

failures::reason failures::cancellation() const {
  const std::lock_guard guard(m_mutex);
  return std::make_shared<const block::failure>(block::failure{m_cancel_reason, "", m_cancel_kind});
}

std::optional<error> fence_error(const failures::report& failed, const transfer::loss_report& lost, bool cancelled,
                                 std::string_view no_room) {
  std::string given_up;
  if (failed.given_up != 0)
    given_up = fmt::format("; {} task{}{} {} given up", failed.given_up, failed.given_up == 1 ? "" : "s",
                           cancelled ? "" : " that depended on it", failed.given_up == 1 ? "was" : "were");
  if (lost.blocks.empty()) {
    if (!failed.first) return std::nullopt;
    std::string hint = failed.first->hint;
    if (hint.empty() && failed.first->kind == error_kind::memory) hint = no_room;
    return error(failed.first->kind, failed.first->text + given_up, failed.first->where, std::move(hint));
  }
  constexpr std::size_t most = 16;
  const std::size_t named = std::min(most, lost.blocks.size());
  std::string text =
      fmt::format("{} {}, and with {} {}", fmt::join(lost.devices, ", "),
                  lost.devices.size() == 1 ? "is lost" : "are lost", lost.devices.size() == 1 ? "it" : "them",
                  fmt::join(lost.blocks.begin(), lost.blocks.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (lost.blocks.size() > most) text += fmt::format(" and {} more blocks", lost.blocks.size() - most);
  if (failed.first && !failed.first->by_loss)
    text += fmt::format("; also: {}{}", failed.first->text,
                        failed.first->where.empty() ? "" : " [" + failed.first->where + "]");
  return error(error_kind::device, text + given_up, {},
               cancelled
                   ? "the run is over, as runtime.survive_loss = false asks for"
                   : "write these blocks anew: everything else is as it was, and the run goes on without the device");
}

}  // namespace tessera::schedule
