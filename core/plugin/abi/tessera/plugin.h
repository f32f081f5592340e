/*
 * tessera/plugin.h - the plugin ABI of Tessera, version 1.1.
 *
 * This one header is all that a device, storage, operations, policy or layer plugin needs. It is plain C11, includes
 * three standard headers only, and may be installed and used alone. Nothing C++ crosses this boundary.
 *
 * A plugin is a shared library that exports one symbol, tsr_plugin_query. The host (Tessera's core) calls
 *
 *     query -> probe -> open -> enumerate -> device_open (each) -> devices_ready -> ... -> device_close -> shutdown
 *
 * and never unloads the library.
 *
 * Rules that hold everywhere
 * --------------------------
 *  R1  Sizes.     struct_size is the first field of every struct that crosses the boundary, in both directions, and is
 *                 set by the side that fills the struct. Structs only grow at their end. A reader tests a field that is
 *                 younger than version 1.0 with TSR_HAS before it touches it; function pointers may be NULL where the
 *                 field says "optional". Structs without a struct_size (tsr_ticket, tsr_address, tsr_space_ref,
 *                 tsr_workspace, tsr_counter, tsr_candidate) never change. Before a call that fills an out_ struct the
 *                 caller sets its struct_size to the room there is; the callee writes no more than that. The elements of an
 *                 array of structs lie struct_size of the first element apart, which may be more or less than the reader's
 *                 sizeof. A field of a later version begins at or behind the sizeof that its struct had before, never in padding.
 *                 0 in an out_ struct is a mistake: INVALID_ARGUMENT, or no more is written than version 1.0 had. What describes a
 *                 call, or is the first element of an array, has it set: less than version 1.0's fields is INVALID_ARGUMENT.
 *  R2  Versions.  The major numbers must match. The minor number negotiates down: both sides use what the older knows.
 *                 What a newer minor version may add: fields at the ends of structs, entries at the ends of tables (optional
 *                 ones), values of enumerations, bits of flags, extensions, kinds of plugin. Nothing is taken away, moved, or
 *                 given another meaning. So a reader ignores bits and skips values that it does not know in what describes
 *                 something, and refuses them with INVALID_ARGUMENT, or UNIMPLEMENTED where that is said, in what asks for
 *                 something. Fields that are named reserved are 0.
 *  R3  Status.    Every fallible function returns a tsr_status. On failure the out_ arguments are left untouched unless
 *                 stated, and the plugin describes the failure through host->error before it returns. "Fails:" lists the
 *                 answers that a caller may count on. Besides, every function may answer INVALID_ARGUMENT (a NULL or stale
 *                 handle, a NULL out_ argument), DEVICE_LOST (rule R10), RESOURCE_EXHAUSTED (host memory, threads),
 *                 UNKNOWN (the vendor's library failed) and INTERNAL.
 *  R4  Manners.   A plugin never prints, aborts, exits, throws across the boundary, or installs signal handlers.
 *  R5  Threads.   Unless a function says otherwise: calls on different handles may run at once; one stream is used by
 *                 one thread at a time; memory, link, query and enumerate calls are thread-safe.
 *  R6  Strings.   UTF-8, NUL-terminated. Strings handed out by a plugin live until shutdown unless stated.
 *  R7  Units.     Bytes, nanoseconds, bytes per second, operations per second. Never "MB", never milliseconds.
 *  R8  Ownership. Whoever creates a handle destroys it with the matching call; arrays handed in stay the caller's and
 *                 may be reused as soon as the call returns.
 *  R9  Order.     Work enqueued on one stream runs in the order of the calls. Between streams only tickets order.
 *  R10 Loss.      A device answers DEVICE_LOST only when nothing that was enqueued on it touches any memory any more, its
 *                 own or the host's: the host uses that memory again at once. From then on every call on it answers the
 *                 same; calls that give something back still do, and stream callbacks that are due are still called.
 */
#ifndef TESSERA_PLUGIN_H_
#define TESSERA_PLUGIN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TSR_ABI_MAJOR 1u
#define TSR_ABI_MINOR 1u

#if defined(_WIN32)
#define TSR_EXPORT __declspec(dllexport)
#else
#define TSR_EXPORT __attribute__((visibility("default")))
#endif

/* True when the struct at `ptr`, of type `type`, was built by a side that knows `field`. A language that takes no macro with a
 * type says it in its own words: struct_size is at least the field's offset and size together, which
 * `tessera plugins layouts` prints. */
#define TSR_HAS(type, ptr, field) \
  ((ptr) != NULL && (size_t)(ptr)->struct_size >= offsetof(type, field) + sizeof(((type*)0)->field))

/* ------------------------------------------------------------------------------------------------ status ---------- */

/* 0 is success. 1..16 are the canonical codes known from Abseil and gRPC; Tessera's own begin at 64. */
typedef int32_t tsr_status;
enum {
  TSR_OK = 0,
  TSR_CANCELLED = 1,           /* the work was given up on request, or because what it depended on failed */
  TSR_UNKNOWN = 2,             /* an error of the vendor's library that has no better name */
  TSR_INVALID_ARGUMENT = 3,    /* the caller's arguments can never be right (a NULL handle, a negative extent) */
  TSR_DEADLINE_EXCEEDED = 4,   /* a wait reached its time limit; nothing is lost, wait again */
  TSR_NOT_FOUND = 5,           /* a named thing (module, kernel, file) does not exist */
  TSR_ALREADY_EXISTS = 6,      /* a thing to be created exists (host memory registered twice) */
  TSR_PERMISSION_DENIED = 7,   /* the operating system or the driver refused */
  TSR_RESOURCE_EXHAUSTED = 8,  /* out of memory, streams, disk; the device stays usable */
  TSR_FAILED_PRECONDITION = 9, /* right arguments at the wrong time (capture end without begin) */
  TSR_ABORTED = 10,            /* concurrent work got in the way; trying again may succeed */
  TSR_OUT_OF_RANGE = 11,       /* an index, offset or extent lies outside its object */
  TSR_UNIMPLEMENTED = 12,      /* this plugin cannot do that; the core takes another way */
  TSR_INTERNAL = 13,           /* a bug of the plugin or its library */
  TSR_UNAVAILABLE = 14,        /* not now (driver missing or busy); a later attempt may succeed */
  TSR_DATA_LOSS = 15,          /* stored bytes are not those that were written (checksum) */
  TSR_UNAUTHENTICATED = 16,    /* credentials are missing (remote storage) */
  TSR_DEVICE_LOST = 64,        /* the device is gone and touches no memory; sticky (rule R10) */
  TSR_NOT_READY = 65,          /* a poll found the work unfinished; not a failure */
  TSR_WORKING_SET_TOO_LARGE = 66 /* one task's blocks can never fit into the space */
};

/* ------------------------------------------------------------------------------------------- handles, values ------ */

/* Opaque to the host; the plugin defines what they are. */
typedef struct tsr_plugin_s tsr_plugin;  /* one opened plugin */
typedef struct tsr_device_s tsr_device;  /* one opened device */
typedef struct tsr_memory_s tsr_memory;  /* one allocation (a slab) */
typedef struct tsr_stream_s tsr_stream;  /* one in-order queue */
typedef struct tsr_module_s tsr_module;  /* one loaded code image */
typedef struct tsr_kernel_s tsr_kernel;  /* one entry point in a module */
typedef struct tsr_graph_s tsr_graph;    /* one instantiated graph */
typedef struct tsr_sparse_s tsr_sparse;  /* one sparse matrix in the plugin's own form */

/* A point on a stream's timeline. Reached when the stream's completed value is at least `value`. The zero ticket
 * {NULL, 0} is always reached. Sixteen bytes of plain data: copied, stored and compared freely. */
typedef struct tsr_ticket {
  tsr_stream* stream;
  uint64_t value;
} tsr_ticket;

/* A place in memory. `memory` == NULL: `offset` is a plain host pointer (host memory of any origin), which every device
 * must accept as one side of a copy. Else `offset` is counted in bytes from the start of that allocation. Only where
 * the space has TSR_SPACE_ADDRESSABLE may kernels and callers compute base + offset. */
typedef struct tsr_address {
  tsr_memory* memory;
  uint64_t offset;
} tsr_address;

