// Memory of MPI and operations on it: in place within a node, through MPI otherwise.
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/bytes/copy.hpp"
#include "plugins/transport/mpi/endpoint.hpp"

namespace tessera::mpi {
namespace {

/// With what helps where Open MPI 4.1 may not read other processes' memory.
constexpr const char* window_create_call =
    "MPI_Win_create, which Open MPI 4.1 refuses in some containers unless it is told --mca osc ^rdma";

constexpr std::uint64_t line = 64;  ///< in front of a part that is shared: the lock of its accumulates
enum choice : std::uint64_t {
  as_asked,
  private_memory,
  not_there
};

std::byte* part_in(void* base) {
  const auto at = reinterpret_cast<std::uintptr_t>(base) + line;
  return reinterpret_cast<std::byte*>((at + line - 1) / line * line);
}

template <class Element>
void add_row(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof(Element)) {
    Element sum, more;
    std::memcpy(&sum, to + at, sizeof sum);
    std::memcpy(&more, from + at, sizeof more);
    sum = static_cast<Element>(sum + more);
    std::memcpy(to + at, &sum, sizeof sum);
  }
}

/// Held for some microseconds, by threads of different processes.
class part_lock {
 public:
  explicit part_lock(std::byte* part) : m_word(*reinterpret_cast<std::uint32_t*>(part - line)) {
    for (int tries = 0; m_word.exchange(1, std::memory_order_acquire) != 0;)
      if (++tries % 64 == 0) std::this_thread::yield();
  }
  ~part_lock() { m_word.store(0, std::memory_order_release); }
  part_lock(const part_lock&) = delete;
  part_lock& operator=(const part_lock&) = delete;

 private:
  std::atomic_ref<std::uint32_t> m_word;
};

struct info_of_shared {
  info_of_shared() {
    must(MPI_Info_create(&is), "MPI_Info_create");
    MPI_Info_set(is, "alloc_shared_noncontig", "true");
  }
  ~info_of_shared() { MPI_Info_free(&is); }
  info_of_shared(const info_of_shared&) = delete;
  info_of_shared& operator=(const info_of_shared&) = delete;
  MPI_Info is = MPI_INFO_NULL;
};

}  // namespace

/// Whether all ranks have the memory; the same answer at all.
bool endpoint::choose_memory(std::uint64_t needed, std::uint64_t& out_choice) {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;  // sums of it do not overflow
  const std::uint64_t own = std::min(needed, most);
  std::uint64_t of_node = 0, mine = as_asked;
  must(MPI_Allreduce(&own, &of_node, 1, MPI_UINT64_T, MPI_SUM, m_job.node), "MPI_Allreduce");
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  struct statvfs shared {};
  if (of_node > pages * page) {
    mine = not_there;
  } else if (::statvfs("/dev/shm", &shared) == 0) {
    const std::uint64_t spare = std::uint64_t{1} << 20;  // for MPI itself
    std::uint64_t room = std::uint64_t{shared.f_bavail} * shared.f_frsize;
    room = room > spare ? room - spare : 0;
    if (m_job.setting.shared_memory != 0) room = std::min(room, m_job.setting.shared_memory);
    const std::uint64_t with_pages = of_node + 2 * page * m_job.node_ranks.size();
    if (with_pages > room) {
      mine = private_memory;
      if (m_job.node_ranks.front() == rank)
        report.log(2,
                   "/dev/shm has room for %llu bytes, and the windows of node %s want %llu: they are private memory "
                   "instead, slower and not read in place. In a container: --shm-size",
                   static_cast<unsigned long long>(room), m_job.node_name.c_str(),
                   static_cast<unsigned long long>(with_pages));
    }
  }
  must(MPI_Allreduce(&mine, &out_choice, 1, MPI_UINT64_T, MPI_MAX, m_job.collectives), "MPI_Allreduce");
  return out_choice != not_there;
}

