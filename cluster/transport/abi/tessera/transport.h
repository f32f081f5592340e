/*
 * tessera/transport.h - the transport ABI of Tessera, version 1.0.
 *
 * A transport connects the ranks of one job: active messages, memory that other ranks read and write, and the few
 * collectives that a runtime needs to start and to end. It is a shared library that exports one symbol,
 * tsr_transport_query. Plain C11; of Tessera it needs tessera/plugin.h alone, for statuses, options and the host's
 * services. The host calls
 *
 *     query -> open -> endpoint_open (each rank of this process) -> ... -> endpoint_close -> shutdown
 *
 * and never unloads the library. Rules R1 (sizes), R2 (versions, here TSR_TRANSPORT_MAJOR and TSR_TRANSPORT_MINOR),
 * R3 (status), R4 (manners), R6 (strings), R7 (units) and R8 (ownership) of plugin.h hold here too. Besides:
 *
 *  T1  Threads.    All calls on one endpoint are made by one thread at a time, but `wake`, which any thread may call.
 *                  With TSR_THREAD_ONE they are made by one and the same thread, which also calls open and shutdown.
 *                  Endpoints of one process may be used by different threads at once.
 *  T2  Requests.   No call on an endpoint waits until another rank makes calls, but `wait`, which ends by its time,
 *                  and two steps inside of libraries that have no other form: the last step of window_create and
 *                  window_destroy, once every rank has called it, and a flush towards another node. What takes longer
 *                  has a tsr_request: the caller's memory, which stays where it is until its status is no longer
 *                  TSR_NOT_READY. The status is changed by calls on the endpoint alone, on their thread, so that
 *                  reading it between calls needs no atomic. A call that starts a request and answers TSR_OK may have
 *                  completed it already. A call that answers anything else has started nothing and leaves the request
 *                  untouched.
 *  T3  Local       A request that is TSR_OK is complete locally: memory that was handed in may be used again, memory
 *                  that is filled (get, fetch_add, compare_swap, agree) has its contents.
 *  T4  Remote      A put or accumulate is complete remotely, that is done in the target's memory, once a `flush` of
 *                  its window and rank that was called later is TSR_OK. A get, fetch_add or compare_swap is done when
 *                  its request is.
 *  T5  Order.      Messages from one rank to another are handed over in the order of the calls that sent them. Nothing
 *                  else is ordered: neither operations on windows with each other, not even two on the same bytes, nor
 *                  with messages, nor messages of different ranks. A flush orders what came before it with all that is
 *                  called after its end, by this rank or by one that learns of it: through a message that was sent, or
 *                  a collective that was called, after the flush was complete.
 *  T6  Atomicity.  Each element of an accumulate is added as a whole, in any order with other accumulates of the same
 *                  type. fetch_add and compare_swap of one word are whole with others of their own kind. Bytes that
 *                  are accumulated, changed by fetch_add, changed by compare_swap, or read and written otherwise are
 *                  not used in a second one of these ways before a flush and one of the means of T5 lie between.
 *  T7  Progress.   An operation on a window is done whatever the target computes, as far as the network can; a
 *                  transport may need the target's calls of `progress` or `wait`, and completes nothing without its
 *                  own rank's.
 *  T8  Sizes.      Counts have 64 bits; what the network cannot move at once is split inside. Zero bytes, zero rows
 *                  and the calling rank itself as the target are legal everywhere and mean what they mean for others.
 *  T9  Loss.       A rank that is lost answers no more. Requests towards it, and collectives that wait for it, end
 *                  with TSR_RANK_LOST, and calls towards it answer the same; requests with others go on. What a lost
 *                  rank had sent may or may not arrive. Where a lost rank ends the whole job, as with MPI, nothing of
 *                  this is seen.
 *  T10 Collectives (window_create, window_destroy, barrier, agree) are called by all ranks in the same order. They are
 *                  done in that order. Ranks that call different ones, or `agree` with different sizes, get
 *                  TSR_FAILED_PRECONDITION as the status of these requests, all of them, with a line in the log.
 */
#ifndef TESSERA_TRANSPORT_H_
#define TESSERA_TRANSPORT_H_

#include <tessera/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TSR_TRANSPORT_MAJOR 1u
#define TSR_TRANSPORT_MINOR 0u

/* Beside the statuses of plugin.h. */
enum { TSR_RANK_LOST = 80 /* a rank that the call or request needs is gone; sticky for that rank */ };

#define TSR_ALL_RANKS (-1)          /* as the rank of a flush */
#define TSR_MAX_HEADER_BYTES 256u   /* of a message's header, at every transport */
#define TSR_MAX_AGREE_BYTES 65536u  /* of one rank's part of `agree` */

