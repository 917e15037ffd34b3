// An authority, and a certificate that it signed for localhost and 127.0.0.1 with its key: of no use to anybody else. Remade by
//   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj "/CN=mote test authority" \
//     -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" -keyout ca.key -out ca.pem
//   openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=server" -keyout server.key -out server.csr
//   openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 36500 -out server.pem \
//     -extfile <(printf "subjectAltName=DNS:localhost,IP:127.0.0.1\\nbasicConstraints=critical,CA:FALSE\\n")

export const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBpDCCAUmgAwIBAgIUXh3s8OjaBEyZuQA6ocxClBE7+VYwCgYIKoZIzj0EAwIw
HjEcMBoGA1UEAwwTbW90ZSB0ZXN0IGF1dGhvcml0eTAgFw0yNjExMjExNTI3NDBa
GA8yMTI2MTAyODE1Mjc0MFowHjEcMBoGA1UEAwwTbW90ZSB0ZXN0IGF1dGhvcml0
eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLuhBnzYPEljzsm8g8PaW1QD7mvU
R+5X0BH3yjypmBzo9nzZMeWiaF0x53rt6WykzgdpWM5tXUAYc0VHFHLHunejYzBh
MB0GA1UdDgQWBBTVHGRj1Qex83l+Oti07TtFIWG/sTAfBgNVHSMEGDAWgBTVHGRj
1Qex83l+Oti07TtFIWG/sTAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIC
BDAKBggqhkjOPQQDAgNJADBGAiEApSTXbx+YB3epJsUSVHN85m4NVRUxzC1FHHnT
67aVZDUCIQDxiZU/qcEVW12TPS31HF8DsK+HYb9Dl3S+tP+3wD2WVA==
-----END CERTIFICATE-----
`;

export const SERVER = `-----BEGIN CERTIFICATE-----
MIIBoDCCAUWgAwIBAgIUKY8jdTKJYrcVmDP49IFLyefbHKkwCgYIKoZIzj0EAwIw
HjEcMBoGA1UEAwwTbW90ZSB0ZXN0IGF1dGhvcml0eTAgFw0yNjExMjExNTI3NDBa
GA8yMTI2MTAyODE1Mjc0MFowETEPMA0GA1UEAwwGc2VydmVyMFkwEwYHKoZIzj0C
AQYIKoZIzj0DAQcDQgAEEpg2Pg5J4NF61IqPXbVOGBm2dpaRkHTNu6i/Sfs/AGLD
sUAtRE0bKR+otCdN+aRZ1S6gLGb7rHMh4ceYZ0ZROaNsMGowGgYDVR0RBBMwEYIJ
bG9jYWxob3N0hwR/AAABMAwGA1UdEwEB/wQCMAAwHQYDVR0OBBYEFK4t7qlyCjGX
7a0cRUWFE7k1fKZMMB8GA1UdIwQYMBaAFNUcZGPVB7HzeX462LTtO0UhYb+xMAoG
CCqGSM49BAMCA0kAMEYCIQCpmOs4lXmGucVMZyJ2sK3W+epFal/5EYlA/11ZDcgg
mAIhAOrKnHPg+7Z+tdIKjbZ2oE7mVKaoRl0vKnUPTrCkNynY
-----END CERTIFICATE-----
`;

export const SERVER_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgf9IkPE+S0tj5xbSP
ZNfcRYIDvvbt5fAFmaSe0qPnInShRANCAAQSmDY+Dkng0XrUio9dtU4YGbZ2lpGQ
dM27qL9J+z8AYsOxQC1ETRspH6i0J035pFnVLqAsZvuscyHhx5hnRlE5
-----END PRIVATE KEY-----
`;
