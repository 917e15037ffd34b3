// mbedTLS as ESP-IDF's own CMakeLists.txt configures it, to the letter: other options are other structures. The SDK's makefile knows neither them nor the place of half
// of the headers (manifest.json of this folder).
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
