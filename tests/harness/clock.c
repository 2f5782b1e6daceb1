// What the machine's clock shows to one process: the real time plus what the file of ZAFFRE_TEST_CLOCK says, in
// seconds. Preloaded by harness/clock.py; time that only rises (CLOCK_MONOTONIC) is left alone, as the system does.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile long *offset;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("ZAFFRE_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) abort();
    offset = mapped;
    close(file);
}

int clock_gettime(clockid_t which, struct timespec *out) {
    int result = (int)syscall(SYS_clock_gettime, which, out);
    if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) out->tv_sec += *offset;
    return result;
}
