// A ring of bytes between two tasks. It has memory only while it holds bytes, and no lock.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mote_tls_ring {
	/** NULL while it has no memory. */
	uint8_t *bytes;
	size_t size;
	/** The place of the oldest byte. */
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
/** Copies as many bytes as fit, and returns their number. */
size_t mote_tls_ring_put(struct mote_tls_ring *ring, const uint8_t *from, size_t count);
/** Copies as many bytes as it holds, and returns their number. */
size_t mote_tls_ring_take(struct mote_tls_ring *ring, uint8_t *into, size_t count);
/** The oldest bytes in one piece, and their number. They stay until `mote_tls_ring_used`. */
uint8_t *mote_tls_ring_oldest(const struct mote_tls_ring *ring, size_t *count);
void mote_tls_ring_used(struct mote_tls_ring *ring, size_t count);
/** Free bytes after the newest one in one piece, and their number: see `mote_tls_ring_added`. */
uint8_t *mote_tls_ring_room(const struct mote_tls_ring *ring, size_t *count);
void mote_tls_ring_added(struct mote_tls_ring *ring, size_t count);
