// Small made-up databases of other gateways, with the columns that an import reads and some of the
// oddities of real ones; and the recorded samples, which lie beside the repository on some machines.
import assert from 'node:assert/strict';
import { createCipheriv, hash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Client } from 'pg';
import { createEmptyDatabase } from './postgres.ts';
import { currentStore } from './test-store.ts';

const recorded = join(import.meta.dirname, '..', '..', '..', 'shared', 'recordings', 'imports');

/** Registers a test of a recorded sample, which is skipped without it, and fails then under CI. */
export function testRecorded(
  name: string,
  body: (read: (file: string) => string) => Promise<void>,
): void {
  test(name, async (t) => {
    if (existsSync(recorded)) return body((file) => readFileSync(join(recorded, file), 'utf8'));
    assert.ok(!process.env['CI'], `no samples in ${recorded}`);
    t.diagnostic(`no samples in ${recorded}`);
    t.skip();
  });
}

/** Makes a database from statements; a file is removed when the process ends. Returns its URL. */
export async function makeForeign(
  store: 'sqlite' | 'postgres',
  ...scripts: readonly string[]
): Promise<string> {
  if (store === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-foreign-'));
    process.once('exit', () => rmSync(folder, { recursive: true }));
    const file = join(folder, 'other.db');
    const connection = new DatabaseSync(file);
    for (const script of scripts) connection.exec(script);
    connection.close();
    return file;
  }
  const url = await createEmptyDatabase();
  await runOn(url, ...scripts);
  return url;
}

/** Changes a database of `makeForeign`. */
export async function runOn(url: string, ...scripts: readonly string[]): Promise<void> {
  if (!url.startsWith('postgres')) {
    const connection = new DatabaseSync(url);
    for (const script of scripts) connection.exec(script);
    return connection.close();
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const script of scripts) await client.query(script);
  await client.end();
}

export const newApiKeys = {
  ada: 'AdaAdaAdaAdaAdaAdaAdaAdaAdaAdaAdaAdaAdaAdaAdaAda',
  limited: 'LimLimLimLimLimLimLimLimLimLimLimLimLimLimLimLim',
  bob: 'BobBobBobBobBobBobBobBobBobBobBobBobBobBobBobBob',
};

/** new-api: an active user of a dearer group, a disabled one in debt, a deleted one. */
export function newApiSample(upstreamUrl: string): string {
  return `
create table users (id bigint primary key, username text, display_name text, role bigint, status bigint,
  email text, quota bigint, used_quota bigint, "group" text, deleted_at text, stripe_customer text);
insert into users values
  (1, 'ada', 'Ada', 100, 1, 'ada@example.com', 1000001, 5, 'vip', null, ''),
  (2, 'bob', '', 1, 2, '', -3, 0, 'default', null, ''),
  (3, 'eve', 'Eve', 1, 1, 'eve@example.com', 7, 0, 'default', '2026-01-01', '');
create table tokens (id bigint primary key, user_id bigint, "key" text, status bigint, name text,
  expired_time bigint, remain_quota bigint, unlimited_quota numeric, model_limits_enabled numeric,
  model_limits text, allow_ips text, "group" text, deleted_at text);
insert into tokens values
  (1, 1, '${newApiKeys.ada}', 1, 'ada', -1, 0, 1, 0, '', '', '', null),
  (2, 1, '${newApiKeys.limited}', 1, 'limited', 4102444800, 250000, 0, 1, 'house,nowhere', '127.0.0.0/8', '', null),
  (3, 2, '${newApiKeys.bob}', 1, 'of bob', -1, 0, 1, 0, '', '', '', null),
  (4, 1, 'short', 1, 'short', -1, 0, 1, 0, '', '', '', null),
  (5, 1, 'OldOldOldOldOldOldOldOld', 1, 'old', 1000, 0, 1, 0, '', '', '', null),
  (6, 1, 'GonGonGonGonGonGonGonGon', 1, 'gone', -1, 0, 1, 0, '', '', '', '2026-01-01'),
  (7, 3, 'EveEveEveEveEveEveEveEve', 1, 'of eve', -1, 0, 1, 0, '', '', '', null);
create table channels (id bigint primary key, type bigint, "key" text, status bigint, name text,
  weight bigint, base_url text, models text, "group" text, model_mapping text, priority bigint,
  channel_info text);
insert into channels values
  (1, 1, 'sk-one', 1, 'Main host', 0, '${upstreamUrl}', 'house,secret', 'vip', '{"house":"mid-house","mid-house":"gpt-house"}', 5, ''),
  (2, 8, '["sk-two","sk-off","sk-three"," sk-two"]', 1, 'Main host', 3, '${upstreamUrl}/local', 'house', 'vip,default', '', 1,
    '{"multi_key_status_list":{"1":2}}'),
  (3, 33, 'x', 1, 'Cloud', 0, '', 'house', 'vip', '', 0, ''),
  (4, 77, 'x', 1, 'Fork', 0, '', 'house', 'vip', '', 0, ''),
  (5, 1, 'x', 2, 'Off', 0, '', 'house', 'vip', '', 0, '');
create table options ("key" text primary key, value text);
insert into options values ('QuotaPerUnit', '500000'), ('ModelRatio', '{"house":0.625,"secret":1}'),
  ('CompletionRatio', '{"house":8}'), ('CacheRatio', '{"house":0.1}'), ('GroupRatio', '{"default":1,"vip":1.5}');
create table user_subscriptions (id bigint primary key, user_id bigint, amount_total bigint, amount_used bigint, status text);
insert into user_subscriptions values (1, 1, 500000, 100000, 'active');
create table redemptions (id bigint primary key, "key" text, status bigint, quota bigint, deleted_at text);
insert into redemptions values (1, 'x', 1, 500000, null), (2, 'y', 3, 500000, null);
`;
}