/* Opaque to the host; the transport defines what they are. */
typedef struct tsr_transport_s tsr_transport; /* one opened transport */
typedef struct tsr_endpoint_s tsr_endpoint;   /* one rank's end of it */
typedef struct tsr_window_s tsr_window;       /* this rank's handle of memory that all ranks have a part of */

/* Something under way. The caller sets struct_size, and may set anything else to 0; the transport sets `status` and
 * uses `reserved` as it likes while it is TSR_NOT_READY. A request may be used again once it is not. Fields before
 * `reserved` never change. */
typedef struct tsr_request {
  uint32_t struct_size;
  tsr_status status;    /* TSR_NOT_READY: under way; anything else: it has ended so */
  uint64_t reserved[6]; /* the transport's while it is under way */
} tsr_request;

/* ------------------------------------------------------------------------------------------------- messages ------- */

/* Called by `progress` of the receiving endpoint, on its thread. `header` and `payload` live until it returns; either
 * is never NULL, though of zero bytes. The header lies at a multiple of 8, the payload at one of 16. It may call
 * everything on the endpoint but progress, wait and endpoint_close; it must not throw. */
typedef void (*tsr_receive_function)(void* context, int32_t source, uint32_t id, const void* header,
                                     uint32_t header_bytes, const void* payload, uint64_t payload_bytes);

typedef struct tsr_message {
  uint32_t struct_size;
  int32_t rank;          /* the receiver */
  uint32_t id;           /* of the handler: any number, handed over as it is */
  uint32_t header_bytes; /* at most TSR_MAX_HEADER_BYTES */
  const void* header;    /* copied before `send` returns; NULL with 0 bytes */
  const void* payload;   /* the caller keeps it unchanged until the request has ended; NULL with 0 bytes */
  uint64_t payload_bytes;
} tsr_message;

/* -------------------------------------------------------------------------------------------------- windows ------- */

/* A block of up to two dimensions: `rows` rows of `bytes` bytes. Of a rank's part of a window, row i begins at byte
 * offset + i * offset_stride; in the caller's memory, at local + i * local_stride. Strides are at least `bytes` and
 * are not looked at with one row. No row of 0 bytes, and no row at all, is an error. */
typedef struct tsr_transfer {
  uint32_t struct_size;
  int32_t rank; /* whose part of the window */
  tsr_window* window;
  uint64_t offset;
  void* local; /* get: is filled; put, accumulate: is read, and stays unchanged until the request has ended */
  uint64_t bytes, rows;
  uint64_t offset_stride, local_stride;
} tsr_transfer;

/* ------------------------------------------------------------------------------------------------- endpoints ------ */

typedef uint32_t tsr_thread_mode;
enum {
  TSR_THREAD_ONE = 1,       /* one and the same thread makes all calls, from open to shutdown */
  TSR_THREAD_ONE_AT_A_TIME = 2 /* any thread, one at a time: the caller's lock hands over */
};

typedef struct tsr_endpoint_desc {
  uint32_t struct_size;
  int32_t rank, size;           /* 0 <= rank < size */
  tsr_thread_mode thread_mode;
  int32_t node;                 /* number of this rank's node, 0 .. nodes - 1 in the order of their first ranks */
  int32_t nodes;
  uint32_t reads_in_place;      /* 1: window_base answers for the ranks of this node; 0: for this rank alone */
  uint32_t reserved;
  uint64_t eager_bytes;         /* a payload of at most so many bytes is copied by `send`, whose request has then ended */
  uint64_t largest_piece;       /* what moves at once; more is split inside. 0: no limit */
  const char* node_name;        /* as people call it; lives until endpoint_close */
  const int32_t* node_of;       /* [size]: the node of each rank; lives until endpoint_close */
} tsr_endpoint_desc;

/* What one rank does. Each function names what may start a request ("Request:"), when that is complete, and what it
 * answers beside rule R3 ("Fails:"). Every function may answer TSR_CANCELLED after an abort. */
