// The methods of the class in digest.js.
#include "xsmc.h"
#include "xsHost.h"
#include "mc.xs.h"
#include "psa/crypto.h"
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	psa_algorithm_t algorithm;
} known[] = {
	{"MD5", PSA_ALG_MD5},
	{"SHA256", PSA_ALG_SHA_256},
	{"SHA384", PSA_ALG_SHA_384},
	{"SHA512", PSA_ALG_SHA_512},
};

static void give_up(psa_hash_operation_t *operation)
{
	psa_hash_abort(operation);
	free(operation);
}

/** Called for a digest that is collected before it was closed. */
void mote_digest_destructor(void *data)
{
	if (data)
		give_up(data);
}

static psa_algorithm_t algorithm_of(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].name, name))
			return known[i].algorithm;
	return PSA_ALG_NONE;
}

void mote_digest_constructor(xsMachine *the)
{
	char name[8];
	xsmcToStringBuffer(xsArg(0), name, sizeof name);
	psa_hash_operation_t *operation = calloc(1, sizeof *operation);
	if (!operation)
		xsUnknownError("no memory for a digest");
	if (psa_crypto_init() != PSA_SUCCESS || psa_hash_setup(operation, algorithm_of(name)) != PSA_SUCCESS) {
		give_up(operation);
		xsUnknownError("no such digest");
	}
	xsmcSetHostData(xsThis, operation);
}

static psa_hash_operation_t *open_operation(xsMachine *the)
{
	psa_hash_operation_t *operation = xsmcGetHostData(xsThis);
	if (!operation)
		xsUnknownError("the digest is closed");
	return operation;
}

void mote_digest_write(xsMachine *the)
{
	void *bytes;
	xsUnsignedValue length;
	psa_hash_operation_t *operation = open_operation(the);
	xsmcGetBufferReadable(xsArg(0), &bytes, &length);
	if (psa_hash_update(operation, bytes, length) != PSA_SUCCESS)
		xsUnknownError("digest failed");
}

void mote_digest_close(xsMachine *the)
{
	uint8_t digest[PSA_HASH_MAX_SIZE];
	size_t length;
	psa_hash_operation_t *operation = open_operation(the);
	psa_status_t status = psa_hash_finish(operation, digest, sizeof digest, &length);
	xsmcSetHostData(xsThis, NULL);
	give_up(operation);
	if (status != PSA_SUCCESS)
		xsUnknownError("digest failed");
	xsmcSetArrayBuffer(xsResult, digest, length);
}
