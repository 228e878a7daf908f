// The guards of idempotency, taken out in turn, in its own folder and where the gateway uses it: its tests must notice.
import { testMutations } from '../../support/mutations.ts';

const claims = 'idempotency/claims.ts';
const idempotency = 'idempotency/idempotency.ts';
const name = 'idempotency/request-name.ts';
const watchers = ['src/idempotency/request-name.test.ts', 'tests/contract/idempotency.test.ts # on SQLite'];
/** The whole program, over HTTP. */
const chat = (pattern: string) => [`tests/integration/idempotency.test.ts # on SQLite .*${pattern}`];
const repeat = 'a repeat gets the stored answer';

testMutations(watchers, {
  'a key of any length and any characters is taken': {
    file: name,
    guard: 'if (!pattern.test(idempotencyKey)) {',
    without: 'if (false as boolean) {',
  },
  'the path is no part of what a key stands for': { file: name, guard: '${method} ${path}\\n', without: '${method}\\n' },
  'the body is no part of what a key stands for': { file: name, guard: '.update(canonicalJson(body))', without: '' },
  'a stored answer never expires': {
    file: claims,
    guard: 'row.living_owner === null : row.expires_at_ms <= nowMs;',
    without: 'row.living_owner === null : false;',
  },
  'the key of a process that is gone is never free': {
    file: claims,
    guard: 'row.expires_at_ms === null ? row.living_owner === null :',
    without: 'row.expires_at_ms === null ? false :',
  },
  'a claim takes a key that another process runs under': {
    file: claims,
    guard: `
        and not exists (select 1 from hold_owners where hold_owners.owner = idempotent_responses.owner))`,
    without: ')',
  },
  'a claim takes a key under which an answer is stored': {
    file: claims,
    guard: 'where idempotent_responses.expires_at_ms <= ${nowMs}',
    without: 'where idempotent_responses.expires_at_ms is not null',
  },
  'the end of a claim that was lost frees the key of another': {
    file: claims,
    guard: `    .where('key_digest', '=', keyDigest)
    .where('request_id', '=', requestId)
    .where('state', '=', 'running')
    .execute();`,
    without: `    .where('key_digest', '=', keyDigest)
    .where('state', '=', 'running')
    .execute();`,
  },
  'the end of a claim frees a key under which an answer is stored': {
    file: claims,
    guard: `    .where('request_id', '=', requestId)
    .where('state', '=', 'running')
    .execute();`,
    without: `    .where('request_id', '=', requestId)
    .execute();`,
  },
  'rows of living processes are removed': {
    file: claims,
    guard: `where('owner', 'not in', (from) => from.selectFrom('hold_owners').select('owner')),`,
    without: '',
  },
  'an answer is kept for a week': { file: 'idempotency/claim.ts', guard: 'keptForMs: dayMs,', without: 'keptForMs: 7 * dayMs,' },
  'a key that could not be freed stays taken': {
    file: 'idempotency/claim.ts',
    guard: 'void this.#releaseLater();',
    without: 'void 0;',
  },
  'another request under the key gets the stored answer': {
    file: idempotency,
    guard: `if (row && row.fingerprint !== name.fingerprint) return { kind: 'conflict' };`,
    without: '',
  },
  'another request under the key waits for the one that runs': {
    file: idempotency,
    guard: '} else if (turn.isConfirmed) {',
    without: '} else if (false as boolean) {',
  },
  'another request under the key gets the answer of the one that runs': {
    file: idempotency,
    guard: 'if (turn.fingerprint === name.fingerprint) {',
    without: 'if (true as boolean) {',
    watchers: chat('another body'),
  },
  'a key stays taken when its request has ended': {
    file: 'gateway/run-once.ts',
    guard: 'await claim.end();',
    without: '',
    watchers: chat('a failure is not stored'),
  },
  'an error goes into a stream that was opened by nobody': {
    file: 'gateway/run-once.ts',
    guard: 'if (!waiting.openStream || !(error instanceof ApiError)) throw error;',
    without: 'if (!(error instanceof ApiError)) throw error;',
    watchers: chat('another body'),
  },
  'an error never goes into the stream that waits for it': {
    file: 'gateway/run-once.ts',
    guard: 'if (!waiting.openStream || !(error instanceof ApiError)) throw error;',
    without: 'if (waiting || !(error instanceof ApiError)) throw error;',
    watchers: chat('an unbegun stream'),
  },
  'an answer that was not kept is replayed empty': {
    file: 'gateway/replay.ts',
    guard: 'if (body === null) throw bodyNotRetained(admitted);',
    without: `if (body === null) return client.sendAnswer('', {});`,
    watchers: chat('too long to be kept'),
  },
  'an answer of any length is kept': {
    file: 'gateway/keeping.ts',
    guard: 'body: retainsBodies ? bodyWithin(claim.bodyBytesMax) : null',
    without: 'body: retainsBodies ? response.body : null',
    watchers: chat('too long to be kept'),
  },
  'an answer is charged and not stored': {
    file: 'gateway/keeping.ts',
    guard: '...(stored && { stored }), ',
    without: '',
    watchers: chat(repeat),
  },
  'the comment that tells the cost is stored': {
    file: 'gateway/stream.ts',
    guard: "lastFrames.replace(`${place}\\n\\n`, '')",
    without: 'lastFrames',
    watchers: chat(repeat),
  },
  'what a client that left was not sent is not stored': {
    file: 'gateway/output.ts',
    guard: `    this.#recording?.add(frames);
    if (this.#running.client.isGone()) return;`,
    without: `    if (this.#running.client.isGone()) return;
    this.#recording?.add(frames);`,
    watchers: chat('drops at any event'),
  },
  'the upstream is stopped some seconds after the client of a key has left': {
    file: 'gateway/running.ts',
    guard: 'const isNeeded = () => !client.isGone() || keeping.isAwaited;',
    without: 'const isNeeded = () => !client.isGone();',
    watchers: chat('long after its client has left'),
  },
  'the answer of a key is replayed to one that may not use the model': {
    file: 'gateway/run.ts',
    guard: '  checkPermission(key, work.modelId);\n',
    without: '',
    watchers: chat('the model list applies'),
  },
  'a late answer is told as a success': {
    file: 'gateway/answer.ts',
    guard: 'if (!charge) throw takenOver();',
    without: `if (!charge) return client.sendAnswer(body, {});`,
    watchers: ['tests/integration/idempotency-replicas.test.ts # stands still'],
  },
  'the stream of a late answer is told as a success': {
    file: 'gateway/stream.ts',
    guard: 'if (!charge || charge instanceof ApiError) return tell(running, pipe, output, charge ?? takenOver());',
    without: 'if (!charge || charge instanceof ApiError) return output.end(lastFrames, {});',
    watchers: ['tests/integration/idempotency-replicas.test.ts # stands still'],
  },
});
