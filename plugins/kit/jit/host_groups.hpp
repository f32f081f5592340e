#pragma once
// How a kernel of the host runs on one thread: group after group.
#include "plugins/kit/jit/host_image.hpp"

namespace tessera::kit {

/// Runs all groups of a launch on the calling thread. Where the kernel may come to a BARRIER, the threads of a group
/// run one after the other as far as the next one, each on a stack of its own: some 100 ns for each thread at each
/// barrier, right, not fast. Threads that end do not hold up those that wait. Throws std::bad_alloc when there are no
/// stacks.
void run_groups(host_call& call);

}  // namespace tessera::kit
