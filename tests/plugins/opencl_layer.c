/* A layer of OpenCL's (OPENCL_LAYERS names it): passes every call on, but fails those that a test chose, and tells of a
 * device what OPENCL_LAYER_DEVICE says: "no_fp64", "no_compiler". */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const cl_icd_dispatch* below;
static cl_icd_dispatch own;

static struct {
  const char* call;
  cl_int code;
} chosen;
static atomic_int passes, failures; /* how many calls still succeed; how many failed */

/* From the next call but `after` on, `call` fails with `code`; NULL: nothing fails any more. While nothing else is
 * called. */
__attribute__((visibility("default"))) void opencl_layer_fail(const char* call, int after, int code) {
  chosen.call = call;
  chosen.code = code;
  atomic_store(&passes, after);
  atomic_store(&failures, 0);
}
__attribute__((visibility("default"))) int opencl_layer_failures(void) { return atomic_load(&failures); }

static int fails(const char* call) {
  if (chosen.call == NULL || strcmp(chosen.call, call) != 0 || atomic_fetch_sub(&passes, 1) > 0) return 0;
  atomic_fetch_add(&failures, 1);
  return 1;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
  if (!fails("clCreateBuffer")) return below->clCreateBuffer(context, flags, size, host, code);
  if (code != NULL) *code = chosen.code;
  return NULL;
}
static cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                             const cl_device_id* devices,
                                             void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*),
                                             void* data, cl_int* code) {
  if (!fails("clCreateContext")) return below->clCreateContext(properties, count, devices, notify, data, code);
  if (code != NULL) *code = chosen.code;
  return NULL;
}
static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t* offset, const size_t* global, const size_t* local, cl_uint count,
                                         const cl_event* events, cl_event* event) {
  if (fails("clEnqueueNDRangeKernel")) return chosen.code;
  return below->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, events, event);
}
static cl_int CL_API_CALL set_event_callback(cl_event event, cl_int state,
                                             void(CL_CALLBACK* notify)(cl_event, cl_int, void*), void* data) {
  if (fails("clSetEventCallback")) return chosen.code;
  return below->clSetEventCallback(event, state, notify, data);
}
/* Commands that the driver ended. */
static cl_int CL_API_CALL event_info(cl_event event, cl_event_info name, size_t size, void* value, size_t* written) {
  const cl_int code = below->clGetEventInfo(event, name, size, value, written);
  if (code == CL_SUCCESS && name == CL_EVENT_COMMAND_EXECUTION_STATUS && fails("clGetEventInfo"))
    *(cl_int*)value = chosen.code;
  return code;
}
static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info name, size_t size, void* value,
                                      size_t* written) {
  const char* const kind = getenv("OPENCL_LAYER_DEVICE");
  const cl_int code = below->clGetDeviceInfo(device, name, size, value, written);
  if (kind == NULL || code != CL_SUCCESS || value == NULL) return code;
  if (strcmp(kind, "no_fp64") == 0 && name == CL_DEVICE_DOUBLE_FP_CONFIG) memset(value, 0, size);
  if (strcmp(kind, "no_compiler") == 0 && name == CL_DEVICE_COMPILER_AVAILABLE) memset(value, 0, size);
  return code;
}

CL_API_ENTRY __attribute__((visibility("default"))) cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size,
                                                                                      void* value, size_t* written) {
  if (name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (value != NULL && size < sizeof(cl_layer_api_version)) return CL_INVALID_VALUE;
  if (value != NULL) *(cl_layer_api_version*)value = CL_LAYER_API_VERSION_100;
  if (written != NULL) *written = sizeof(cl_layer_api_version);
  return CL_SUCCESS;
}

CL_API_ENTRY __attribute__((visibility("default"))) cl_int CL_API_CALL clInitLayer(cl_uint count,
                                                                                   const cl_icd_dispatch* target,
                                                                                   cl_uint* own_count,
                                                                                   const cl_icd_dispatch** dispatch) {
  if (count < sizeof own / sizeof own.clGetPlatformIDs) return CL_INVALID_VALUE;
  below = target;
  own = *target;
  own.clCreateBuffer = create_buffer;
  own.clCreateContext = create_context;
  own.clEnqueueNDRangeKernel = enqueue_kernel;
  own.clSetEventCallback = set_event_callback;
  own.clGetEventInfo = event_info;
  own.clGetDeviceInfo = device_info;
  *own_count = sizeof own / sizeof own.clGetPlatformIDs;
  *dispatch = &own;
  return CL_SUCCESS;
}