typedef struct tsr_endpoint_table {
  uint32_t struct_size;

  /* Of this endpoint. Fails: never otherwise. */
  tsr_status (*describe)(tsr_endpoint* endpoint, tsr_endpoint_desc* out_desc);

  /* Takes what has come, completes what has ended, and hands over at most `budget` messages (0: none). *out_happened
   * is whether anything was handed over or completed. Does not sleep. */
  tsr_status (*progress)(tsr_endpoint* endpoint, uint32_t budget, bool* out_happened);
  /* Sleeps until a message may have come or a request may have completed, until `wake`, or for `nanoseconds`: after it
   * call progress. Returns at once where something is there already. It may use the processor for some microseconds
   * first, and may return without a reason. A wake that came while nobody waited ends the next wait. Completes nothing
   * and hands nothing over itself. Fails: DEADLINE_EXCEEDED (the time is over and nothing is known to have come). */
  tsr_status (*wait)(tsr_endpoint* endpoint, uint64_t nanoseconds);
  /* Ends the present or the next wait. Any thread, at any time between endpoint_open and endpoint_close. */
  tsr_status (*wake)(tsr_endpoint* endpoint);

  /* Sends a message. Request: the payload may be used again; at once for up to eager_bytes. That says nothing of the
   * receiver. A message is never lost while both ranks live: where the buffers towards the receiver are full nothing
   * is taken. Fails: NOT_READY (they are: make progress, try again), OUT_OF_RANGE (the rank), INVALID_ARGUMENT (header
   * too long, NULL with bytes), RANK_LOST. */
  tsr_status (*send)(tsr_endpoint* endpoint, const tsr_message* message, tsr_request* request);

  /* Collective (T10). This rank's part has `bytes` bytes, zeroed, at a multiple of 64; ranks may give different sizes.
   * Request: *out_window is set, and operations towards every rank are legal. out_window points to what stays until
   * then. Fails, as the request's status, at all ranks: RESOURCE_EXHAUSTED (there is not so much memory somewhere). */
  tsr_status (*window_create)(tsr_endpoint* endpoint, uint64_t bytes, tsr_window** out_window, tsr_request* request);
  /* Where a rank's part begins in this process, and how long it is. *out_base is NULL where it cannot be read in
   * place. That of the calling rank can; so can those of its node with reads_in_place, unless the node had no room for
   * shared memory, which the log tells. What is read or written there is ordered as gets and puts are (T5), and a
   * flush covers it. The base of a part of 0 bytes may be any pointer. Fails: OUT_OF_RANGE (the rank). */
  tsr_status (*window_base)(tsr_endpoint* endpoint, tsr_window* window, int32_t rank, void** out_base,
                            uint64_t* out_bytes);
  /* Collective (T10). The caller's operations on it are flushed before. Request: the memory is gone at all ranks. The
   * handle is dead when the call has answered TSR_OK, and stays so whatever becomes of the request. Fails:
   * FAILED_PRECONDITION (operations of this rank on it are under way or not flushed). */
  tsr_status (*window_destroy)(tsr_endpoint* endpoint, tsr_window* window, tsr_request* request);

  /* Copies a block of a rank's part into the caller's memory. Request: it is there. Fails: OUT_OF_RANGE (the rank, or
   * the block is not inside of the part), INVALID_ARGUMENT (a stride that is too short; local NULL with bytes),
   * RANK_LOST, NOT_READY (too much is under way: make progress, try again). */
  tsr_status (*get)(tsr_endpoint* endpoint, const tsr_transfer* transfer, tsr_request* request);
  /* Copies a block of the caller's memory into a rank's part. Request: the caller's memory may be used again (T3;
   * remote completion: T4). Fails: as get. */
  tsr_status (*put)(tsr_endpoint* endpoint, const tsr_transfer* transfer, tsr_request* request);
  /* Adds a block of the caller's memory to a rank's part, element by element: F32, F64 or I64 (modulo 2^64). Offset,
   * strides and row length are multiples of the element's size. Request: as put. Fails: as get; INVALID_ARGUMENT
   * (another type, no multiple). */
  tsr_status (*accumulate)(tsr_endpoint* endpoint, const tsr_transfer* transfer, tsr_type type, tsr_request* request);
  /* Adds `value` to the 64-bit word at `offset`, modulo 2^64. Request: *out_before (not NULL) is what was there
   * before. Fails: OUT_OF_RANGE (rank, offset), INVALID_ARGUMENT (offset is no multiple of 8), RANK_LOST, NOT_READY.
   * */
  tsr_status (*fetch_add)(tsr_endpoint* endpoint, tsr_window* window, int32_t rank, uint64_t offset, int64_t value,
                          int64_t* out_before, tsr_request* request);
  /* Writes `desired` where the word is `expected`. Request: *out_before (not NULL) is what was there before, so that
   * it was written if that is `expected`. Fails: as fetch_add. */
  tsr_status (*compare_swap)(tsr_endpoint* endpoint, tsr_window* window, int32_t rank, uint64_t offset,
                             int64_t expected, int64_t desired, int64_t* out_before, tsr_request* request);
  /* Request: all operations of this rank on the window towards `rank` (or TSR_ALL_RANKS) that were called before are
   * complete remotely, and their own requests have ended. window NULL: on all windows. With a lost rank among those
   * that still owe something the request ends with RANK_LOST, after the others, once. Fails: OUT_OF_RANGE (the rank),
   * RANK_LOST (that one rank). */
  tsr_status (*flush)(tsr_endpoint* endpoint, tsr_window* window, int32_t rank, tsr_request* request);

  /* Collective (T10). Request: every rank has called it. It completes no operation on a window: flush before it. */
  tsr_status (*barrier)(tsr_endpoint* endpoint, tsr_request* request);
  /* Collective (T10). Every rank gives `bytes` bytes, the same number at all, at most TSR_MAX_AGREE_BYTES. Request:
   * out_all has those of all ranks, in their order. `mine` is copied by the call. Fails: INVALID_ARGUMENT (too many
   * bytes, NULL with bytes). */
  tsr_status (*agree)(tsr_endpoint* endpoint, const void* mine, uint64_t bytes, void* out_all, tsr_request* request);

  /* *out_alive: false once the rank is known to be lost. Fails: OUT_OF_RANGE. */
  tsr_status (*alive)(tsr_endpoint* endpoint, int32_t rank, bool* out_alive);
  /* Ends the job. Where ranks are processes, they end, with exit code `code` where the launcher hands it on, and the
   * call does not return. Where they are threads, all requests of all ranks end with CANCELLED and every later call of
   * any rank but describe, alive, wake and endpoint_close answers it, with `text` in host->error. */
  tsr_status (*abort)(tsr_endpoint* endpoint, int32_t code, const char* text);
  /* This rank is lost from now on, for tests. Optional. */
  tsr_status (*lose)(tsr_endpoint* endpoint);
} tsr_endpoint_table;

