// mpirun -n 2 bench_transport [--directory DIR] [--rounds N]: operations of the transport mpi beside the same ones of
// plain MPI on its best window (MPI_Win_allocate, lock_all), in turns within one run. Rank 1 serves: it makes progress,
// or waits in a barrier of MPI. Microseconds per operation that is complete remotely; the median of the rounds.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/measure.hpp"
#include "cluster/transport/transport.hpp"

namespace {

using namespace tessera::cluster;

constexpr std::uint64_t large = 65536, columns = 1000, square = 90;  // bytes; doubles of a row; of a block: 64.8 KB
constexpr std::uint64_t part_bytes = columns * 200 * 8;

struct sides {
  endpoint& end;
  tsr_window* window;
  MPI_Win plain;
  std::vector<double> local = std::vector<double>(large / 8);  // more than a square
  std::int64_t word = 0, before = 0;
};

tsr_transfer block_of(sides& s, std::uint64_t bytes) {
  return {sizeof(tsr_transfer), 1, s.window, 0, s.local.data(), bytes, 1, 0, 0};
}

tsr_transfer square_of(sides& s) {
  return {sizeof(tsr_transfer), 1, s.window, 8 * columns, s.local.data(), square * 8, square, columns * 8, square * 8};
}

void flush(sides& s) {
  request done;
  s.end.flush(s.window, 1, done);
  s.end.finish(done);
}

template <class Start>
void one_call(sides& s, Start&& start, bool flushes) {
  request done;
  while (!start(done)) s.end.progress();
  s.end.finish(done);
  if (flushes) flush(s);
}

struct pair_of_calls {
  std::string name;
  int times;
  std::function<void(sides&)> ours, plain;
};

std::vector<pair_of_calls> cases(MPI_Datatype& matrix_block) {
  const auto doubles = [](std::uint64_t bytes) { return static_cast<int>(bytes / 8); };
  const auto get = [](std::uint64_t bytes) {
    return [bytes](sides& s) {
      one_call(
          s, [&](request& r) { return s.end.get(block_of(s, bytes), r); }, false);
    };
  };
  const auto put = [](std::uint64_t bytes) {
    return [bytes](sides& s) {
      one_call(
          s, [&](request& r) { return s.end.put(block_of(s, bytes), r); }, true);
    };
  };
  const auto plain_get = [doubles](std::uint64_t bytes) {
    return [doubles, bytes](sides& s) {
      MPI_Get(s.local.data(), doubles(bytes), MPI_DOUBLE, 1, 0, doubles(bytes), MPI_DOUBLE, s.plain);
      MPI_Win_flush(1, s.plain);
    };
  };
  const auto plain_put = [doubles](std::uint64_t bytes) {
    return [doubles, bytes](sides& s) {
      MPI_Put(s.local.data(), doubles(bytes), MPI_DOUBLE, 1, 0, doubles(bytes), MPI_DOUBLE, s.plain);
      MPI_Win_flush(1, s.plain);
    };
  };
  return {
      {"get_64k", 2000, get(large), plain_get(large)},
      {"put_64k", 2000, put(large), plain_put(large)},
      {"accumulate_64k", 1000,
       [](sides& s) {
         one_call(
             s, [&](request& r) { return s.end.accumulate(block_of(s, large), TSR_F64, r); }, true);
       },
       [doubles](sides& s) {
         MPI_Accumulate(s.local.data(), doubles(large), MPI_DOUBLE, 1, 0, doubles(large), MPI_DOUBLE, MPI_SUM, s.plain);
         MPI_Win_flush(1, s.plain);
       }},
      {"get_square", 1000,
       [](sides& s) {
         one_call(
             s, [&](request& r) { return s.end.get(square_of(s), r); }, false);
       },
       [&matrix_block](sides& s) {
         MPI_Get(s.local.data(), static_cast<int>(square * square), MPI_DOUBLE, 1, columns, 1, matrix_block, s.plain);
         MPI_Win_flush(1, s.plain);
       }},
      {"get_8", 20000, get(8), plain_get(8)},
      {"put_8", 20000, put(8), plain_put(8)},
      {"fetch_add", 20000,
       [](sides& s) {
         one_call(
             s, [&](request& r) { return s.end.fetch_add(s.window, 1, 8, 1, s.before, r); }, false);
       },
       [](sides& s) {
         s.word = 1;
         MPI_Fetch_and_op(&s.word, &s.before, MPI_INT64_T, 1, 1, MPI_SUM, s.plain);
         MPI_Win_flush(1, s.plain);
       }},
  };
}

double microseconds(const pair_of_calls& one, bool ours, sides& s) {
  const auto& call = ours ? one.ours : one.plain;
  for (int k = 0; k < one.times / 10; ++k) call(s);
  const double begin = bench::now();
  for (int k = 0; k < one.times; ++k) call(s);
  return (bench::now() - begin) / one.times * 1e6;
}

double barrier_microseconds(endpoint& end, bool ours) {
  constexpr int times = 2000;
  const double begin = bench::now();
  for (int k = 0; k < times; ++k) {
    if (!ours) {
      MPI_Barrier(MPI_COMM_WORLD);
      continue;
    }
    request done;
    end.barrier(done);
    end.finish(done);
  }
  return (bench::now() - begin) / times * 1e6;
}

void measure(const std::string& directory, int rounds) {
  transport between({.directories = {std::filesystem::absolute(directory)},
                     .name = "mpi",
                     .values = {{"communicator", std::int64_t{MPI_Comm_c2f(MPI_COMM_WORLD)}, "command line"}}});
  bool stop = false;
  const int rank = between.description().first_rank;
  const auto end = between.open(rank, [&](const message_view&) { stop = true; });
  request done;
  tsr_window* window = nullptr;
  end->window_create(part_bytes, window, done);
  end->finish(done);
  void* base = nullptr;
  MPI_Win plain = MPI_WIN_NULL;
  MPI_Win_allocate(part_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &plain);
  MPI_Win_lock_all(0, plain);
  MPI_Datatype matrix_block = MPI_DATATYPE_NULL;
  MPI_Type_vector(square, square, columns, MPI_DOUBLE, &matrix_block);
  MPI_Type_commit(&matrix_block);
  sides s{*end, window, plain};
  std::map<std::string, std::vector<double>> ours, theirs;
  for (int round = 0; round < rounds; ++round) {
    for (const pair_of_calls& one : cases(matrix_block))
      for (const bool mine : {true, false}) {
        if (rank == 0) (mine ? ours : theirs)[one.name].push_back(microseconds(one, mine, s));
        if (mine && rank == 0) {
          while (!end->send(1, 0, {}, {}, done)) end->progress();
          end->finish(done);
        }
        if (mine && rank == 1) {
          for (stop = false; !stop;)
            if (!end->progress()) end->wait(std::chrono::milliseconds(10));
        }
        MPI_Barrier(MPI_COMM_WORLD);
      }
    ours["barrier"].push_back(barrier_microseconds(*end, true));
    theirs["barrier"].push_back(barrier_microseconds(*end, false));
  }
  if (rank == 0)
    for (auto& [name, times] : ours) {
      const double mine = bench::median(times), plain_mpi = bench::median(theirs[name]);
      bench::row("transport", "Tessera", name, 2, "us", mine);
      bench::row("transport", "MPI", name, 2, "us", plain_mpi);
      bench::row("transport", "Tessera", name, 2, "over_mpi", mine / plain_mpi);
    }
  MPI_Type_free(&matrix_block);
  MPI_Win_unlock_all(plain);
  MPI_Win_free(&plain);
  end->flush(nullptr, TSR_ALL_RANKS, done);
  end->finish(done);
  end->window_destroy(window, done);
  end->finish(done);
}

}  // namespace

int main(int count, char** words) {
  const bench::arguments given(count, words, {"directory", "rounds"});
  const std::string directory = given.text("directory", TESSERA_TRANSPORT_DIR);
  const int rounds = std::max(std::atoi(given.text("rounds", "5").c_str()), 1);
  int size = 0, level = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    std::fprintf(stderr, "bench_transport measures 2 ranks, and there are %d: mpirun -n 2 bench_transport\n", size);
    MPI_Finalize();
    return 2;
  }
  try {
    measure(directory, rounds);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