/// All ranks are here, or will be at their next call.
tsr_status endpoint::make_window(collective& one) {
  const std::uint64_t needed = one.bytes > UINT64_MAX - 4 * line ? UINT64_MAX : one.bytes + 4 * line;
  std::uint64_t how = as_asked;
  if (!choose_memory(needed, how)) return TSR_RESOURCE_EXHAUSTED;
  auto made = std::make_unique<window>();
  window& w = *made;
  w.endpoint = this;
  const auto ranks = static_cast<std::size_t>(size);
  w.bytes.resize(ranks);
  w.shifts.resize(ranks);
  w.bases.resize(ranks);
  w.unflushed.resize(ranks);
  const auto length = static_cast<MPI_Aint>(needed);
  void* base = nullptr;
  if (how == private_memory) {
    w.own_memory = std::aligned_alloc(line, (needed + line - 1) / line * line);
    std::uint64_t fails = w.own_memory == nullptr ? 1 : 0, any = 0;
    must(MPI_Allreduce(&fails, &any, 1, MPI_UINT64_T, MPI_MAX, m_job.collectives), "MPI_Allreduce");
    if (any != 0) {
      std::free(w.own_memory);
      return TSR_RESOURCE_EXHAUSTED;
    }
    base = w.own_memory;
    must(MPI_Win_create(base, length, 1, MPI_INFO_NULL, m_job.collectives, &w.all), window_create_call);
  } else if (m_job.setting.shared && (m_job.nodes == 1 || m_job.nodes < size)) {  // some node has several ranks
    const info_of_shared info;
    must(MPI_Win_allocate_shared(length, 1, info.is, m_job.node, static_cast<void*>(&base), &w.node_memory),
         "MPI_Win_allocate_shared");
    for (std::size_t k = 0; k < m_job.node_ranks.size(); ++k) {
      MPI_Aint bytes = 0;
      int unit = 0;
      void* at = nullptr;
      must(MPI_Win_shared_query(w.node_memory, static_cast<int>(k), &bytes, &unit, static_cast<void*>(&at)),
           "MPI_Win_shared_query");
      w.bases[static_cast<std::size_t>(m_job.node_ranks[k])] = part_in(at);
    }
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.node_memory), "MPI_Win_lock_all");
    if (m_job.nodes > 1)
      must(MPI_Win_create(base, length, 1, MPI_INFO_NULL, m_job.collectives, &w.all), window_create_call);
  } else {
    must(MPI_Win_allocate(length, 1, MPI_INFO_NULL, m_job.collectives, static_cast<void*>(&base), &w.all),
         "MPI_Win_allocate");
  }
  std::byte* const part = part_in(base);
  w.bases[static_cast<std::size_t>(rank)] = part;
  if (w.all != MPI_WIN_NULL) must(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.all), "MPI_Win_lock_all");
  std::memset(part - line, 0, line + one.bytes);
  if (w.all != MPI_WIN_NULL) must(MPI_Win_sync(w.all), "MPI_Win_sync");
  const std::uint64_t shift = static_cast<std::uint64_t>(part - static_cast<std::byte*>(base));
  must(MPI_Allgather(&one.bytes, 1, MPI_UINT64_T, w.bytes.data(), 1, MPI_UINT64_T, m_job.collectives), "MPI_Allgather");
  must(MPI_Allgather(&shift, 1, MPI_UINT64_T, w.shifts.data(), 1, MPI_UINT64_T, m_job.collectives), "MPI_Allgather");
  must(MPI_Barrier(m_job.collectives), "MPI_Barrier");  // all parts are zero
  w.magic.set(transport::window_magic);
  *one.out_window = &w;
  windows.push_back(std::move(made));
  return TSR_OK;
}

void endpoint::free_window(window& of) {
  for (MPI_Win* const one : {&of.all, &of.node_memory}) {
    if (*one == MPI_WIN_NULL) continue;
    must(MPI_Win_unlock_all(*one), "MPI_Win_unlock_all");
    must(MPI_Win_free(one), "MPI_Win_free");
  }
  std::free(of.own_memory);
  of.own_memory = nullptr;
}

/// Other ranks wait no longer than one piece takes.
void endpoint::accumulate_in_place(const tsr_transfer& block, tsr_type type, std::byte* part) {
  constexpr std::uint64_t piece = 65536;
  const auto* const local = static_cast<const std::byte*>(block.local);
  for (std::uint64_t row = 0; row < block.rows; ++row)
    for (std::uint64_t at = 0; at < block.bytes; at += piece) {
      std::byte* const to = part + block.offset + row * block.offset_stride + at;
      const std::byte* const from = local + row * block.local_stride + at;
      const std::uint64_t length = std::min(piece, block.bytes - at);
      const part_lock lock(part);
      if (type == TSR_F32)
        add_row<float>(to, from, length);
      else if (type == TSR_F64)
        add_row<double>(to, from, length);
      else
        add_row<std::uint64_t>(to, from, length);
    }
}

