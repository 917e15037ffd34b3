// A ring of bytes between two tasks. It has memory only while it contains bytes. It has no lock.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mote_tls_ring {
	/** NULL while it has no memory. */
	uint8_t *bytes;
	size_t size;
	/** Offset of the oldest byte. */
	size_t first;
	size_t filled;
};

void mote_tls_ring_begin(struct mote_tls_ring *ring, size_t size);
/** Allocates its memory, before bytes are put in. False: no memory. */
bool mote_tls_ring_reserve(struct mote_tls_ring *ring);
/** Frees its memory if it is empty. */
void mote_tls_ring_trim(struct mote_tls_ring *ring);
/** Frees its memory for good. */
void mote_tls_ring_drop(struct mote_tls_ring *ring);
/** Copies as many bytes into the ring as fit, and returns their number. */
size_t mote_tls_ring_put(struct mote_tls_ring *ring, const uint8_t *from, size_t count);
/** Copies up to `count` bytes out of the ring, and returns their number. */
size_t mote_tls_ring_take(struct mote_tls_ring *ring, uint8_t *into, size_t count);
/** The oldest bytes in one piece, and their number. `mote_tls_ring_used` removes them. */
uint8_t *mote_tls_ring_oldest(const struct mote_tls_ring *ring, size_t *count);
void mote_tls_ring_used(struct mote_tls_ring *ring, size_t count);
/** Free space after the newest byte in one piece. Call `mote_tls_ring_added` after filling it. */
uint8_t *mote_tls_ring_room(const struct mote_tls_ring *ring, size_t *count);
void mote_tls_ring_added(struct mote_tls_ring *ring, size_t count);
