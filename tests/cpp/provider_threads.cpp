// Both providers of the library, made and asked by many threads at once: provider_threads THREADS ROUNDS. A build with
// ThreadSanitizer sees where two of them meet.
#include "small_runtime.h"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  check_provider_in_threads(std::atoi(arguments[1]), std::atoi(arguments[2]));
  std::printf("no mistake\n");
}
