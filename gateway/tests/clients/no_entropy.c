/* Put before the system's library: `getrandom` fails once the file named by BRR_NO_ENTROPY is there. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    const char *flag = getenv("BRR_NO_ENTROPY");
    if (flag && access(flag, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, length, flags);
}
