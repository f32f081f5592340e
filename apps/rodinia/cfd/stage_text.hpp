#pragma once
// A stage of an element's update as text for devices: what cfd_step_factor and cfd_residual do.
#include <string>

namespace tessera::apps::rodinia {

/// The body of a kernel behind `parameters` ("(i, now, ...) {"), which name at least now, other, normal, factor and to.
/// @param makes_factor  whether it finds the element's step factor from `size`, or reads it
/// @param old  the array from whose state the step is taken  @param divisor  of the step factor
std::string cfd_stage_text(const char* parameters, bool makes_factor, const char* old, int divisor);

}  // namespace tessera::apps::rodinia
