// A runtime with one node: a Pad of floats [2, 3], or of ["rows", 3] while the session is created, by 1 on each side.
// It allocates with malloc alone. Each program that has it counts what the library allocates, and refuses one of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ort/provider_abi.h"

namespace padops::ort {

struct Status {
  char message[1000];
};

struct Value {
  int type;
  std::vector<int64_t> dims;
  void* bytes;
};

struct TensorInfo {
  int type;
  std::array<int64_t, 2> dims;
  std::array<char[40], 2> symbols;
  size_t rank = 2;
};

}  // namespace padops::ort

// What the library allocates.
struct Allocations {
  bool limited = false;
  long left = 0;         // that are not refused, where they are limited
  bool refused = false;  // whether one has been
  // Those that have not been freed, and things of the runtime that have not been released. Threads count at once.
  std::atomic<long> live = 0;
};
extern Allocations allocations;

extern float padded[20];  // the output
extern int64_t pads[4];
extern padops::ort::Value inputs[2];
extern padops::ort::TensorInfo declared;  // of the data while the session is created
extern padops::ort::TensorInfo inferred;  // what shape inference says of the output
extern const char* broken_call;           // the name of the call that fails
extern std::vector<const padops::ort::CustomOp*> registered;
extern padops::ort::Api api;
padops::ort::Api make_older_api();  // that of a runtime which has not yet the call that gives dims without a copy

padops::ort::Status* failed(int code, const char* message);

template <class Table, class Function>
void set_entry(Table& table, size_t slot, Function function) {
  table.entries[slot] = reinterpret_cast<typename Table::Entry>(+function);
}

// Fails with the messages of a check.
template <class... Arguments>
[[noreturn]] void wrong(const char* form, Arguments... arguments) {
  std::fprintf(stderr, form, arguments...);
  std::fputc('\n', stderr);
  std::exit(1);
}

// Calls until no allocation is refused. That call's message must contain `last`, or be none where it is empty; the
// calls before must each give a message of padops. Then does so again, now that the library has what it keeps, and no
// call may leave anything allocated.
template <class Call>
void exhaust(const char* name, const char* last, Call call) {
  const auto run = [&](long allowed) {
    allocations.limited = true;
    allocations.left = allowed;
    allocations.refused = false;
    padops::ort::Status* status = call();
    allocations.limited = false;
    const std::string message = status == nullptr ? "" : status->message;
    std::free(status);
    const std::string expected = allocations.refused ? "padops" : last;
    if (message.empty() != expected.empty() || message.find(expected) == std::string::npos)
      wrong("%s, %ld allocations: \"%s\", expected \"%s\"", name, allowed, message.c_str(), expected.c_str());
    return allocations.refused;
  };
  long allowed = 0;
  while (run(allowed)) ++allowed;
  std::printf("%s: %ld allocations\n", name, allowed);
  for (long again = 0, before = allocations.live; again <= allowed; ++again) {
    run(again);
    if (allocations.live != before)
      wrong("%s, %ld allocations: %ld of them are left", name, again, allocations.live.load() - before);
  }
}

// What the runtime calls of devices, and of the provider that brings the operators.
void add_device_calls(padops::ort::EpApi& calls);

// The devices of a provider, which have options where they bring the operators.
void check_devices(padops::ort::EpFactory* factory, bool brings_operators);

// The provider that brings the operators.
void check_operators(padops::ort::EpFactory* factory, const padops::ort::ApiBase& base);

// The execution provider in this runtime.
void check_provider();

// The same in many threads at once, from the first call of the library on.
void check_provider_in_threads(int threads, int rounds);
