// huge is a library so large that those before and after it are out of each other's reach.
#include <stddef.h>

static char room[(size_t)600 << 20];

// Something must use it.
__attribute__((constructor)) static void use(void) { room[0] = 1; }

char *huge_room(size_t i) { return &room[i]; }
