import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml } from '../../../tests/support/config-file.ts';
import { loadCatalog } from '../../domain/catalog/load-catalog.ts';
import { systemClock } from '../../lib/clock.ts';
import { examineConfig } from './set-up-findings.ts';

test('what leads browsers back here needs the public address', () => {
  const found = (text: string) => {
    const config = loadYaml(text);
    return JSON.stringify(examineConfig(config, loadCatalog(config), systemClock.nowMs()));
  };
  const needed = /need the address of this gateway/;
  const smtp = 'smtp: { url: "smtp://mail.example", from: a@b.c }\n';
  const oidc = 'oidc: { issuer: "https://id.example", client_id: a, client_secret: b }\n';
  for (const text of [smtp, oidc]) {
    assert.match(found(text), needed, text);
    assert.doesNotMatch(found(`${text}server: { public_url: "https://h" }\n`), needed);
  }
  assert.doesNotMatch(found('log: {}\n'), needed);
});