/* Element types. Complex numbers are pairs (real, imaginary). */
typedef uint32_t tsr_type;
enum {
  TSR_TYPE_NONE = 0, /* bytes without a meaning */
  TSR_F32 = 1,
  TSR_F64 = 2,
  TSR_C64 = 3,  /* two float32 */
  TSR_C128 = 4, /* two float64 */
  TSR_I32 = 5,
  TSR_I64 = 6,
  TSR_U8 = 7,
  TSR_F16 = 8,
  TSR_BF16 = 9
};

/* -------------------------------------------------------------------------------------------------- options ------- */

typedef uint32_t tsr_option_type;
enum {
  TSR_OPTION_BOOL = 1,
  TSR_OPTION_INT = 2,       /* int64_t */
  TSR_OPTION_FLOAT = 3,     /* double */
  TSR_OPTION_STRING = 4,
  TSR_OPTION_BYTES = 5,     /* int64_t; the user may write "16 GiB" */
  TSR_OPTION_RATE = 6,      /* double, bytes or operations per second; the user may write "12 GiB/s", "2 TFLOP/s" */
  TSR_OPTION_DURATION = 7   /* int64_t nanoseconds; the user may write "5 us" */
};

/* One option that a plugin understands. `name` is a dotted path below [plugin.<plugin name>]; a component that ends in
 * "[]" is an array of tables: "device[].memory" is the key `memory` in each [[plugin.sim.device]]. */
typedef struct tsr_option {
  uint32_t struct_size;
  tsr_option_type type;
  const char* name;          /* letters, digits, '_', '.', and "[]" behind a table's name */
  const char* default_text;  /* as the user would write it; NULL: the option has no default and may be absent */
  double min_value, max_value; /* inclusive, for numbers; both 0: no limit */
  const char* choices;       /* for strings: "real|virtual"; NULL: anything */
  const char* doc;           /* one sentence */
} tsr_option;

/* One value given to open. `name` has concrete indices: "device[1].memory". Defaults of options outside arrays are
 * filled in by the host; defaults inside arrays of tables are filled in for each table that exists. */
typedef struct tsr_option_value {
  uint32_t struct_size;
  tsr_option_type type;
  const char* name;
  int64_t integer;    /* BOOL (0/1), INT, BYTES, DURATION; else 0 */
  double number;      /* FLOAT, RATE; else 0 */
  const char* text;   /* STRING; else NULL or "". It lives until open returns, as does `name` */
} tsr_option_value;

/* ----------------------------------------------------------------------------------------------------- host ------- */

/* What the host offers to a plugin. Valid from open to shutdown. All functions are thread-safe. */
typedef struct tsr_host {
  uint32_t struct_size;
  uint32_t abi_major, abi_minor;
  void* context; /* the host's own; pass it back */
  /* Records the details of a failure on the calling thread, to be read by the host when the plugin's function returns.
   * The text is copied. Calling it again replaces the record. */
  void (*error)(void* context, tsr_status status, const char* message);
  /* Writes a line to the host's log. level: 0 debug, 1 info, 2 warning. Optional. */
  void (*log)(void* context, int32_t level, const char* message);
  /* The CPUs that this process may use, as bits of `cpu_words` 64-bit words, the least bit first. A plugin binds its threads
   * inside them. NULL and 0: any. */
  const uint64_t* cpu_mask;
  uint32_t cpu_words;
} tsr_host;

/* --------------------------------------------------------------------------------------------- descriptions ------- */

typedef uint32_t tsr_space_kind;
enum {
  TSR_SPACE_HOST = 1,    /* ordinary host memory */
  TSR_SPACE_PINNED = 2,  /* page-locked host memory, fast for this device's copies */
  TSR_SPACE_DEVICE = 3,  /* the device's own memory */
  TSR_SPACE_MANAGED = 4, /* one address for host and device, moved by the driver */
  TSR_SPACE_STORAGE = 5  /* a disk */
};

enum { /* capabilities of a space, as bits */
  TSR_SPACE_ADDRESSABLE = 1u << 0,   /* base + offset may be computed; see mem_base */
  TSR_SPACE_HOST_VISIBLE = 1u << 1,  /* the host may read and write through mem_base */
  TSR_SPACE_PEER_COPY = 1u << 2      /* copies from other devices of this plugin are direct */
};

typedef struct tsr_space_desc {
  uint32_t struct_size;
  tsr_space_kind kind;
  uint32_t capabilities;  /* TSR_SPACE_... bits */
  int32_t numa_node;      /* where the memory is, as the operating system counts; -1: no such place */
  uint64_t bytes;         /* capacity; 0: unknown */
  uint64_t granularity;   /* allocations are rounded up to this */
  uint64_t alignment;     /* of every allocation's first byte; a power of two. The host puts whole blocks and workspaces at multiples of it,
                           * and of 256; where the space is HOST_VISIBLE host memory, of 256 alone */
  const char* name;
} tsr_space_desc;

typedef uint32_t tsr_device_class;
enum { TSR_DEVICE_CPU = 1, TSR_DEVICE_GPU = 2, TSR_DEVICE_ACCELERATOR = 3, TSR_DEVICE_STORAGE = 4 };

enum { /* capabilities of a device, as bits; a claim that the conformance suite holds the plugin to */
  TSR_DEVICE_HAS_FP64 = 1u << 0,      /* the tables compute with F64 and C128 where they do with F32 and C64 */
  TSR_DEVICE_INLINE = 1u << 1,        /* streams made with TSR_STREAM_INLINE run work inside the enqueueing call */
  TSR_DEVICE_CALLBACK = 1u << 2,      /* stream_callback works */
  TSR_DEVICE_DEVICE_WAIT = 1u << 3,   /* stream_wait works between all streams of this plugin, without the host */
  TSR_DEVICE_OWN_THREADS = 1u << 4,   /* the plugin starts threads (bound inside host->cpu_mask) */
  TSR_DEVICE_VIRTUAL_CLOCK = 1u << 5  /* query's clock is simulated time */
};

typedef struct tsr_device_desc {
  uint32_t struct_size;
  tsr_device_class device_class;
  uint32_t capabilities;    /* TSR_DEVICE_... bits */
  int32_t numa_node;        /* of the host's memory that is nearest; -1: unknown */
  uint32_t space_count;     /* at least 1 */
  uint32_t compute_units;   /* multiprocessors, cores; 0: unknown */
  uint32_t copy_engines;    /* copies that can run beside each other and beside computation */
  uint32_t max_streams;     /* that live at a time; 0: no limit worth naming. The host uses four, or as few as one */
  double peak_f32, peak_f64; /* operations per second; 0: unknown */
  bool peaks_are_guesses;    /* not what the vendor states or what was measured */
  uint8_t uuid[16];          /* the same in every process that sees the device; all 0: unknown */
  char name[64];             /* NUL-terminated, as is what follows */
  char pci_address[24];     /* "0000:3b:00.0", or "" */
  /* Since 1.1: limits, stated so that nobody has to find them by failing. 0: none worth naming. */
  uint64_t max_allocation;    /* bytes of one mem_alloc: the host asks for slabs of at most that, so it is the largest block */
  uint64_t max_copy;          /* bytes of one copy, over all its rows: the host makes several of a larger one */
} tsr_device_desc;

typedef uint32_t tsr_link_class;
enum {
  TSR_LINK_SAME = 1,    /* within one memory */
  TSR_LINK_PEER = 2,    /* between devices, past the host */
  TSR_LINK_BUS = 3,     /* between a device and the host */
  TSR_LINK_NETWORK = 4, /* between machines */
  TSR_LINK_STORAGE = 5  /* from or to a disk */
};

typedef struct tsr_link_desc {
  uint32_t struct_size;
  tsr_link_class link_class;
  double bandwidth;      /* bytes per second */
  double latency;        /* nanoseconds of one small copy */
} tsr_link_desc;

/* One end of a link or copy: a space of a device of this plugin, or, with device == NULL, plain host memory. */
typedef struct tsr_space_ref {
  tsr_device* device;
  uint32_t space;
} tsr_space_ref;

/* A copy of up to three dimensions: `bytes` contiguous bytes per row, rows[0] rows, rows[1] planes of rows. Strides are
 * in bytes and at least as large as what they step over. 1D: rows = {1, 1}. A count of 0 rows or planes means 1; 0 or 1
 * need no stride. 0 bytes: nothing is copied. */
