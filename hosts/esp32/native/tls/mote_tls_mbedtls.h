// mbedTLS, configured exactly as ESP-IDF's own CMakeLists.txt does: other options mean other
// structures. The SDK's makefile passes neither these options nor half of the include folders, see
// manifest.json of the folder above.
#pragma once
#ifdef ESP_PLATFORM
#include "sdkconfig.h"
#undef MBEDTLS_CONFIG_FILE
#define MBEDTLS_CONFIG_FILE "mbedtls/esp_config.h"
#undef TF_PSA_CRYPTO_USER_CONFIG_FILE
#define TF_PSA_CRYPTO_USER_CONFIG_FILE "mbedtls/esp_config.h"
#define MBEDTLS_MAJOR_VERSION 4
#else
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#endif
#include "mbedtls/build_info.h"
#include "mbedtls/platform.h"
#include "mbedtls/platform_util.h"
#include "mbedtls/ssl.h"
#include "mbedtls/x509_crt.h"
#include "psa/crypto.h"

/** For another version, check the private members used in mote_tls_{buffer,connection,trust}.c. */
_Static_assert(MBEDTLS_VERSION_NUMBER >> 16 == 0x0400, "mote_tls: written for the private members of mbedTLS 4.0");
