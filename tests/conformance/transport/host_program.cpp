// A program that has MPI itself: transport_host_program --directory DIR, under mpirun. The transport takes a
// communicator of it, here one whose ranks are in reverse order, leaves MPI running, and refuses what cannot be.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <string>

#include "cluster/transport/transport.hpp"

namespace {

using namespace tessera;
using namespace tessera::cluster;

int failures = 0, world_rank = 0;

void expect(bool holds, const std::string& text) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "FAILED rank %d of the world: %s\n", world_rank, text.c_str());
}

transport_options how(const char* directory, std::vector<plugin::raw_option> values) {
  return {.directories = {directory}, .name = "mpi", .values = std::move(values)};
}

std::string refusal_of(const transport_options& options) {
  try {
    const transport opened(options);
  } catch (const error& failure) {
    return failure.what();
  }
  return "nothing was thrown";
}

/// A ring of messages in the order of the communicator.
void use(const transport_options& options, int rank, int size) {
  transport between(options);
  expect(between.description().size == size && between.description().first_rank == rank,
         fmt::format("rank {} of {}; expected {} of {}", between.description().first_rank, between.description().size,
                     rank, size));
  expect(refusal_of(options).find("open already") != std::string::npos, "a second transport in the process");
  int source = -1;
  const auto end = between.open(rank, [&](const message_view& one) { source = one.source; });
  request sent, done;
  while (!end->send((rank + 1) % size, 0, {}, {}, sent)) end->progress();
  while (source < 0)
    if (!end->progress()) end->wait(std::chrono::milliseconds(100));
  expect(source == (rank + size - 1) % size, fmt::format("the message came from rank {}", source));
  end->finish(sent);
  end->barrier(done);
  end->finish(done);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 || std::string(words[1]) != "--directory") {
    std::fprintf(stderr, "usage: transport_host_program --directory DIR\n");
    return 2;
  }
  try {
    expect(refusal_of(how(words[2], {{"communicator", std::int64_t{0}, "test"}})).find("MPI is not initialised") !=
               std::string::npos,
           "a communicator before MPI is initialised");
    int level = 0, size = 0;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - world_rank, &reversed);
    const std::int64_t number = MPI_Comm_c2f(reversed);
    const std::string refused =
        refusal_of(how(words[2], {{"threads", std::string("serialized"), "test"}, {"communicator", number, "test"}}));
    if (level < MPI_THREAD_SERIALIZED)
      expect(refused.find("MPI_THREAD_SERIALIZED") != std::string::npos, "a level that is too low: " + refused);
    for (int k = 0; k < 2; ++k) {  // MPI stays, so that it can be opened again
      use(how(words[2], {{"communicator", number, "test"}}), size - 1 - world_rank, size);
      int is_over = 1;
      MPI_Finalized(&is_over);
      expect(is_over == 0, "MPI was finalised by the transport");
    }
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    expect(refusal_of(how(words[2], {})).find("only once") != std::string::npos, "MPI that was finalised");
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "FAILED rank %d of the world: %s\n", world_rank, failure.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