typedef struct tsr_copy {
  uint32_t struct_size;
  tsr_space_ref destination_space, source_space;
  tsr_address destination, source;
  uint64_t bytes;
  uint64_t rows[2];
  uint64_t destination_stride[2], source_stride[2];
} tsr_copy;

/* ---------------------------------------------------------------------------------------------- device table ------ */

enum { /* flags of a stream */
  TSR_STREAM_COMPUTE = 0,
  TSR_STREAM_COPY = 1u << 0,  /* mostly for copies: the plugin may give it a copy engine of its own; all work is allowed */
  TSR_STREAM_INLINE = 1u << 1 /* work runs inside the call that enqueues it; where TSR_DEVICE_INLINE is claimed */
};

typedef uint32_t tsr_query_key;
enum {
  TSR_QUERY_FREE_BYTES = 1,   /* of the space given in `index` */
  TSR_QUERY_CLOCK_NS = 2,     /* the device's clock, nanoseconds since it was opened */
  TSR_QUERY_MILLIWATTS = 3,
  TSR_QUERY_LIVE_ALLOCATIONS = 4, /* allocations not yet freed, over all spaces */
  TSR_QUERY_BUSY_NS = 5       /* nanoseconds in which some stream computed, since open */
};

/* Launch geometry for kernels from modules. An argument of sizeof(tsr_address) bytes is a tsr_address, which the plugin
 * resolves to what the kernel takes for a pointer; a value has 1, 2, 4 or 8 bytes. So a 16-byte number is passed as two
 * values, or through memory. */
typedef struct tsr_launch {
  uint32_t struct_size;
  uint32_t grid[3], group[3];   /* groups of the grid, threads of a group; each at least 1 */
  uint32_t shared_bytes;        /* of memory of a group, besides what the kernel declares itself */
  const void* const* arguments; /* addresses of the argument values, in the order of the kernel's parameters */
  const uint32_t* argument_sizes;
  uint32_t argument_count;
} tsr_launch;

/* Since 1.1. Host code in a stream's order: function(argument, bases), bases[i] being a host pointer to range i. The plugin calls the
 * function once, on a thread of its choice, when the work before it on the stream has finished and before the work behind it begins; not
 * at all when the device is lost first. Mappings end when the function has returned. It calls no function of the plugin. */
typedef struct tsr_host_work {
  uint32_t struct_size;
  uint32_t range_count;
  /* Its status becomes the stream's failure when it is not OK. DEVICE_LOST is a plugin's to choose: it takes the device for lost
   * (rule R10), or this for a failure as any other. */
  tsr_status (*function)(void* argument, void* const* bases);
  void* argument;
  const tsr_address* ranges;
  const uint64_t* range_bytes;
  double modelled_flops; /* how long it takes on a simulated device */
} tsr_host_work;

/* Every stream function: one thread at a time per stream. Enqueueing functions return once the work is queued; structs and
 * arrays that describe it are read before they return, and memory that it works on stays valid until it has finished. Work
 * that fails later fails on the timeline (stream_progress). */