/* ---------------------------------------------------------------------------------------- transport, header ------- */

typedef struct tsr_transport_desc {
  uint32_t struct_size;
  int32_t size;       /* ranks of the job, at least 1 */
  int32_t first_rank; /* of this process, which has the ranks first_rank .. first_rank + local_count - 1 */
  int32_t local_count;
  tsr_thread_mode thread_mode;
  uint32_t reserved;
} tsr_transport_desc;

typedef struct tsr_transport_table {
  uint32_t struct_size;
  tsr_status (*describe)(tsr_transport* transport, tsr_transport_desc* out_desc);
  /* Opens a rank of this process. `receive` is called for each message, with `context`. The table lives until
   * shutdown. Does not wait for other ranks; what is sent to a rank that is not open yet waits there. Fails:
   * OUT_OF_RANGE (no rank of this process), ALREADY_EXISTS (it is or was open), INVALID_ARGUMENT (receive NULL). */
  tsr_status (*endpoint_open)(tsr_transport* transport, int32_t rank, tsr_receive_function receive, void* context,
                              tsr_endpoint** out_endpoint, const tsr_endpoint_table** out_table);
  /* Closes a rank. Requests that are still under way are given up: their memory is not touched any more. A network
   * that cannot take back what it has begun is given a second to end it, and the log tells of what it has not. For
   * others the rank is lost where they still want something of it; so end with a barrier. Windows that are left end
   * with the transport. A rank is not opened again. Fails: FAILED_PRECONDITION (inside of the function that receives).
   * */
  tsr_status (*endpoint_close)(tsr_transport* transport, tsr_endpoint* endpoint);
  /* Ends the transport's use and closes endpoints that are open; the handle is gone, whatever the answer. Where ranks
   * are processes it may wait for the others to do the same. */
  tsr_status (*shutdown)(tsr_transport* transport);
} tsr_transport_table;

typedef struct tsr_transport_header {
  uint32_t struct_size;
  uint32_t abi_major, abi_minor; /* TSR_TRANSPORT_MAJOR and _MINOR of the header that it was compiled with */
  tsr_sanitizer_kind sanitizer;  /* a transport and a host built for different sanitizers are not mixed */
  uint64_t features;             /* 0: no bit has a meaning yet */
  const char* name;              /* 1 to 64 of a-z, 0-9, '_', '-': the name of its TOML table, [transport.NAME] */
  const char* vendor;
  const char* version;
  const char* build;         /* free text: compiler, library */
  const tsr_option* options; /* NULL with a count of 0 */
  uint32_t option_count;
  uint32_t reserved_word; /* 0 */
  /* Opens the transport with checked options, which are read before it returns. A network library is initialised here
   * and not before; that may wait for the other ranks. `host` outlives the transport. Fails: INVALID_ARGUMENT (values
   * that do not go together), UNAVAILABLE (the network, the launcher), FAILED_PRECONDITION (the library is in use in a
   * way that does not allow it), ALREADY_EXISTS (it can be open once and is). */
  tsr_status (*open)(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                     tsr_transport** out_transport, const tsr_transport_table** out_table);
  const void* reserved[4]; /* NULL */
} tsr_transport_header;

/* The one exported symbol. Returns a static header, or NULL when the transport cannot serve a host of that version. */
typedef const tsr_transport_header* (*tsr_transport_query_function)(uint32_t host_major, uint32_t host_minor);
TSR_EXPORT const tsr_transport_header* tsr_transport_query(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
}
#endif
#endif /* TESSERA_TRANSPORT_H_ */
