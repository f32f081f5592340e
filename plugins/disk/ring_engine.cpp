// Requests through io_uring: many under way, none of them on a thread.
#include "plugins/disk/engine.hpp"

#ifdef TSR_DISK_HAS_URING
#include <liburing.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <vector>

namespace tessera::disk {
namespace {

class ring_engine final : public engine {
 public:
  explicit ring_engine(io_context& io) : m_io(io) {}
  ~ring_engine() override {
    if (m_open) ::io_uring_queue_exit(&m_ring);
  }

  /// 0 or an errno.
  int open(std::uint32_t depth) {
    if (const int error = ::io_uring_queue_init(depth, &m_ring, 0); error < 0) return -error;
    m_open = true;
    m_slots.resize(depth);
    for (auto& one : m_slots) m_free.push_back(&one);
    return 0;
  }

  void run(transfer& what, scratch& own) override {
    piece next;
    bool more = true;
    while (more || m_free.size() < m_slots.size()) {
      while (more && !m_free.empty()) {
        try {
          more = take(what, next, own);
        } catch (const std::exception& error) {  // what is under way must end before we leave
          what.fail({TSR_RESOURCE_EXHAUSTED, std::string("a request to the disk was given up: ") + error.what()});
          more = false;
        }
      }
      if (m_free.size() < m_slots.size()) await(what);
    }
  }

 private:
  struct slot {
    piece part;
    request todo;
    std::vector<std::uint32_t> sums;
  };

  /// Begins the next piece; false when there is none.
  bool take(transfer& from, piece& next, scratch& own) {
    if (!from.next(next)) return false;
    if (!from.goes_straight(next)) {
      from.work(next, own);  // its own reading, merging and writing follow each other, so nothing is gained by a ring
      return true;
    }
    slot& one = *m_free.back();
    std::swap(one.part, next);
    if (!from.begin(one.part, one.sums, one.todo)) return true;
    if (const int error = admit(m_io, one.todo)) {
      from.end(one.part, one.sums, one.todo, error);
      return true;
    }
    m_free.pop_back();
    push(one);
    return true;
  }

  void push(slot& one) {
    // There are as many places as slots, and every submission empties them.
    io_uring_sqe* entry = ::io_uring_get_sqe(&m_ring);
    const auto length = static_cast<unsigned>(next_length(m_io, one.todo));
    const auto offset = one.todo.offset + one.todo.done;
    unsigned char* data = one.todo.data + one.todo.done;
    if (one.todo.write)
      ::io_uring_prep_write(entry, one.todo.in->descriptor(), data, length, offset);
    else
      ::io_uring_prep_read(entry, one.todo.in->descriptor(), data, length, offset);
    ::io_uring_sqe_set_data(entry, &one);
  }

  /// Hands over what was pushed and takes what has ended, one request at least. The kernel writes into the caller's
  /// memory until a request has ended, so there is no way out before that.
  void await(transfer& what) {
    ::io_uring_submit_and_wait(&m_ring, 1);  // an interruption, or a full completion queue: the loop comes back
    io_uring_cqe* entry = nullptr;
    while (::io_uring_peek_cqe(&m_ring, &entry) == 0 && entry != nullptr) {
      auto& one = *static_cast<slot*>(::io_uring_cqe_get_data(entry));
      const int answer = entry->res;
      ::io_uring_cqe_seen(&m_ring, entry);
      land(what, one, answer);
    }
  }

  void land(transfer& what, slot& one, int answer) {
    request& todo = one.todo;
    int error = 0;
    if (answer > 0) {
      todo.done += static_cast<std::uint64_t>(answer);
    } else if (answer == 0) {
      error = todo.write ? ENOSPC : end_of_file;
    } else if (answer != -EINTR && answer != -EAGAIN) {
      error = -answer;
    }
    if (error == 0 && todo.done < todo.bytes) return push(one);  // a short or interrupted one goes on
    if (error == 0) finished(m_io, todo);
    what.end(one.part, one.sums, todo, error);
    m_free.push_back(&one);
  }

  io_context& m_io;
  io_uring m_ring{};
  bool m_open = false;
  std::vector<slot> m_slots;
  std::vector<slot*> m_free;
};

}  // namespace

std::shared_ptr<engine> make_ring_engine(io_context& io, std::uint32_t depth, std::string& why) {
  if (io.setting.faults.refuse_io_uring) {
    why = "refused by faults.refuse_io_uring";
    return nullptr;
  }
  auto made = std::make_shared<ring_engine>(io);
  if (const int error = made->open(depth)) {
    why = "the kernel refuses it: " + std::generic_category().message(error);
    return nullptr;
  }
  return made;
}

}  // namespace tessera::disk

#else

namespace tessera::disk {

std::shared_ptr<engine> make_ring_engine(io_context&, std::uint32_t, std::string& why) {
  why = "this plugin was built without liburing";
  return nullptr;
}

}  // namespace tessera::disk

#endif