typedef struct tsr_device_table {
  uint32_t struct_size;

  /* --- mandatory --- */

  /* Describes space `index` (0 .. space_count-1). Thread-safe, cheap. Fails: OUT_OF_RANGE. */
  tsr_status (*spaces)(tsr_device* device, uint32_t index, tsr_space_desc* out_desc);

  /* Bandwidth, latency and class of a direct copy between two spaces. UNIMPLEMENTED: this device cannot copy that pair
   * and the core goes through host memory. Thread-safe, cheap. Fails: INVALID_ARGUMENT (a device of another plugin),
   * OUT_OF_RANGE (a space). */
  tsr_status (*link)(tsr_device* device, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out_link);

  /* Allocates `bytes` (> 0) in a space. May be slow; the core carves large slabs. The caller frees with mem_free.
   * Contents are undefined. Thread-safe; it waits for no enqueued work. Fails: RESOURCE_EXHAUSTED (nothing allocated, device
   * usable), INVALID_ARGUMENT (0 bytes), OUT_OF_RANGE (space). */
  tsr_status (*mem_alloc)(tsr_device* device, uint32_t space, uint64_t bytes, tsr_memory** out_memory);

  /* Frees an allocation; the caller has made sure that no enqueued work uses it. Thread-safe. It may be called on a lost device too,
   * where the memory is gone whether the answer is OK or DEVICE_LOST. Fails: INVALID_ARGUMENT (no live memory of this device). */
  tsr_status (*mem_free)(tsr_device* device, tsr_memory* memory);

  /* Creates an in-order queue; the caller ends it with stream_destroy. flags: TSR_STREAM_... Thread-safe. Fails:
   * RESOURCE_EXHAUSTED, UNIMPLEMENTED (INLINE not offered), INVALID_ARGUMENT (unknown flags). */
  tsr_status (*stream_create)(tsr_device* device, uint32_t flags, tsr_stream** out_stream);

  /* Waits for the stream's work, then destroys it. Tickets of the stream are reached from then on and must not be
   * passed to this plugin again. Blocks. Also on a lost device, where it answers DEVICE_LOST and the stream is gone. */
  tsr_status (*stream_destroy)(tsr_device* device, tsr_stream* stream);

  /* Appends a point to the timeline: out_ticket is reached when all work enqueued before has finished. Values of one
   * stream increase strictly. One producer per stream. */
  tsr_status (*stream_signal)(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket);

  /* Reports the highest reached value; never blocks; callable from any thread beside the producer. If work on the
   * stream failed, returns that failure, sets *out_value to the highest value reached including the failed point, and
   * out_failed to the value of the first signal after the failed work (0 if none). The failure is reported once per
   * failed point, except DEVICE_LOST, which is sticky: all signalled values count as reached, and out_failed is the first of them that had
   * not been reached when the device was lost (0: all had); it and all behind it failed. Of several failures that are pending a call
   * reports one, the oldest, and *out_value stays below the point of the next, so that no value is told before its failure; so a caller
   * asks until OK. */
  tsr_status (*stream_progress)(tsr_device* device, tsr_stream* stream, uint64_t* out_value, uint64_t* out_failed);

  /* Enqueues a copy. At least one side belongs to `device`. UNIMPLEMENTED: a pair that `link` refuses. The sides do not
   * overlap. Fails: OUT_OF_RANGE (beyond an allocation, more than 64 bits of bytes or max_copy), INVALID_ARGUMENT (a NULL host pointer,
   * memory that is not in the space that is named, a stride that is less than what it steps over). */
  tsr_status (*copy)(tsr_device* device, tsr_stream* stream, const tsr_copy* copy);

  /* --- optional (NULL where not offered) ---
   * Each says what the host does without it. A program's results are the same; what it costs is said. */

  /* A number that changes. `index` is that of a space for FREE_BYTES, else 0. Thread-safe, cheap. Fails: UNIMPLEMENTED (a key
   * that this device does not know), OUT_OF_RANGE (a space). Without: nothing is shown. */
  tsr_status (*query)(tsr_device* device, tsr_query_key key, uint32_t index, uint64_t* out_value);
  /* OK, or DEVICE_LOST. Thread-safe, cheap. Without: a loss is noticed when a call answers it, and the device may be attached again
   * without being asked. */
  tsr_status (*health)(tsr_device* device);
  /* Before a thread's first use of the opened device, and after its last, on that thread: once each, whatever streams or memories
   * it uses. A thread that still is attached at device_close is detached by it: no thread_detach follows. The host attaches all its
   * threads and those of the program that submit or wait. Fails: RESOURCE_EXHAUSTED. Without: nothing is called. */
  tsr_status (*thread_attach)(tsr_device* device);
  tsr_status (*thread_detach)(tsr_device* device);
  /* Page-locks host memory so that copies from and to it are fast; the range stays the caller's.
   * Blocks; thread-safe. Fails: ALREADY_EXISTS (overlaps a registered range), RESOURCE_EXHAUSTED, INVALID_ARGUMENT (0 bytes).
   * Without both, or where it fails: copies from and to ordinary memory, as slow as those are. */
  tsr_status (*host_register)(tsr_device* device, void* pointer, uint64_t bytes);
  /* `pointer` is the first byte of a registered range; no enqueued work uses it. Thread-safe. Also on a lost device. Fails:
   * INVALID_ARGUMENT (no such range). */
  tsr_status (*host_unregister)(tsr_device* device, void* pointer);
  /* The address of an allocation's first byte, as kernels see it (ADDRESSABLE), which is a host pointer where the space
   * is HOST_VISIBLE. The same as long as the allocation lives. Thread-safe. UNIMPLEMENTED elsewhere. Without: a space that claims
   * HOST_VISIBLE is refused; kernels on a vendor's own queue get mem_native's handle and an offset. */
  tsr_status (*mem_base)(tsr_device* device, tsr_memory* memory, void** out_base);
  /* Makes a range of a space that is not HOST_VISIBLE visible to the host until mem_unmap. No enqueued work uses the range
   * meanwhile. Blocks; thread-safe. Fails: OUT_OF_RANGE (beyond the allocation), RESOURCE_EXHAUSTED. Without both: copies. */
  tsr_status (*mem_map)(tsr_device* device, tsr_memory* memory, uint64_t offset, uint64_t bytes, void** out_pointer);
  /* What the host wrote is in the memory when it returns. Fails: INVALID_ARGUMENT (nothing is mapped there). */
  tsr_status (*mem_unmap)(tsr_device* device, tsr_memory* memory, void* pointer);
  /* Work enqueued on `stream` afterwards starts only when `ticket` is reached. The ticket may be of any stream of this
   * plugin. A ticket that failed lets the wait pass; failure travels with the data, not with the wait. The zero ticket is
   * reached. Fails: INVALID_ARGUMENT (a stream that is none of this plugin). Without it, or TSR_DEVICE_DEVICE_WAIT: a task is enqueued when
   * what it waits for on other streams is reached, so nothing queues up behind copies. */
  tsr_status (*stream_wait)(tsr_device* device, tsr_stream* stream, tsr_ticket ticket);
  /* Blocks the calling thread until the ticket of one of this device's streams is reached or `timeout_ns` passed
   * (DEADLINE_EXCEEDED; 0 only looks). Callable from any thread. A ticket that failed is reached: stream_progress tells. Without:
   * the host asks stream_progress. */
  tsr_status (*stream_host_wait)(tsr_device* device, tsr_ticket ticket, uint64_t timeout_ns);
  /* Calls function(argument) once all work enqueued before has finished, on a thread of the plugin's choice. The
   * function is short and calls no plugin function. Also called when that work failed. Called once; in the order of a stream's
   * calls. Without it, or TSR_DEVICE_CALLBACK: a thread of the host for each stream waits in stream_host_wait; without that too the
   * host asks stream_progress, first after 10 microseconds, then ever less often down to every 200. */
  tsr_status (*stream_callback)(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument);
  /* The vendor's own queue handle (cudaStream_t, cl_command_queue). It stays the plugin's. Thread-safe. Without: a user's kernels
   * that enqueue on such a queue do not run here. */
  tsr_status (*stream_native)(tsr_device* device, tsr_stream* stream, void** out_native);
  /* Fills `count` elements of `pattern_bytes` (1, 2, 4, 8, 16) with the pattern, which is read before the call returns. Fails:
   * INVALID_ARGUMENT (another size, pattern NULL), OUT_OF_RANGE (beyond the allocation). Without it and TENSOR's fill: blocks are filled on
   * the host and copied. */
  tsr_status (*fill)(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                     uint32_t pattern_bytes, uint64_t count);
  /* Loads an image: one that the JIT table's compile gave, or one in the vendor's own form (PTX or a binary for a GPU,
   * a binary or SPIR-V for OpenCL, a shared object for the host). The image is copied. Blocks; not while work is
   * recorded. Thread-safe. Fails: INVALID_ARGUMENT (no image, damaged, of another kind of device), RESOURCE_EXHAUSTED.
   * An image is code: the caller vouches for it. Without module_load, kernel_get or launch: users' kernels do not run here. */
  tsr_status (*module_load)(tsr_device* device, const void* image, uint64_t bytes, tsr_module** out_module);
  /* The caller has made sure that no enqueued work uses it. Its kernels are gone with it. device_close unloads what is
   * left. */
  tsr_status (*module_unload)(tsr_device* device, tsr_module* module);
  /* A kernel by its name in the text. It belongs to the module. Thread-safe. Fails: NOT_FOUND (names the kernel). */
  tsr_status (*kernel_get)(tsr_device* device, tsr_module* module, const char* name, tsr_kernel** out_kernel);
  /* Enqueues a kernel. Geometry and values are copied by the call. Fails: INVALID_ARGUMENT (an extent of 0, a group that
   * is too large, an address of other memory; where the plugin knows the parameters also their number and sizes),
   * OUT_OF_RANGE (an offset beyond its allocation), UNIMPLEMENTED (shared_bytes where there is no such memory). What the
   * kernel itself does wrong is the stream's failure, or the loss of the device. */
  tsr_status (*launch)(tsr_device* device, tsr_stream* stream, tsr_kernel* kernel, const tsr_launch* launch);

  /* Runs function(argument, bases) in the stream's order with the given ranges mapped into host memory: bases[i] is a
   * host pointer to ranges[i]. For devices whose kernels are host code (sim, emulators). The function returns a status,
   * which becomes the stream's failure when it is not OK (DEVICE_LOST: as host_work says). `modelled_flops` tells a simulated device how long this
   * takes. Optional. The arrays are copied by the call. The lengths are not said: host_work says them. */
  tsr_status (*host_task)(tsr_device* device, tsr_stream* stream,
                          tsr_status (*function)(void* argument, void* const* bases), void* argument,
                          const tsr_address* ranges, uint32_t range_count, double modelled_flops);
  /* The vendor's own handle of an allocation (cl_mem), for those who use stream_native. It stays the plugin's. Thread-safe.
   * Optional: devices with ADDRESSABLE memory have mem_base for that. Fails: INVALID_ARGUMENT (no live memory). */
  tsr_status (*mem_native)(tsr_device* device, tsr_memory* memory, void** out_native);

  /* --- since 1.1, optional --- */

  /* As host_task, with lengths: ranges[i] is mapped for range_bytes[i] bytes. For programs and tests that take the device themselves;
   * Tessera's core calls neither, its host code runs on threads of its own. The struct and its arrays are copied by the call. Fails:
   * INVALID_ARGUMENT (function NULL; an array NULL with ranges), OUT_OF_RANGE (a range beyond its allocation). Without: host_task. */
  tsr_status (*host_work)(tsr_device* device, tsr_stream* stream, const tsr_host_work* work);
} tsr_device_table;

/* ---------------------------------------------------------------------------------------------- extensions -------- */

typedef uint32_t tsr_extension_id;
enum {
  TSR_EXTENSION_BLAS = 1,
  TSR_EXTENSION_TENSOR = 2,
  TSR_EXTENSION_SPARSE = 3,
  TSR_EXTENSION_GRAPH = 4,
  TSR_EXTENSION_JIT = 5,
  TSR_EXTENSION_IPC = 6,
  TSR_EXTENSION_TELEMETRY = 7
};

/* Every table has a version, 1 for what stands here; tables grow as structs do, and a higher version says that an entry does
 * more than is said here. All extension functions that take a stream enqueue and never synchronise. Matrices are
 * column-major unless stated. Scalars (alpha, beta) are host pointers to one element of the operation's type, read before the
 * call returns; with alpha == 0 the operands that it multiplies may be read or not. Operands lie in memory of the device itself; on
 * devices whose memory is the host's also in plain host memory. They begin at any multiple of their elements' size: whole blocks where
 * tsr_space_desc says, parts of blocks anywhere. A workspace is optional unless an entry says that it needs the bytes that it asked for.
 * They fail, unless they say more: INVALID_ARGUMENT (a negative extent, a leading dimension that is too small, a scalar that
 * is NULL, memory that is not the device's), OUT_OF_RANGE (beyond an allocation; more bytes or rows than the library counts),
 * UNIMPLEMENTED (the type, the operation). */

