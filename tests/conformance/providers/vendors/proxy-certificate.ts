/**
 * The certificate is of a proxy that ends TLS, for the hosts of AWS that tests ask for. It is self-signed and valid
 * until 2126. The key is published here: use it in tests only.
 */
export const PROXY_CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzZYO7KTlrwRCPELB
PSplDpxOACTk8ypFAbMiCA+SrbqhRANCAARH7xC64bk4at6b+tUQjps1EwIBzlh3
uE5UAjWqZ0H1CTBLO/qoPzKm58xlbq3fLFRGvIqss+RyUwxXtmRvMq5z
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIB9zCCAZ2gAwIBAgIUe2QVFHpaEt7H7I6bRiVJ9v3NBtAwCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwSSW50ZXJjZXB0aW5nIHByb3h5MCAXDTI2MTEyMzA1MDUwMVoY
DzIxMjYxMDMwMDUwNTAxWjAdMRswGQYDVQQDDBJJbnRlcmNlcHRpbmcgcHJveHkw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARH7xC64bk4at6b+tUQjps1EwIBzlh3
uE5UAjWqZ0H1CTBLO/qoPzKm58xlbq3fLFRGvIqss+RyUwxXtmRvMq5zo4G4MIG1
MB0GA1UdDgQWBBRMhpCGq8HLRziGIaqn0kd++eyfwDAfBgNVHSMEGDAWgBRMhpCG
q8HLRziGIaqn0kd++eyfwDAPBgNVHRMBAf8EBTADAQH/MGIGA1UdEQRbMFmCHCou
ZXUtY2VudHJhbC0xLmFtYXpvbmF3cy5jb22CInBvcnRhbC5zc28uZXUtd2VzdC0x
LmFtYXpvbmF3cy5jb22CFW9hdXRoMi5nb29nbGVhcGlzLmNvbTAKBggqhkjOPQQD
AgNIADBFAiEAwARBI+cUmMljltxnh+90uAg9Js47qvQEtNhmezwfsnECIBz7gHah
0hNH5dz68FeDvMcFCCDwZR6SbHkzxc/stdAq
-----END CERTIFICATE-----
`,
};