void endpoint::through_mpi(direction way, const tsr_transfer& block, tsr_type type, under_way& one) {
  const auto& of = *static_cast<const window*>(block.window);
  const bool adds = way == direction::accumulate;
  const MPI_Datatype element = !adds             ? MPI_BYTE
                               : type == TSR_F32 ? MPI_FLOAT
                               : type == TSR_F64 ? MPI_DOUBLE
                                                 : MPI_INT64_T;
  const std::uint64_t element_bytes = !adds ? 1 : type == TSR_F32 ? 4 : 8;
  const std::uint64_t displacement = of.shifts[static_cast<std::size_t>(block.rank)] + block.offset;
  const auto call = [&](std::uint64_t offset, std::byte* local, std::uint64_t bytes, std::uint64_t rows) {
    MPI_Datatype here = element, there = element;
    int count = static_cast<int>(bytes / element_bytes);
    if (rows > 1) {
      const auto vector = [&](std::uint64_t stride, MPI_Datatype& made) {
        must(MPI_Type_create_hvector(static_cast<int>(rows), count, static_cast<MPI_Aint>(stride), element, &made),
             "MPI_Type_create_hvector");
        must(MPI_Type_commit(&made), "MPI_Type_commit");
      };
      vector(block.local_stride, here);
      vector(block.offset_stride, there);
      count = 1;
    }
    const auto to = static_cast<MPI_Aint>(displacement + offset);
    MPI_Request handle = MPI_REQUEST_NULL;
    if (way == direction::get)
      must(MPI_Rget(local, count, here, block.rank, to, count, there, of.all, &handle), "MPI_Rget");
    else if (way == direction::put)
      must(MPI_Rput(local, count, here, block.rank, to, count, there, of.all, &handle), "MPI_Rput");
    else
      must(MPI_Raccumulate(local, count, here, block.rank, to, count, there, MPI_SUM, of.all, &handle),
           "MPI_Raccumulate");
    add(one, handle);
    if (rows > 1) {
      MPI_Type_free(&here);
      MPI_Type_free(&there);
    }
  };
  const std::uint64_t piece = m_job.setting.piece;
  auto* const local = static_cast<std::byte*>(block.local);
  if (block.bytes > piece || block.rows == 1) {
    for (std::uint64_t row = 0; row < block.rows; ++row)
      for (std::uint64_t at = 0; at < block.bytes; at += piece)
        call(row * block.offset_stride + at, local + row * block.local_stride + at, std::min(piece, block.bytes - at),
             1);
    return;
  }
  const std::uint64_t together = std::clamp<std::uint64_t>(piece / block.bytes, 1, 1u << 20);
  for (std::uint64_t row = 0; row < block.rows; row += together)
    call(row * block.offset_stride, local + row * block.local_stride, block.bytes,
         std::min(together, block.rows - row));
}

tsr_status endpoint::transfer(direction way, const tsr_transfer& block, tsr_type type, tsr_request& request) {
  return asked([&]() -> tsr_status {
    const auto& of = *static_cast<const window*>(block.window);
    std::byte* const part = of.bases[static_cast<std::size_t>(block.rank)];
    const bool adds = way == direction::accumulate;
    if (part != nullptr && (!adds || of.all == MPI_WIN_NULL)) {
      auto* const local = static_cast<std::byte*>(block.local);
      if (adds)
        accumulate_in_place(block, type, part);
      else
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          std::byte* const there = part + block.offset + row * block.offset_stride;
          std::byte* const here = local + row * block.local_stride;
          way == direction::get ? copy_bytes(here, there, block.bytes) : copy_bytes(there, here, block.bytes);
        }
      transport::end(request, TSR_OK);
      return TSR_OK;
    }
    if (m_under_way.size() >= most_under_way) test_handles();
    if (m_under_way.size() >= most_under_way)
      return report.fail(TSR_NOT_READY, "%zu operations are under way", m_under_way.size());
    under_way& one = new_under_way(&request);
    one.of = block.window;
    one.rank = block.rank;
    transport::begin(request);
    through_mpi(way, block, type, one);
    return TSR_OK;
  });
}