typedef uint32_t tsr_transpose;
enum { TSR_NO_TRANSPOSE = 0, TSR_TRANSPOSE = 1, TSR_CONJUGATE_TRANSPOSE = 2 };
typedef uint32_t tsr_triangle;
enum { TSR_LOWER = 0, TSR_UPPER = 1 };
typedef uint32_t tsr_side;
enum { TSR_LEFT = 0, TSR_RIGHT = 1 };

typedef uint32_t tsr_blas_operation;
enum {
  TSR_BLAS_GEMM = 1,
  TSR_BLAS_GEMM_STRIDED = 2,
  TSR_BLAS_GEMM_BATCHED = 3,
  TSR_BLAS_AXPY = 4,
  TSR_BLAS_SCAL = 5,
  TSR_BLAS_DOT = 6,
  TSR_BLAS_NRM2 = 7,
  TSR_BLAS_SYRK = 8,
  TSR_BLAS_TRSM = 9,
  TSR_BLAS_POTRF = 10
};

/* Scratch memory in a space of the device, aligned to 256 bytes at least, valid until the enqueued work has finished; {0}: none. Who takes one says how many bytes are wanted (`workspace` of the BLAS, TENSOR and SPARSE tables). */
typedef struct tsr_workspace {
  tsr_address address;
  uint64_t bytes;
} tsr_workspace;

/* C(m x n) = alpha op(A)(m x k) op(B)(k x n) + beta C. With beta == 0, C is not read. C overlaps neither A nor B, nor another
 * matrix C of a batch. Leading dimensions in elements. Types F32, F64, C64, C128, for all of BLAS. */
typedef struct tsr_gemm {
  uint32_t struct_size;
  tsr_type type;
  tsr_transpose transpose_a, transpose_b;
  int64_t m, n, k;
  const void *alpha, *beta;
  tsr_address a, b, c;
  int64_t lda, ldb, ldc;
  /* strided batches: byte strides between consecutive matrices, not negative; pointer batches: arrays of addresses */
  int64_t batch;
  int64_t stride_a, stride_b, stride_c;
  const tsr_address *a_array, *b_array, *c_array;
  tsr_workspace workspace;
} tsr_gemm;

/* C(n x n) = alpha op(A) op(A)^T + beta C, one triangle, the other one is not touched; op(A) is n x k. With beta == 0, C is not
 * read. The transpose is plain for complex numbers too; TSR_CONJUGATE_TRANSPOSE of them is UNIMPLEMENTED. */
typedef struct tsr_syrk {
  uint32_t struct_size;
  tsr_type type;
  tsr_triangle triangle;
  tsr_transpose transpose;
  int64_t n, k;
  const void *alpha, *beta;
  tsr_address a, c;
  int64_t lda, ldc;
  tsr_workspace workspace;
} tsr_syrk;

/* B(m x n) = alpha op(A)^-1 B (LEFT) or alpha B op(A)^-1 (RIGHT), A triangular: its other triangle is not read, nor its diagonal
 * with unit_diagonal. A diagonal with a 0 gives infinities or no numbers, and is no failure. */
typedef struct tsr_trsm {
  uint32_t struct_size;
  tsr_type type;
  tsr_side side;
  tsr_triangle triangle;
  tsr_transpose transpose;
  bool unit_diagonal;
  int64_t m, n;
  const void* alpha;
  tsr_address a, b;
  int64_t lda, ldb;
  tsr_workspace workspace;
} tsr_trsm;

/* Cholesky factor of one triangle of A(n x n), in place. *info (int32 at a device address) becomes 0, or the 1-based
 * index of the first pivot that is not positive; then the contents of A are undefined. Not a stream failure. */
typedef struct tsr_potrf {
  uint32_t struct_size;
  tsr_type type;
  tsr_triangle triangle;
  int64_t n;
  tsr_address a;
  int64_t lda;
  tsr_address info;
  tsr_workspace workspace;
} tsr_potrf;

/* Vectors of n elements with strides in elements; with a negative one the address is that of the last element, as in BLAS. axpy:
 * y += alpha x. scal: x *= alpha. dot (conjugated x for complex)
 * and nrm2 write one element at `result`, a device address. */
typedef struct tsr_vector_operation {
  uint32_t struct_size;
  tsr_type type;
  int64_t n;
  const void* alpha;
  tsr_address x, y, result;
  int64_t incx, incy;
  tsr_workspace workspace;
} tsr_vector_operation;

typedef struct tsr_blas_table {
  uint32_t struct_size;
  uint32_t version;
  const char* library; /* "OpenBLAS 0.3.21 (Zen)": name, version and kernel set */
  /* Whether an operation exists for a type. Thread-safe, cheap. */
  bool (*supports)(tsr_device* device, tsr_blas_operation operation, tsr_type type);
  /* Bytes of workspace that the call described by `arguments` (the struct that it takes; scalars, addresses and workspace are not
   * looked at) wants; 0 for none. For POTRF as for all. A call with less is done as well, perhaps slower. Thread-safe, cheap.
   * Optional: none is wanted. */
  tsr_status (*workspace)(tsr_device* device, tsr_blas_operation operation, const void* arguments, uint64_t* out_bytes);
  /* All that follow are optional; supports speaks for them. gemm: one product; batch and what comes behind it is not looked at.
   * gemm_strided: `batch` products, by the strides. gemm_batched: by the arrays of addresses, which are read before it returns. */
  tsr_status (*gemm)(tsr_device* device, tsr_stream* stream, const tsr_gemm* arguments);
  tsr_status (*gemm_strided)(tsr_device* device, tsr_stream* stream, const tsr_gemm* arguments);
  tsr_status (*gemm_batched)(tsr_device* device, tsr_stream* stream, const tsr_gemm* arguments);
  tsr_status (*axpy)(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* arguments);
  tsr_status (*scal)(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* arguments);
  tsr_status (*dot)(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* arguments);
  tsr_status (*nrm2)(tsr_device* device, tsr_stream* stream, const tsr_vector_operation* arguments);
  tsr_status (*syrk)(tsr_device* device, tsr_stream* stream, const tsr_syrk* arguments);
  tsr_status (*trsm)(tsr_device* device, tsr_stream* stream, const tsr_trsm* arguments);
  tsr_status (*potrf)(tsr_device* device, tsr_stream* stream, const tsr_potrf* arguments);
} tsr_blas_table;

#define TSR_MAX_RANK 8

/* destination[i_perm] = alpha * source[i] + beta * destination[i_perm]. Dense, first index fastest. Dimension d of the
 * destination is dimension permutation[d] of the source. extents are the source's. rank 0 is one element. With
 * beta == 0 (or NULL) the destination is not read. */
typedef struct tsr_permute {
  uint32_t struct_size;
  tsr_type type;
  uint32_t rank;
  int64_t extents[TSR_MAX_RANK];
  uint32_t permutation[TSR_MAX_RANK];
  const void *alpha, *beta;
  tsr_address source, destination;
  tsr_workspace workspace;
} tsr_permute;

/* C(modes_c) = alpha A(modes_a) B(modes_b) + beta C(modes_c). Dense, first index fastest. Modes are labels, any numbers: one in
 * A and B and not in C is summed; one in all three is a batch ("Hadamard") label; one in C and one of A and B is a free index.
 * Equal labels have equal extents; C's extents follow from those of A and B. An extent may be 0: an empty sum is 0. */
typedef struct tsr_contract {
  uint32_t struct_size;
  tsr_type type;
  uint32_t rank_a, rank_b, rank_c; /* 0: one element */
  int64_t extents_a[TSR_MAX_RANK], extents_b[TSR_MAX_RANK];
  int32_t modes_a[TSR_MAX_RANK], modes_b[TSR_MAX_RANK], modes_c[TSR_MAX_RANK];
  const void *alpha, *beta; /* beta NULL: 0 */
  int64_t batch;            /* so many contractions of this shape; the arrays have as many addresses */
  const tsr_address *a_array, *b_array, *c_array;
  tsr_workspace workspace;
} tsr_contract;

typedef uint32_t tsr_tensor_operation;
enum {
  TSR_TENSOR_PERMUTE = 1,
  TSR_TENSOR_REDUCE_ADD = 2,
  TSR_TENSOR_FILL = 3,
  TSR_TENSOR_CONTRACT = 4,
  TSR_TENSOR_REDUCE = 5
};

