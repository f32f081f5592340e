#include "plugins/opencl/errors.hpp"

#include <algorithm>
#include <array>

namespace tessera::gpu {
namespace opencl {
namespace {

struct named_code {
  cl_int code;
  const char* name;
};

// As numbers: older headers name fewer of them.
constexpr std::array codes = {
    named_code{-1, "CL_DEVICE_NOT_FOUND"},
    named_code{-2, "CL_DEVICE_NOT_AVAILABLE"},
    named_code{-3, "CL_COMPILER_NOT_AVAILABLE"},
    named_code{-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    named_code{-5, "CL_OUT_OF_RESOURCES"},
    named_code{-6, "CL_OUT_OF_HOST_MEMORY"},
    named_code{-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    named_code{-8, "CL_MEM_COPY_OVERLAP"},
    named_code{-9, "CL_IMAGE_FORMAT_MISMATCH"},
    named_code{-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    named_code{-11, "CL_BUILD_PROGRAM_FAILURE"},
    named_code{-12, "CL_MAP_FAILURE"},
    named_code{-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    named_code{-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    named_code{-15, "CL_COMPILE_PROGRAM_FAILURE"},
    named_code{-16, "CL_LINKER_NOT_AVAILABLE"},
    named_code{-17, "CL_LINK_PROGRAM_FAILURE"},
    named_code{-18, "CL_DEVICE_PARTITION_FAILED"},
    named_code{-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    named_code{-30, "CL_INVALID_VALUE"},
    named_code{-31, "CL_INVALID_DEVICE_TYPE"},
    named_code{-32, "CL_INVALID_PLATFORM"},
    named_code{-33, "CL_INVALID_DEVICE"},
    named_code{-34, "CL_INVALID_CONTEXT"},
    named_code{-35, "CL_INVALID_QUEUE_PROPERTIES"},
    named_code{-36, "CL_INVALID_COMMAND_QUEUE"},
    named_code{-37, "CL_INVALID_HOST_PTR"},
    named_code{-38, "CL_INVALID_MEM_OBJECT"},
    named_code{-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    named_code{-40, "CL_INVALID_IMAGE_SIZE"},
    named_code{-41, "CL_INVALID_SAMPLER"},
    named_code{-42, "CL_INVALID_BINARY"},
    named_code{-43, "CL_INVALID_BUILD_OPTIONS"},
    named_code{-44, "CL_INVALID_PROGRAM"},
    named_code{-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    named_code{-46, "CL_INVALID_KERNEL_NAME"},
    named_code{-47, "CL_INVALID_KERNEL_DEFINITION"},
    named_code{-48, "CL_INVALID_KERNEL"},
    named_code{-49, "CL_INVALID_ARG_INDEX"},
    named_code{-50, "CL_INVALID_ARG_VALUE"},
    named_code{-51, "CL_INVALID_ARG_SIZE"},
    named_code{-52, "CL_INVALID_KERNEL_ARGS"},
    named_code{-53, "CL_INVALID_WORK_DIMENSION"},
    named_code{-54, "CL_INVALID_WORK_GROUP_SIZE"},
    named_code{-55, "CL_INVALID_WORK_ITEM_SIZE"},
    named_code{-56, "CL_INVALID_GLOBAL_OFFSET"},
    named_code{-57, "CL_INVALID_EVENT_WAIT_LIST"},
    named_code{-58, "CL_INVALID_EVENT"},
    named_code{-59, "CL_INVALID_OPERATION"},
    named_code{-60, "CL_INVALID_GL_OBJECT"},
    named_code{-61, "CL_INVALID_BUFFER_SIZE"},
    named_code{-62, "CL_INVALID_MIP_LEVEL"},
    named_code{-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    named_code{-64, "CL_INVALID_PROPERTY"},
    named_code{-65, "CL_INVALID_IMAGE_DESCRIPTOR"},
    named_code{-66, "CL_INVALID_COMPILER_OPTIONS"},
    named_code{-67, "CL_INVALID_LINKER_OPTIONS"},
    named_code{-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    named_code{-69, "CL_INVALID_PIPE_SIZE"},
    named_code{-70, "CL_INVALID_DEVICE_QUEUE"},
    named_code{-71, "CL_INVALID_SPEC_ID"},
    named_code{-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
    named_code{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

}  // namespace

const char* name_of(cl_int code) noexcept {
  const auto found = std::find_if(codes.begin(), codes.end(), [&](const auto& one) { return one.code == code; });
  return found != codes.end() ? found->name : "an unknown code";
}

}  // namespace opencl

namespace {

error_kind kind_of_code(cl_int code) noexcept {
  switch (code) {
    case CL_SUCCESS:
      return error_kind::none;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return error_kind::out_of_memory;
    case CL_DEVICE_NOT_FOUND:
    case CL_PLATFORM_NOT_FOUND_KHR:
      return error_kind::no_device;
    case CL_INVALID_VALUE:
    case CL_MEM_COPY_OVERLAP:
      return error_kind::bad_argument;
    // Our queues and contexts are right: a driver that calls them invalid has lost them.
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_COMMAND_QUEUE:
    case CL_INVALID_CONTEXT:
      return error_kind::sticky;
    default:
      return error_kind::other;
  }
}

}  // namespace

error_t::error_t(cl_int code, const std::string& tried)
    : error_t(code, kind_of_code(code), tried + ": " + opencl::name_of(code)) {}

error_t::error_t(cl_int code, error_kind kind, const std::string& why)
    : m_code(code), m_kind(kind), m_text(std::make_shared<const std::string>(why)) {}

}  // namespace tessera::gpu
