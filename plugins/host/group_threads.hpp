#pragma once
// A group of a kernel whose threads wait for each other.
#include "plugins/kit/jit/host_image.hpp"

namespace tessera::host {

/// Runs the group at.group on the calling thread: its threads run one after the other as far as the next BARRIER, each
/// on a stack of its own. Some 100 ns for each thread at each barrier: right, not fast. Threads that end do not hold up
/// those that wait. Throws std::bad_alloc when there are no stacks.
void run_group(const kit::host_kernel& kernel, const kit::kernel_place& at, void* const* arguments);

}  // namespace tessera::host