typedef uint32_t tsr_reduction;
enum {
  TSR_REDUCTION_SUM = 1,
  TSR_REDUCTION_MIN = 2,            /* of real types and integers; of nothing: infinity, or the largest integer */
  TSR_REDUCTION_MAX = 3,            /* likewise; of nothing: minus infinity, or the least integer */
  TSR_REDUCTION_SUM_OF_SQUARES = 4, /* of magnitudes; of nothing, like the sum: 0 */
  TSR_REDUCTION_MAX_MAGNITUDE = 5   /* of nothing: 0 */
};
typedef uint32_t tsr_reduction_direction;
enum {
  TSR_REDUCTION_PER_ROW = 0,   /* m results, each of the n elements of a row */
  TSR_REDUCTION_PER_COLUMN = 1 /* n results, each of the m elements of a column */
};

/* destination[i] = the reduction of row or column i of the column-major matrix `source` (m x n, leading dimension ld in
 * elements, at least m and 1). Results are elements of `type`, one behind the other; magnitudes and squares of complex
 * numbers are real, so their imaginary parts are 0. Integers wrap around; the least one, whose magnitude its type does not
 * have, stays what it is and has the largest magnitude of all. An operand that is no number makes its result no number. Sums
 * of F32 and C64 are kept in at least that precision; squares are not scaled, so they overflow where the exact result would.
 * The order of summation depends on the arguments alone: the same call gives the same bits. */
typedef struct tsr_reduce {
  uint32_t struct_size;
  tsr_type type;
  tsr_reduction reduction;
  tsr_reduction_direction direction;
  int64_t m, n;
  tsr_address source;
  int64_t ld;
  tsr_address destination;
  tsr_workspace workspace; /* as the table's `workspace` asks for; less, or none, may cost time */
} tsr_reduce;

typedef struct tsr_tensor_table {
  uint32_t struct_size;
  uint32_t version;
  /* Whether an operation exists for a type. Thread-safe, cheap. */
  bool (*supports)(tsr_device* device, tsr_tensor_operation operation, tsr_type type);
  /* Mandatory where supports claims PERMUTE or CONTRACT, else optional.
   * Bytes of workspace that the call described by `arguments` wants; 0 for none. PERMUTE: a tsr_permute. CONTRACT: a
   * tsr_contract, of which scalars, addresses and workspace are not looked at; `batch` 0 and 1 ask for one contraction. Other
   * operations: NULL. Equal shapes get equal answers. Thread-safe, cheap. Fails: as the call itself would for these arguments. */
  tsr_status (*workspace)(tsr_device* device, tsr_tensor_operation operation, const void* arguments,
                          uint64_t* out_bytes);
  /* As tsr_permute says. Source and destination do not overlap. Fails also: INVALID_ARGUMENT (a rank above TSR_MAX_RANK, what is
   * no permutation). Optional, as reduce_add and fill are. */
  tsr_status (*permute)(tsr_device* device, tsr_stream* stream, const tsr_permute* arguments);
  /* destination[i] += sum over s of sources[s][i], i < count. The array of addresses is copied by the call. */
  tsr_status (*reduce_add)(tsr_device* device, tsr_stream* stream, tsr_type type, int64_t count,
                           tsr_address destination, const tsr_address* sources, uint32_t source_count);
  /* destination[i] = *value (a host pointer to one element), i < count. */
  tsr_status (*fill)(tsr_device* device, tsr_stream* stream, tsr_type type, int64_t count, tsr_address destination,
                     const void* value);
  /* C(modes_c) = alpha A(modes_a) B(modes_b) + beta C(modes_c), as tsr_contract says. Optional; supports(CONTRACT) speaks for
   * this entry and contract_batched. With beta == 0 (or NULL) C is not read, with alpha == 0 A and B need not be. `workspace` has
   * the bytes that the entry `workspace` answers, at an address aligned to 256 bytes; what is in it is undefined before and
   * after. All lists and scalars are read before the call returns. The order of summation depends on shapes alone.
   * Fails: INVALID_ARGUMENT (a rank above TSR_MAX_RANK, a negative extent, a label that stands twice in one operand, that is in C
   * alone, or in A or B alone, or has different extents; C overlaps A or B; a workspace that is too small: the record has the
   * bytes that are wanted), OUT_OF_RANGE (beyond an allocation; more than 63 bits of bytes, or more rows than the library
   * counts), UNIMPLEMENTED (the type). */
  tsr_status (*contract)(tsr_device* device, tsr_stream* stream, tsr_type type, const void* alpha, const void* beta,
                         tsr_address a, uint32_t rank_a, const int64_t* extents_a, const int32_t* modes_a,
                         tsr_address b, uint32_t rank_b, const int64_t* extents_b, const int32_t* modes_b,
                         tsr_address c, uint32_t rank_c, const int32_t* modes_c, tsr_workspace workspace);
  /* Reduces the rows or the columns of a matrix to a vector, in the stream's order. The struct is copied by the call.
   * Fails: INVALID_ARGUMENT (a negative extent, ld < m, MIN or MAX of complex numbers, memory that is not the device's,
   * source and destination overlap), OUT_OF_RANGE (beyond an allocation), UNIMPLEMENTED (the type; see supports).
   * Optional. */
  tsr_status (*reduce)(tsr_device* device, tsr_stream* stream, const tsr_reduce* arguments);

  /* `batch` contractions of one shape, with the same scalars: the blocks are those of the arrays of addresses, which are copied
   * by the call. No C overlaps another C, nor any A or B. Otherwise as contract. Also fails: INVALID_ARGUMENT (a negative batch,
   * an array that is NULL). Optional. */
  tsr_status (*contract_batched)(tsr_device* device, tsr_stream* stream, const tsr_contract* arguments);
} tsr_tensor_table;

typedef uint32_t tsr_sparse_operation;
enum {
  TSR_SPARSE_SPMM = 1,            /* create_csr, and spmm without transposition */
  TSR_SPARSE_SPMM_TRANSPOSED = 2, /* and with TSR_TRANSPOSE and TSR_CONJUGATE_TRANSPOSE */
  TSR_SPARSE_BSR_SPMM = 3,        /* create_bsr, and spmm without transposition */
  TSR_SPARSE_BSR_SPMM_TRANSPOSED = 4
};

enum { TSR_CSR_NEVER_TRANSPOSED = 1u << 0 }; /* spmm of the handle is never asked to transpose: saves an index of it */

/* A sparse matrix in compressed rows: elements row_starts[r] to row_starts[r + 1] - 1 of the other two arrays are those of
 * row r. Columns count from 0, in any order within a row; elements of the same place add up. */
typedef struct tsr_csr {
  uint32_t struct_size;
  tsr_type type; /* of the values */
  int64_t rows, columns, nonzeros; /* columns at most 2^31 */
  /* In a space of the device where it computes: rows + 1 int64, `nonzeros` int32, `nonzeros` of `type`. They stay the
   * caller's, and valid while the handle lives. */
  tsr_address row_starts, column_indices, values;
  uint32_t flags; /* TSR_CSR_...; 0 where the struct ends before it */
} tsr_csr;

/* A sparse matrix of dense tiles of tile_rows x tile_columns elements, in compressed rows of tiles: tiles row_starts[r] to
 * row_starts[r + 1] - 1 are those of row r of tiles, and their columns of tiles count from 0, in any order within a row; tiles
 * of the same place add up. `values` has the tiles one behind the other, each dense and column-major. The last row and the last
 * column of tiles may reach over the edge of the matrix: what lies beyond is stored, and not read. */
typedef struct tsr_bsr {
  uint32_t struct_size;
  tsr_type type; /* of the values */
  int64_t rows, columns;           /* of elements; columns at most 2^31 */
  int64_t tile_rows, tile_columns; /* 1 to 2^31 */
  int64_t tiles;                   /* that are stored */
  /* As in tsr_csr: one int64 more than rows of tiles, `tiles` int32, tiles x tile_rows x tile_columns of `type`. */
  tsr_address row_starts, column_indices, values;
  uint32_t flags; /* TSR_CSR_... */
} tsr_bsr;

/* Sparse matrices, on the device. A handle belongs to one device; spmm of it may be called on several streams and by
 * several threads at once. create_csr and destroy are thread-safe, and are refused to a thread that records (GRAPH) as
 * mem_alloc and mem_free are; a recorded spmm uses the handle whenever its graph runs. */
