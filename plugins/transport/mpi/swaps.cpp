// compare_swap beyond the node: asked of the target's own rank.
#include <atomic>
#include <cstring>

#include "plugins/transport/mpi/endpoint.hpp"

namespace tessera::mpi {
namespace {
constexpr int control_tag = 3;  // 1 and 2: messages.cpp
}

bool endpoint::swap_in_own_part(const control& what, std::int64_t& out_before) {
  const auto& of = *windows[what.window];
  const std::atomic_ref<std::int64_t> at(
      *reinterpret_cast<std::int64_t*>(of.bases[static_cast<std::size_t>(rank)] + what.offset));
  out_before = what.expected;
  return at.compare_exchange_strong(out_before, what.desired);
}

void endpoint::send_control(std::int32_t to, const control& what) {
  under_way& sent = new_under_way(nullptr);
  sent.buffer = make_bytes(sizeof what);
  std::memcpy(sent.buffer.get(), &what, sizeof what);
  MPI_Request handle = MPI_REQUEST_NULL;
  must(MPI_Isend(sent.buffer.get(), static_cast<int>(sizeof what), MPI_BYTE, to, control_tag, m_job.messages, &handle),
       "MPI_Isend");
  add(sent, handle);
}

void endpoint::post_control(std::size_t at) {
  must(MPI_Irecv(m_controls[at].memory.get(), static_cast<int>(sizeof(control)), MPI_BYTE, MPI_ANY_SOURCE, control_tag,
                 m_job.messages, &m_controls[at].handle),
       "MPI_Irecv");
}

bool endpoint::take_controls() {
  bool happened = false;
  while (true) {
    slot& next = m_controls[m_first_control];
    int there = 0;
    MPI_Status from;
    must(MPI_Test(&next.handle, &there, &from), "MPI_Test");
    if (there == 0) return happened;
    control what;
    std::memcpy(&what, next.memory.get(), sizeof what);
    post_control(m_first_control);
    m_first_control = (m_first_control + 1) % m_controls.size();
    happened = true;
    if (what.what == control::kind::answer) {
      auto& asked_for = *reinterpret_cast<under_way*>(what.token);
      asked_for.word[1] = what.expected;
      settle(asked_for);
      continue;
    }
    if (what.window >= windows.size() || what.offset % 8 != 0 ||
        what.offset + 8 > windows[what.window]->bytes[static_cast<std::size_t>(rank)])
      throw failed(MPI_ERR_OTHER, "a compare_swap of another rank names a word that is not there");
    swap_in_own_part(what, what.expected);
    what.what = control::kind::answer;
    send_control(from.MPI_SOURCE, what);
  }
}

}  // namespace tessera::mpi
