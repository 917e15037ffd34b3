#include "tls_ring.h"
#include <stdlib.h>
#include <string.h>

void tls_ring_begin(struct tls_ring *ring, size_t size)
{
	*ring = (struct tls_ring){.size = size};
}

bool tls_ring_have(struct tls_ring *ring)
{
	if (!ring->bytes)
		ring->bytes = malloc(ring->size);
	return ring->bytes != NULL;
}

void tls_ring_rest(struct tls_ring *ring)
{
	if (ring->filled > 0)
		return;
	free(ring->bytes);
	ring->bytes = NULL;
	ring->first = 0;
}

void tls_ring_drop(struct tls_ring *ring)
{
	free(ring->bytes);
	*ring = (struct tls_ring){0};
}

uint8_t *tls_ring_oldest(const struct tls_ring *ring, size_t *count)
{
	size_t behind = ring->size - ring->first;
	*count = ring->filled < behind ? ring->filled : behind;
	return ring->bytes + ring->first;
}

void tls_ring_used(struct tls_ring *ring, size_t count)
{
	ring->filled -= count;
	ring->first += count;
	if (ring->first >= ring->size)
		ring->first -= ring->size;
}

uint8_t *tls_ring_room(const struct tls_ring *ring, size_t *count)
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

void tls_ring_added(struct tls_ring *ring, size_t count)
{
	ring->filled += count;
}

size_t tls_ring_put(struct tls_ring *ring, const uint8_t *from, size_t count)
{
	size_t done = 0, room;
	while (done < count) {
		uint8_t *into = tls_ring_room(ring, &room);
		if (room == 0)
			break;
		if (room > count - done)
			room = count - done;
		memcpy(into, from + done, room);
		tls_ring_added(ring, room);
		done += room;
	}
	return done;
}

size_t tls_ring_take(struct tls_ring *ring, uint8_t *into, size_t count)
{
	size_t done = 0, there;
	while (done < count) {
		uint8_t *from = tls_ring_oldest(ring, &there);
		if (there == 0)
			break;
		if (there > count - done)
			there = count - done;
		memcpy(into + done, from, there);
		tls_ring_used(ring, there);
		done += there;
	}
	return done;
}
