#pragma once
// Objects that each thread has of its own, and that may be asked for late.

namespace tessera {

/// The calling thread's object of a type, made when it is first asked for, destroyed with its thread_local objects.
/// Where those are gone, as when runtimes with static storage end, it is made once more and stays until the process
/// ends.
template <class T>
T& of_this_thread() {
  static thread_local T* known = nullptr;  // both trivial: usable until the thread is no more
  static thread_local bool gone = false;
  if (known != nullptr) return *known;
  if (gone) return *(known = new T);
  struct owner {
    T object;
    ~owner() {
      known = nullptr;
      gone = true;
    }
  };
  static thread_local owner mine;
  return *(known = &mine.object);
}

}  // namespace tessera