typedef struct tsr_sparse_table {
  uint32_t struct_size;
  uint32_t version;
  /* Whether an operation exists for a type. Thread-safe, cheap. */
  bool (*supports)(tsr_device* device, tsr_sparse_operation operation, tsr_type type);
  /* Makes a handle for a matrix; the caller ends it with destroy. The work that writes row_starts and column_indices has
   * finished before the call, and they do not change while the handle lives; the values may, in the order of streams.
   * May block and be slow: the plugin looks at all of the structure, so that no later call reads out of bounds, and may
   * build what it computes with (an index for transposed products: some 12 bytes a nonzero of the first space's memory).
   * Fails: INVALID_ARGUMENT (a negative size, unknown flags, row_starts that do not begin with 0, fall, or do not end with
   * `nonzeros`, nonzeros without a row or a column, memory that is not the device's), OUT_OF_RANGE (more columns than 2^31,
   * a column index that is none, arrays beyond an allocation; more rows than 2^31 where an index is built), UNIMPLEMENTED
   * (the type), RESOURCE_EXHAUSTED. */
  tsr_status (*create_csr)(tsr_device* device, const tsr_csr* matrix, tsr_sparse** out_matrix);
  /* Ends a handle; the caller has made sure that no enqueued work uses it. The matrix's arrays are left alone. Fails:
   * INVALID_ARGUMENT (not a live matrix of this device). */
  tsr_status (*destroy)(tsr_device* device, tsr_sparse* matrix);
  /* Y = alpha op(A) X + beta Y, enqueued. X and Y are row-major with b columns: element (i, q) lies i * ldx + q elements
   * behind x; ldx and ldy are at least b and 1. op(A) is A (rows x columns), its transpose or its conjugate transpose; X
   * has as many rows as op(A) has columns, Y as many as op(A) has rows. b == 1 is spmv, b == 0 does nothing. With beta == 0,
   * Y is not read; with alpha == 0, A and X are not. Elements of Y between b and ldy are not touched. The order of summation
   * depends on the matrix and on b alone: the same call gives the same bits. `workspace` may be empty.
   * Fails: INVALID_ARGUMENT (not a live matrix of this device, or one whose arrays are gone, a negative b, ldx or ldy too
   * small, alpha or beta NULL, memory that is not the device's, X and Y overlap), OUT_OF_RANGE (X or Y beyond an
   * allocation), FAILED_PRECONDITION (transposed, of a matrix made with TSR_CSR_NEVER_TRANSPOSED). */
  tsr_status (*spmm)(tsr_device* device, tsr_stream* stream, tsr_transpose transpose, const void* alpha,
                     tsr_sparse* matrix, tsr_address x, int64_t ldx, int64_t b, const void* beta, tsr_address y,
                     int64_t ldy, tsr_workspace workspace);
  /* As create_csr, for a matrix of tiles; spmm and destroy take its handle as any other. An index for transposed products takes
   * some 12 bytes a tile. Also fails: INVALID_ARGUMENT (a tile without extent), OUT_OF_RANGE (a tile of more than 2^31 rows or
   * columns). Optional; supports(TSR_SPARSE_BSR_...) speaks for it. */
  tsr_status (*create_bsr)(tsr_device* device, const tsr_bsr* matrix, tsr_sparse** out_matrix);
  /* Since 1.1. Bytes of workspace that spmm of this matrix, with b columns, wants; 0 for none. A call with less is done as well,
   * perhaps slower. Thread-safe, cheap after the first call for a matrix and a b. Fails: INVALID_ARGUMENT (not a live matrix of this
   * device, a negative b). Optional: none is wanted. */
  tsr_status (*workspace)(tsr_device* device, tsr_transpose transpose, tsr_sparse* matrix, int64_t b, uint64_t* out_bytes);
} tsr_sparse_table;

/* Work recorded once and launched many times. */
typedef struct tsr_graph_table {
  uint32_t struct_size;
  uint32_t version;
  /* Between begin and end, by one thread, work enqueued on the stream (copies, fills, launches, host tasks, calls of
   * other extensions) is checked and recorded, not run. What depends on time is refused with FAILED_PRECONDITION on that
   * stream: stream_signal, stream_wait, stream_callback, stream_destroy, another begin, launch; and so are mem_alloc and
   * mem_free of the device by that thread: nothing is allocated meanwhile. A refused call leaves the recording as it was,
   * or spoils it: then end answers ABORTED, gives no graph, and the recording is over. */
  tsr_status (*capture_begin)(tsr_device* device, tsr_stream* stream);
  /* Fails: FAILED_PRECONDITION (the stream records nothing), ABORTED (above), RESOURCE_EXHAUSTED. After a failure of
   * the last two kinds the stream records no more. */
  tsr_status (*capture_end)(tsr_device* device, tsr_stream* stream, tsr_graph** out_graph);
  /* Enqueues all recorded work on a stream of the same device, in the order of its recording, with the addresses that
   * were recorded. The memory must still be there. Fails: FAILED_PRECONDITION (the stream records). */
  tsr_status (*launch)(tsr_device* device, tsr_stream* stream, tsr_graph* graph);
  /* Given up in 1.1: NULL. No host calls it and no plugin offered it; what changes is recorded again. (It was to give a recorded launch,
   * counted from 0 in the order of the calls, other geometry and arguments.) */
  tsr_status (*update)(tsr_device* device, tsr_graph* graph, uint32_t node, const tsr_launch* launch);
  /* Launches that were enqueued before still run to their end. */
  tsr_status (*destroy)(tsr_device* device, tsr_graph* graph);
} tsr_graph_table;

/* Compilation of kernels while the program runs. "tessera-c" is the language that all plugins share (docs/kernels.md). */
typedef struct tsr_jit_table {
  uint32_t struct_size;
  uint32_t version;
  const char* languages; /* "tessera-c,cuda": comma separated */
  /* Compiles to an image for module_load on this device, or on one that describes itself alike. `options`: definitions
   * "-DNAME" and "-DNAME=VALUE", separated by blanks; others are the compiler's own, if the plugin takes them; may be
   * NULL. The caller frees the image with release. Blocks; thread-safe. On failure the compiler's messages go to
   * host->error with the lines of the given source, counted from 1, or as the source's own line directives say.
   * Fails: INVALID_ARGUMENT (the source does not compile, an option that is not taken), UNIMPLEMENTED (the language),
   * UNAVAILABLE (there is no compiler; the message says what was looked for), DEADLINE_EXCEEDED (the compiler took too
   * long and was ended), RESOURCE_EXHAUSTED. */
  tsr_status (*compile)(tsr_device* device, const char* language, const char* source, const char* options,
                        void** out_image, uint64_t* out_bytes);
  /* NULL is nothing. */
  void (*release)(tsr_device* device, void* image);
  /* Compiler, driver and target in words: an image may be kept and used again, also by another process, as long as this,
   * the device's name and uuid and the plugin's version stay the same. Lives until shutdown. Thread-safe. Optional: images
   * are not kept then. */
  const char* (*identity)(tsr_device* device);
} tsr_jit_table;

/* Memory that other processes of this machine reach. A key is plain bytes, to be sent by any means; it is good for plugins
 * of the same name and version on the same device (the same uuid), while the exported memory lives. Whoever knows a key and
 * may open the device can read and write the memory. */
#define TSR_IPC_KEY_BYTES 128 /* a vendor's handle (64 bytes with CUDA and HIP), size, uuid, the exporting process, a check sum */
typedef struct tsr_ipc_table {
  uint32_t struct_size;
  uint32_t version;
  /* Writes the key of an allocation of this device. Exporting again gives a key that is as good. Thread-safe. Fails:
   * UNIMPLEMENTED (this space's memory cannot be shared), INVALID_ARGUMENT (no live memory of the device, or one that was
   * imported, or out_key NULL). */
  tsr_status (*export_memory)(tsr_device* device, tsr_memory* memory, uint8_t out_key[TSR_IPC_KEY_BYTES]);
  /* A handle on memory that another process exported, in the space and of the size that it has there; the caller ends
   * its use with mem_free, which leaves the exporter's memory alone. The exporter frees its memory after all others have
   * ended their use. The contents are ordered by nobody: processes agree on who writes, and signal each other when work on
   * the memory has finished. Imported memory takes nothing of the space's capacity. May block. Thread-safe; not by a thread
   * that records (GRAPH). Fails: INVALID_ARGUMENT (no key, a damaged one, or one of another device, plugin or version),
   * FAILED_PRECONDITION (a key of this same process, which has the memory already), NOT_FOUND (the memory is gone, as far as
   * the driver can tell), PERMISSION_DENIED (the operating system keeps the processes apart), RESOURCE_EXHAUSTED. */
  tsr_status (*import_memory)(tsr_device* device, const uint8_t key[TSR_IPC_KEY_BYTES], tsr_memory** out_memory);
} tsr_ipc_table;