tsr_status endpoint::word(const word_call& call, tsr_request& request) {
  return asked([&]() -> tsr_status {
    const auto place = static_cast<std::size_t>(call.rank);
    const auto& of = *static_cast<const window*>(call.window);
    const bool adds = call.what == word_operation::fetch_add;
    if (of.all == MPI_WIN_NULL) {
      const std::atomic_ref<std::int64_t> at(*reinterpret_cast<std::int64_t*>(of.bases[place] + call.offset));
      std::int64_t before = call.expected;
      if (adds)
        before = at.fetch_add(call.value);
      else
        at.compare_exchange_strong(before, call.value);
      *call.out_before = before;
      transport::end(request, TSR_OK);
      return TSR_OK;
    }
    if (m_under_way.size() >= most_under_way) test_handles();
    if (m_under_way.size() >= most_under_way)
      return report.fail(TSR_NOT_READY, "%zu operations are under way", m_under_way.size());
    const auto to = static_cast<MPI_Aint>(of.shifts[place] + call.offset);
    under_way& one = new_under_way(&request);
    one.of = call.window;
    one.rank = call.rank;
    one.word[0] = call.value;
    one.out_before = call.out_before;
    transport::begin(request);
    if (!adds) {
      const auto at = std::ranges::find_if(windows, [&](const auto& w) { return w.get() == call.window; });
      one.left = 1;  // the answer
      const control ask{control::kind::ask, static_cast<std::uint32_t>(at - windows.begin()),
                        call.offset,        call.expected,
                        call.value,         reinterpret_cast<std::uint64_t>(&one)};
      if (call.rank == rank) {
        swap_in_own_part(ask, one.word[1]);
        settle(one);
      } else {
        send_control(call.rank, ask);
      }
      return TSR_OK;
    }
    MPI_Request handle = MPI_REQUEST_NULL;
    must(MPI_Rget_accumulate(&one.word[0], 1, MPI_INT64_T, &one.word[1], 1, MPI_INT64_T, call.rank, to, 1, MPI_INT64_T,
                             MPI_SUM, of.all, &handle),
         "MPI_Rget_accumulate");
    add(one, handle);
    return TSR_OK;
  });
}

tsr_status endpoint::flush(tsr_window_s* of, std::int32_t to, tsr_request& request) {
  return asked([&]() -> tsr_status {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // for what was done in place
    for (const auto& one : windows) {
      auto& w = static_cast<window&>(*one);
      if (w.all == MPI_WIN_NULL || (of != nullptr && of != one.get())) continue;
      must(to == TSR_ALL_RANKS ? MPI_Win_flush_all(w.all) : MPI_Win_flush(to, w.all), "MPI_Win_flush");
    }
    test_handles();
    m_flushes.push_back({of, to, m_number, operations, &request});
    transport::begin(request);
    complete_flushes();
    return TSR_OK;
  });
}

/// What MPI had to do was done in the call; this waits for requests that were not looked at yet, and for answers.
bool endpoint::complete_flushes() {
  return std::erase_if(m_flushes, [&](const pending_flush& flush) {
           for (const under_way& one : m_under_way)
             if (one.of != nullptr && one.number <= flush.upto && (flush.window == nullptr || flush.window == one.of) &&
                 (flush.rank == TSR_ALL_RANKS || flush.rank == one.rank))
               return false;
           flushed(flush.window, flush.rank, flush.operations);
           transport::end(*flush.request, TSR_OK);
           return true;
         }) != 0;
}

tsr_status endpoint::create_window(std::uint64_t part_bytes, tsr_window** out_window, tsr_request& request) {
  collective one;
  one.what = collective::kind::create;
  one.bytes = part_bytes;
  one.out_window = out_window;
  one.request = &request;
  return asked([&]() -> tsr_status {
    start(std::move(one));
    return TSR_OK;
  });
}

tsr_status endpoint::destroy_window(tsr_window_s& of, tsr_request& request) {
  for (const under_way& one : m_under_way)
    if (one.of == &of)
      return report.fail(TSR_FAILED_PRECONDITION, "window_destroy: operations of this rank on it are under way");
  collective one;
  one.what = collective::kind::destroy;
  one.of = static_cast<window*>(&of);
  one.request = &request;
  return asked([&]() -> tsr_status {
    start(std::move(one));
    return TSR_OK;
  });
}

}  // namespace tessera::mpi