/** The other store than the gateway's, so that each is read by a gateway on each. */
export function otherStore(): 'sqlite' | 'postgres' {
  return currentStore() === 'sqlite' ? 'postgres' : 'sqlite';
}

const saltKey = 'sk-made-up-salt-of-the-tests';
/** LiteLLM's settings of `liteLlmSample`. */
export const liteLlmEnvironment = { LITELLM_SALT_KEY: saltKey };
export const liteLlmKeys = {
  ada: 'sk-adaadaadaadaadaadaada0',
  teamNew: 'sk-teamteamteamteamteam_1',
  teamOld: 'sk-oldoldoldoldoldold-old',
  blocked: 'sk-blockedblockedblocked',
  chosen: 'a-chosen-key-without-prefix',
};

/** Seals as LiteLLM does now. */
function seal(plain: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', hash('sha256', saltKey, 'buffer'), nonce);
  const sealed = [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
  return `v2:gcm:${Buffer.concat(sealed).toString('base64url')}`;
}

/** LiteLLM of 2025: a team with two models and a user of its own, in few of the real columns. */
export function liteLlmSample(upstreamUrl: string): string {
  const params = (model: string, more: object = {}) =>
    JSON.stringify({
      model: seal(model),
      api_base: seal(`${upstreamUrl}/v1`),
      api_key: seal('sk-one'),
      ...more,
    });
  const digest = (key: string) => hash('sha256', key);
  return `
create table "LiteLLM_BudgetTable" (budget_id text primary key, max_budget double precision, budget_duration text, rpm_limit bigint);
insert into "LiteLLM_BudgetTable" values ('b', 0.01, '30d', 60);
create table "LiteLLM_TeamTable" (team_id text primary key, team_alias text, models text[], members_with_roles jsonb,
  max_budget double precision, budget_duration text, blocked boolean);
insert into "LiteLLM_TeamTable" values ('t', 'Team', '{house,other}', '[{"user_id":"u","role":"admin"}]', 5, '7d', false);
create table "LiteLLM_UserTable" (user_id text primary key, user_email text, models text[]);
insert into "LiteLLM_UserTable" values ('u', 'ada@example.com', '{}');
create table "LiteLLM_VerificationToken" (token text primary key, key_name text, key_alias text, user_id text, team_id text,
  budget_id text, spend double precision, max_budget double precision, budget_duration text, models text[], aliases jsonb,
  metadata jsonb, expires timestamp(3), blocked boolean, tpm_limit bigint, rpm_limit bigint, created_at timestamp(3));
insert into "LiteLLM_VerificationToken" values
  ('${digest(liteLlmKeys.ada)}', 'sk-...ada0', 'ada', 'u', null, null, 0.1, 0.3, '1d', '{}', '{"mine":"house"}', '{}', null, null, 500000, 7, '2026-01-01 00:00:00.001'),
  ('${digest(liteLlmKeys.teamNew)}', 'sk-...am_1', 'team', 'u', 't', 'b', 0, null, null, '{all-team-models}', '{}', '{}', null, false, null, null, '2026-01-01 00:00:00.002'),
  ('${digest(liteLlmKeys.blocked)}', 'sk-...cked', 'blocked', null, null, null, 0, 7, '7d', '{}', '{}', '{}', null, true, null, null, '2026-01-01 00:00:00.003'),
  ('${digest(liteLlmKeys.chosen)}', 'sk-...efix', 'chosen', 'u', null, null, 0, null, null, '{}', '{}', '{}', null, null, null, null, null);
create table "LiteLLM_DeprecatedVerificationToken" (id text primary key, token text, active_token_id text, revoke_at timestamp(3));
insert into "LiteLLM_DeprecatedVerificationToken" values ('d', '${digest(liteLlmKeys.teamOld)}', '${digest(liteLlmKeys.teamNew)}', '2100-01-01');
create table "LiteLLM_ProxyModelTable" (model_id text primary key, model_name text, litellm_params jsonb, model_info jsonb);
insert into "LiteLLM_ProxyModelTable" values
  ('1', 'house', '${params('openai/gpt-house', { input_cost_per_token: 1.25e-6, output_cost_per_token: 1e-5 })}', '{}'),
  ('2', 'other', '${params('hosted_vllm/llama')}', '{}'),
  ('3', 'vectors', '${params('openai/vectors-house', { input_cost_per_token: 2e-8 })}', '{"mode":"embedding"}');
`;
}
