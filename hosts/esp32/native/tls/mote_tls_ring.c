#include "mote_tls_ring.h"
#include <stdlib.h>
#include <string.h>

void mote_tls_ring_begin(struct mote_tls_ring *ring, size_t size)
{
	*ring = (struct mote_tls_ring){.size = size};
}

bool mote_tls_ring_reserve(struct mote_tls_ring *ring)
{
	if (!ring->bytes)
		ring->bytes = malloc(ring->size);
	return ring->bytes != NULL;
}

void mote_tls_ring_trim(struct mote_tls_ring *ring)
{
	if (ring->filled > 0)
		return;
	free(ring->bytes);
	ring->bytes = NULL;
	ring->first = 0;
}

void mote_tls_ring_drop(struct mote_tls_ring *ring)
{
	free(ring->bytes);
	*ring = (struct mote_tls_ring){0};
}

uint8_t *mote_tls_ring_oldest(const struct mote_tls_ring *ring, size_t *count)
{
	size_t behind = ring->size - ring->first;
	*count = ring->filled < behind ? ring->filled : behind;
	return ring->bytes + ring->first;
}

void mote_tls_ring_used(struct mote_tls_ring *ring, size_t count)
{
	ring->filled -= count;
	ring->first += count;
	if (ring->first >= ring->size)
		ring->first -= ring->size;
}

uint8_t *mote_tls_ring_room(const struct mote_tls_ring *ring, size_t *count)
{
	size_t at = ring->first + ring->filled;
	if (at >= ring->size) {
		at -= ring->size;
		*count = ring->first - at;
	}
	else
		*count = ring->size - at;
	if (ring->filled == ring->size)
		*count = 0;
	return ring->bytes + at;
}

void mote_tls_ring_added(struct mote_tls_ring *ring, size_t count)
{
	ring->filled += count;
}

size_t mote_tls_ring_put(struct mote_tls_ring *ring, const uint8_t *from, size_t count)
{
	size_t done = 0, room;
	while (done < count) {
		uint8_t *into = mote_tls_ring_room(ring, &room);
		if (room == 0)
			break;
		if (room > count - done)
			room = count - done;
		memcpy(into, from + done, room);
		mote_tls_ring_added(ring, room);
		done += room;
	}
	return done;
}

size_t mote_tls_ring_take(struct mote_tls_ring *ring, uint8_t *into, size_t count)
{
	size_t done = 0, there;
	while (done < count) {
		uint8_t *from = mote_tls_ring_oldest(ring, &there);
		if (there == 0)
			break;
		if (there > count - done)
			there = count - done;
		memcpy(into + done, from, there);
		mote_tls_ring_used(ring, there);
		done += there;
	}
	return done;
}
