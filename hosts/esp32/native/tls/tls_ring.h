// Bytes from one task to another, as many as it has room for. It takes memory only while there are some. No lock of its own.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_ring {
	/** NULL: it is empty, and has no memory. */
	uint8_t *bytes;
	size_t size;
	/** Where the oldest byte is. */
	size_t first;
	size_t filled;
};

void tls_ring_begin(struct tls_ring *ring, size_t size);
/** Before bytes are put in, or room is asked for. False: no memory. */
bool tls_ring_have(struct tls_ring *ring);
/** Gives the memory back, if nothing is in it. */
void tls_ring_rest(struct tls_ring *ring);
/** For good. */
void tls_ring_drop(struct tls_ring *ring);
/** Copies as many as fit, and says how many. */
size_t tls_ring_put(struct tls_ring *ring, const uint8_t *from, size_t count);
/** Copies as many as there are, and says how many. */
size_t tls_ring_take(struct tls_ring *ring, uint8_t *into, size_t count);
/** The oldest bytes in one piece, and how many. They stay until `tls_ring_used`. */
uint8_t *tls_ring_oldest(const struct tls_ring *ring, size_t *count);
void tls_ring_used(struct tls_ring *ring, size_t count);
/** Room behind the newest byte in one piece, and how much. It counts as filled after `tls_ring_added`. */
uint8_t *tls_ring_room(const struct tls_ring *ring, size_t *count);
void tls_ring_added(struct tls_ring *ring, size_t count);
