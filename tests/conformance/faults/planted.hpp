#pragma once
// The faults that are planted in plugins of tests/plugins, and the checks that must find them.
namespace tessera::conformance {

/// A plugin that breaks one promise, and the check that must notice.
struct fault {
  const char* planted;  ///< a file of tests/plugins, or what the layer `careless` (or `boastful`) around a simulated
                        ///< device is about
  const char* check;    ///< that must fail
  const char* wrong;    ///< what the plugin does
};

/// Those of a small device plugin.
inline constexpr fault of_devices[] = {
    {"fault_silent", "failure.failures_are_explained", "refuses without a word to `host->error`"},
    {"fault_alignment", "memory.alignment_is_kept", "promises an alignment that it does not keep"},
    {"fault_null_memory", "ordering.signals_wait_for_work", "answers OK to `mem_alloc` and gives no memory"},
    {"fault_writes_on_failure", "memory.absurd_sizes_are_exhaustion",
     "writes the out argument of a `mem_alloc` that fails"},
    {"fault_alloc_of_nothing", "failure.alloc_of_nothing", "allocates 0 bytes"},
    {"fault_exhaustion", "memory.exhaustion_answers_and_recovers", "answers `INTERNAL` when its memory is full"},
    {"fault_timeline", "ordering.timelines_increase", "gives the same point at every signal"},
    {"fault_ranges", "failure.copy_out_of_range", "answers OK to copies beyond an allocation"},
    {"fault_strides", "copies.every_pair", "copies rows as if there were no gaps between them"},
    {"fault_axpy", "blas.axpy", "ignores the increment of y"},
    {"fault_ends", "blas.axpy", "begins at the same end of a vector whatever the sign of the increment"},
    {"fault_claim", "honesty.inline_streams", "claims inline streams that it does not make"},
    {"fault_room", "abi.descriptions_stay_inside", "writes behind the struct that it fills"},
    {"fault_array", "abi.longer_option_values", "steps through option values by its own `sizeof`"},
    {"fault_short", "abi.short_structs_are_respected", "fills more of a struct than the host has room for"},
    {"fault_unterminated", "abi.texts_end", "gives a name without an end"},
    {"fault_uuids_change", "honesty.uuids_tell_devices_apart", "has another uuid at every question"},
    {"fault_uuids_twice", "honesty.uuids_tell_devices_apart", "has two devices with one uuid"},
    {"fault_capacity", "memory.capacity_is_there", "says that it has more memory than it has"}};

/// Those about queued work and lost devices.
inline constexpr fault of_streams[] = {
    {"patterns", "enqueueing.patterns_are_read_at_once", "reads the pattern of a fill when the work runs"},
    {"scalars", "enqueueing.arguments_are_read_at_once", "reads alpha of `scal` when the work runs"},
    {"products", "enqueueing.arguments_are_read_at_once", "reads alpha and beta of `spmm` when the work runs"},
    {"waiting", "enqueueing.operations_do_not_wait", "waits for the stream in `gemm`"},
    {"allocation", "enqueueing.allocation_waits_for_no_work", "waits for all streams in `mem_alloc`"},
    {"early", "enqueueing.callbacks_wait_for_work", "calls back before the work has finished"},
    {"destroy", "enqueueing.destroyed_streams_finish_their_work", "drops work in `stream_destroy`"},
    {"batches", "enqueueing.refused_batches_enqueue_nothing", "does part of a batch that it refuses"},
    {"merged", "failure.failures_are_reported_one_by_one", "tells one of several failures"},
    {"newest", "failure.failures_are_reported_one_by_one", "tells the newest of several failures first"},
    {"ahead", "failure.failures_are_reported_one_by_one",
     "tells with a failure all that is reached, past failures that it has not told"},
    {"downdates", "jobs.cholesky", "forgets the transposition in a path of its own for C -= A B^T"},
    {"waits", "jobs.random_graphs", "keeps the first three of several waits in a row"},
    {"forgiving", "loss.is_sticky", "has a lost device answer that it is well"},
    {"points", "loss.pending_points_are_reached", "leaves points of a lost device pending"},
    {"contagious", "loss.others_work_on", "has all devices say that they are lost when one is"},
    {"callbacks", "loss.due_callbacks_are_called", "drops callbacks that are due when a device is lost"},
    {"restless", "loss.memory_is_left_alone", "writes to host memory after it has answered `DEVICE_LOST`"}};

/// Those that other checks meet as well, or crash for; by the layer `careless`.
inline constexpr fault of_calls[] = {
    {"signals", "ordering.signals_wait_for_work", "has a point reached as soon as it is signalled"},
    {"repeats", "ordering.timelines_increase", "gives a value a second time"},
    {"structs", "enqueueing.copies_are_read_at_once", "reads the struct of a copy when the work runs"},
    {"hasty", "enqueueing.destroyed_streams_finish_their_work", "returns from `stream_destroy` while work goes on"},
    {"blocking", "enqueueing.waits_do_not_block", "has the caller of `stream_wait` wait"},
    {"strangers", "failure.memory_of_another_device", "takes memory of another device for a device's own"},
    {"untold", "failure.failed_work_is_reported_once", "never tells a failure"},
    {"deaf", "ordering.callbacks_come_in_order", "does not call back"},
    {"timeless", "ordering.host_waits", "ignores the limit of `stream_host_wait`"},
    {"bounds", "blas.arguments", "does not look whether the vectors of `axpy` fit their memory"},
    {"leading", "blas.arguments", "takes leading dimensions that are too small"},
    {"handles", "blas.arguments", "answers OK to `scal` of a NULL device"},
    {"unsized", "tensor.contract", "claims contract in a TENSOR table without `workspace`"},
    {"unsized", "tensor.permute", "claims permute in a TENSOR table without `workspace`"},
    {"batches_alone", "tensor.contract", "claims contract and has `contract_batched` alone"},
    {"notes", "failure.alloc_of_nothing", "answers OK and leaves a text with `host->error`"},
    {"products_wrong", "blas.gemm", "computes with twice the alpha of `gemm`"},
    {"talking", "manners.prints_nothing", "prints to standard error what it refuses"},
    {"unbound", "manners.threads_stay_inside_the_mask", "has a thread that is not bound inside the mask"},
    {"staying", "manners.openings_leave_no_threads", "leaves a thread behind at each opening"},
    {"hoarding", "manners.openings_leave_no_memory", "keeps the bytes of its allocations when it is closed"},
    {"hurried", "ordering.host_waits", "ends `stream_host_wait` after a thousandth of its limit"},
    {"narrow", "failure.copy_out_of_range", "counts the bytes of a copy in 32 bits"},
    {"trusting", "failure.handles_that_are_none", "answers OK to `mem_free` of a handle that it never gave"}};

/// Those about limits that are stated, by the layer `boastful`.
inline constexpr fault of_limits[] = {
    {"allocations", "limits.allocations", "states twice the largest allocation that it makes"},
    {"copies", "limits.copies", "copies twice of what it states as the largest copy"},
    {"streams", "limits.streams", "states twice the streams that can live"},
    {"lengths", "ordering.host_work", "looks at no lengths of ranges"}};

/// Those of plugins of the other kinds, and of what holds for every kind.
inline constexpr fault of_kinds[] = {
    {"table_slow_probe", "plugin.probe_is_cheap", "takes milliseconds to be probed"},
    {"operations_wears_out", "plugin.opens_again",
     "has something to offer at twenty openings and nothing at the next twenty"},
    {"table_stuck", "plugin.refused_options_do_no_harm", "refuses the opening after one that it refused for an option"},
    {"table_ignores", "plugin.options_are_read", "ignores an option that it declares"},
    {"operations_twice", "operations.names", "has two operations of one name"},
    {"operations_silent", "operations.any_arguments_are_answered", "refuses arguments without a word to `host->error`"},
    {"operations_beyond", "operations.blocks_of_every_size", "writes behind blocks with an odd number of elements"},
    {"operations_shared", "operations.threads_get_equal_results", "has one scratch variable for all threads"},
    {"policy_single", "policy.index_is_in_range", "chooses number 1 of one candidate"},
    {"policy_endless", "policy.extreme_values", "chooses none of candidates that all take infinitely long"},
    {"policy_turns", "policy.is_a_pure_function", "has candidates take turns"},
    {"policy_shared", "policy.threads_get_equal_choices", "has one scratch variable for all threads"},
    {"layer_options", "layer.keeps_the_header", "loses the options of what it wraps"},
    {"layer_silent", "layer.refusals_are_explained", "refuses to wrap without a word to `host->error`"},
    {"layer_own_words", "layer.inner_failures_come_through", "replaces the inner plugin's details by its own"}};

}  // namespace tessera::conformance
