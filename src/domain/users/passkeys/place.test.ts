import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passkeyPlaceOf } from './place.ts';

const cases: Readonly<Record<string, string | null>> = {
  'https://llm.example.com': 'https://llm.example.com llm.example.com',
  'https://llm.example.com:8443': 'https://llm.example.com:8443 llm.example.com',
  'https://example.com/gateway': 'https://example.com example.com',
  'https://gateway': 'https://gateway gateway',
  'http://localhost:4000': 'http://localhost:4000 localhost',
  'http://tollgate.localhost': 'http://tollgate.localhost tollgate.localhost',
  'https://localhost': 'https://localhost localhost',
  'http://llm.example.com': null,
  'http://localhost.example.com': null,
  'http://127.0.0.1:4000': null,
  'https://10.0.0.7': null,
  'https://[::1]:4000': null,
  'http://[::1]': null,
};

for (const [url, expected] of Object.entries(cases))
  test(`passkeys at ${url}: ${expected ?? 'impossible'}`, () => {
    const place = passkeyPlaceOf(url);
    assert.equal(place && `${place.origin} ${place.rpId}`, expected);
  });