typedef struct tsr_counter {
  const char* name; /* "power", "temperature", "throttled" */
  const char* unit; /* "W", "Hz", "bytes", "degrees Celsius"; "" for a plain number */
  double value;
} tsr_counter;

typedef struct tsr_telemetry_table {
  uint32_t struct_size;
  uint32_t version;
  /* Fills up to `capacity` counters; *out_count is how many there are. Their texts live until shutdown. Thread-safe; may ask a
   * driver, so not for every task. Fails: INVALID_ARGUMENT (counters NULL with a capacity). */
  tsr_status (*read)(tsr_device* device, tsr_counter* counters, uint32_t capacity, uint32_t* out_count);
} tsr_telemetry_table;

/* --------------------------------------------------------------------------------------------- plugin, header ----- */

typedef struct tsr_plugin_table {
  uint32_t struct_size;
  /* Number of devices and their descriptions; `index` 0 .. *out_count - 1. With out_desc NULL only counts. Thread-safe. Fails:
   * OUT_OF_RANGE (an index, with out_desc). No device is a count of 0 and no failure. */
  tsr_status (*enumerate)(tsr_plugin* plugin, uint32_t index, tsr_device_desc* out_desc, uint32_t* out_count);
  /* Opens device `index`. The table lives until device_close. Blocks. Fails: OUT_OF_RANGE (the index), ALREADY_EXISTS (it is
   * open), UNAVAILABLE, PERMISSION_DENIED, RESOURCE_EXHAUSTED. */
  tsr_status (*device_open)(tsr_plugin* plugin, uint32_t index, tsr_device** out_device,
                            const tsr_device_table** out_table);
  /* Closes a device; waits for its work, and destroys what is left of its streams, memory and all else. No other call concerns the
   * device meanwhile or afterwards. A device can be opened again. */
  tsr_status (*device_close)(tsr_plugin* plugin, tsr_device* device);
  /* All devices are open: enable peer access and the like. Optional. */
  tsr_status (*devices_ready)(tsr_plugin* plugin);
  /* The table of extension `id` of at least `min_version` for a device, or UNIMPLEMENTED. The table lives until
   * shutdown. Thread-safe. Optional: NULL means no extensions. */
  tsr_status (*extension)(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, uint32_t min_version,
                          const void** out_table);
  /* Ends the plugin's use; closes devices still open, joins its threads. The handle is gone, whatever the answer. May be opened
   * again. */
  tsr_status (*shutdown)(tsr_plugin* plugin);
} tsr_plugin_table;

/* OPERATIONS plugins: named operations with host implementations (device implementations come through modules). */
typedef uint32_t tsr_intent;
enum {
  TSR_READ = 0,
  TSR_WRITE = 1,      /* all of the block is written, what was there is undefined */
  TSR_UPDATE = 2,     /* read and written */
  TSR_ACCUMULATE = 3, /* added to, in any order with other tasks */
  TSR_SCRATCH = 4     /* undefined before and after */
};

typedef struct tsr_block_view {
  uint32_t struct_size;
  tsr_type type;
  uint32_t rank;
  int64_t extents[TSR_MAX_RANK];
  void* data; /* dense, first index fastest */
} tsr_block_view;

typedef struct tsr_operation {
  uint32_t struct_size;
  const char* name;          /* "vendor.operation"; unique among all plugins */
  const tsr_intent* intents; /* of the blocks, in their order */
  uint32_t intent_count;
  /* Runs on the calling thread, on several at once. `arguments` are the bytes given at submission. The views are the host's and
   * valid during the call. A status other than OK fails the task with what was left in host->error. */
  tsr_status (*host)(const tsr_host* host, const tsr_block_view* blocks, uint32_t block_count, const void* arguments,
                     uint64_t argument_bytes);
} tsr_operation;

typedef struct tsr_operations_table {
  uint32_t struct_size;
  uint32_t count;
  const tsr_operation* operations; /* live until close, as all that they point to */
} tsr_operations_table;

/* POLICY plugins: a pure function from candidates to a choice. */
typedef struct tsr_candidate {
  uint32_t location;       /* the core's number of a worker location */
  double queue_seconds;    /* work already waiting there */
  double transfer_seconds; /* to bring the inputs there */
  double execute_seconds;  /* estimate; 0: unknown */
  uint64_t resident_bytes; /* of the inputs, already there */
} tsr_candidate;

typedef struct tsr_policy_table {
  uint32_t struct_size;
  /* Returns the index of the chosen candidate, 0 .. count - 1; count is at least 1. Called for every task by many threads at once:
   * it does not block. `operation` and `candidates` are valid during the call. */
  uint32_t (*place)(tsr_plugin* plugin, const char* operation, const tsr_candidate* candidates, uint32_t count);
} tsr_policy_table;

/* LAYER plugins wrap another plugin: they are given its header and return one of their own. */
typedef struct tsr_plugin_header tsr_plugin_header;
typedef struct tsr_layer_table {
  uint32_t struct_size;
  /* A header with the inner one's name and kind, which lives until the layer is closed; NULL where the layer cannot wrap it
   * (host->error says why). The inner header outlives the layer. */
  const tsr_plugin_header* (*wrap)(const tsr_plugin_header* inner);
} tsr_layer_table;

typedef uint32_t tsr_plugin_kind;
enum {
  TSR_PLUGIN_DEVICE = 1,
  TSR_PLUGIN_STORAGE = 2,
  TSR_PLUGIN_OPERATIONS = 3,
  TSR_PLUGIN_POLICY = 4,
  TSR_PLUGIN_LAYER = 5
};

typedef uint32_t tsr_sanitizer_kind;
enum { TSR_SANITIZER_NONE = 0, TSR_SANITIZER_ADDRESS = 1, TSR_SANITIZER_THREAD = 2 };

struct tsr_plugin_header {
  uint32_t struct_size;
  uint32_t abi_major, abi_minor; /* of the header that the plugin was compiled with */
  tsr_plugin_kind kind;
  tsr_sanitizer_kind sanitizer;  /* a plugin and a host built for different sanitizers are not mixed */
  uint64_t features;             /* 0: no bit has a meaning yet */
  const char* name;              /* 1 to 64 of a-z, 0-9, '_', '-': the name of its TOML table */
  const char* vendor;
  const char* version;
  const char* build;             /* free text: compiler, date */
  const tsr_option* options; /* NULL with a count of 0 */
  uint32_t option_count;
  /* Whether the plugin can serve this machine: a score, 0 = no. Creates no device context, costs well under a
   * millisecond. `reason` (may be NULL) receives why not. Optional: NULL scores 1. */
  uint32_t (*probe)(const tsr_host* host, char* reason, uint32_t reason_bytes);
  /* Opens the plugin with checked options, which are read before it returns. Fails: INVALID_ARGUMENT (values that do not go together),
   * UNAVAILABLE, PERMISSION_DENIED. out_table is the table of `kind`: tsr_plugin_table for DEVICE and STORAGE,
   * tsr_operations_table, tsr_policy_table, tsr_layer_table. `host` outlives the plugin. */
  tsr_status (*open)(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                     tsr_plugin** out_plugin, const void** out_table);
  /* Ends plugins whose table has no shutdown (OPERATIONS, POLICY, LAYER). Optional. */
  void (*close)(tsr_plugin* plugin);
  const void* reserved[4];       /* NULL */
};

/* The one exported symbol. Returns a static header, or NULL when the plugin cannot serve a host of that version. */
typedef const tsr_plugin_header* (*tsr_plugin_query_function)(uint32_t host_major, uint32_t host_minor);
TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
}
#endif
#endif /* TESSERA_PLUGIN_H_ */
