// Removes each guard of idempotency in turn, in its own folder and where the gateway uses it: tests
// must fail.
import { testMutations } from '../../support/mutations.ts';

const claims = 'domain/idempotency/claims.ts';
const idempotency = 'domain/idempotency/idempotency.ts';
const name = 'domain/idempotency/request-name.ts';
const watchers = [
  'src/domain/idempotency/request-name.test.ts',
  'tests/contract/idempotency.test.ts # on SQLite',
];
/** Tests of the whole program over HTTP. */
const chat = (pattern: string) => [
  `tests/integration/idempotency.test.ts # on SQLite .*${pattern}`,
];
const repeat = 'a repeat gets the stored answer';

testMutations(watchers, {
  'a key of any length and any characters is accepted': {
    file: name,
    guard: 'if (!pattern.test(idempotencyKey) || isBlank(idempotencyKey)) {',
    without: 'if (isBlank(idempotencyKey)) {',
  },
  'a blank key is accepted': { file: name, guard: ' || isBlank(idempotencyKey)', without: '' },
  'the path is not part of a request’s name': {
    file: name,
    guard: '${method} ${path}\\n',
    without: '${method}\\n',
  },
  'the body is not part of a request’s name': {
    file: name,
    guard: '${canonicalJson(body)}',
  },
  'a stored answer never expires': {
    file: claims,
    guard: 'row.living_owner === null : row.expires_at_ms <= nowMs;',
    without: 'row.living_owner === null : false;',
  },
  'the key of a dead process is never released': {
    file: claims,
    guard: 'row.expires_at_ms === null ? row.living_owner === null :',
    without: 'row.expires_at_ms === null ? false :',
  },
  'a claim takes a key that another process is using': {
    file: claims,
    guard: `
        and not exists (select 1 from hold_owners where hold_owners.owner = idempotent_responses.owner))`,
    without: ')',
  },
  'a claim takes a key with a stored answer': {
    file: claims,
    guard: 'where idempotent_responses.expires_at_ms <= ${nowMs}',
    without: 'where idempotent_responses.expires_at_ms is not null',
  },
  'the end of a lost claim releases another owner’s key': {
    file: claims,
    guard: `    .where('key_digest', '=', keyDigest)
    .where('request_id', '=', requestId)
    .where('state', '=', 'running')
    .execute();`,
    without: `    .where('key_digest', '=', keyDigest)
    .where('state', '=', 'running')
    .execute();`,
  },
  'the end of a claim releases a key with a stored answer': {
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
  },
  'an answer is kept for a week': {
    file: 'domain/idempotency/claim.ts',
    guard: 'keptForMs: dayMs,',
    without: 'keptForMs: 7 * dayMs,',
  },
  'a key that could not be released stays taken': {
    file: 'domain/idempotency/claim.ts',
    guard: 'void this.#releaseLater();',
    without: 'void 0;',
  },
  'another request under the key gets the stored answer': {
    file: idempotency,
    guard: `if (row && row.fingerprint !== name.fingerprint) return { kind: 'conflict' };`,
  },
  'another request under the key waits for the running one': {
    file: idempotency,
    guard: '} else if (run.isConfirmed) {',
    without: '} else if (false as boolean) {',
  },
  'another request under the key gets the answer of the running one': {
    file: idempotency,
    guard: 'if (run.fingerprint === name.fingerprint) {',
    without: 'if (true as boolean) {',
    watchers: chat('another body'),
  },
  'a key stays taken when its request has ended': {
    file: 'gateway/replaying/answer-once.ts',
    guard: 'await begun.claim.end();',
    watchers: chat('a failure is not stored'),
  },
  'an error is written into a stream that was not opened': {
    file: 'gateway/replaying/answer-once.ts',
    guard: 'if (!waiting.openStream || !(error instanceof ApiError)) throw error;',
    without: 'if (!(error instanceof ApiError)) throw error;',
    watchers: chat('another body'),
  },
  'an error is never written into the waiting stream': {
    file: 'gateway/replaying/answer-once.ts',
    guard: 'if (!waiting.openStream || !(error instanceof ApiError)) throw error;',
    without: 'if (waiting || !(error instanceof ApiError)) throw error;',
    watchers: chat('a waiting stream that was opened early'),
  },
  'an answer that was not stored is replayed empty': {
    file: 'gateway/replaying/replay.ts',
    guard: 'if (body === null) throw bodyNotRetained();',
    without: `if (body === null) return client.sendAnswer('', {});`,
    watchers: chat('too long to be stored'),
  },
  'an answer of any length is stored': {
    file: 'gateway/replaying/answer-once.ts',
    guard: 'if (!claim) return false;',
    without: 'if (claim) return true;',
    watchers: chat('too long to be stored'),
  },
  'any number of free answers is stored': {
    file: 'gateway/replaying/answer-once.ts',
    guard:
      "(!isFree || (await gateway.answers.dailyBytes.take('free', key.accountId, packedBytes)))",
    without: "(!isFree || (await gateway.answers.dailyBytes.take('free', key.accountId, 0)))",
    watchers: ['tests/integration/free-bytes.test.ts # answers of test keys'],
  },
  'any number of cache hits is stored': {
    file: 'gateway/replaying/answer-once.ts',
    guard: 'mayStore(bytes, { isFree: true })',
    without: 'mayStore(bytes, { isFree: false })',
    watchers: ['tests/integration/free-bytes.test.ts # cache hits'],
  },
  'any number of free images is stored': {
    file: 'gateway/sales/image-sale.ts',
    guard: "gateway.answers.dailyBytes.take('free', key.accountId, bytes)",
    without: "gateway.answers.dailyBytes.take('free', key.accountId, 0)",
    watchers: ['tests/integration/free-bytes.test.ts # images of test keys'],
  },
  'images of live keys take the room of free ones': {
    file: 'gateway/sales/image-sale.ts',
    guard: "key.mode !== 'test' || request.responseFormat",
    without: 'request.responseFormat',
    watchers: ['tests/integration/free-bytes.test.ts # images of live keys'],
  },
  'charged answers take the room of free ones': {
    file: 'gateway/charging/open-hold.ts',
    guard: `key.mode === 'test' || costMicros === 0`,
    without: `key.mode === 'test' || costMicros >= 0`,
    watchers: ['tests/integration/free-bytes.test.ts # cache hits'],
  },
  'a charged answer is not stored': {
    file: 'gateway/charging/answer-storage.ts',
    guard: '...(stored && { stored }), ',
    watchers: chat(repeat),
  },
  'a stream is stored with a cost': {
    file: 'gateway/answering/stream.ts',
    guard: 'output.recordedWith(pipe.close(0))',
    without: 'output.recordedWith(pipe.close(1))',
    watchers: ['tests/integration/cost-in-usage.test.ts # a replay and a hit are the first answer'],
  },
  'a whole answer is stored with its cost': {
    file: 'gateway/answering/answer.ts',
    guard: '`${upToCost}0}}`',
    without: '`${upToCost}1}}`',
    watchers: ['tests/integration/cost-in-usage.test.ts # a replay and a hit are the first answer'],
  },
  'output that a client that left did not get is not stored': {
    file: 'gateway/answering/output.ts',
    guard: `    this.#recording?.add(frames);
    if (this.#held.running.client.isGone()) return;`,
    without: `    if (this.#held.running.client.isGone()) return;
    this.#recording?.add(frames);`,
    watchers: chat('drops at any event'),
  },
  'the upstream is stopped some seconds after the client of an Idempotency-Key has left': {
    file: 'gateway/audience.ts',
    guard: 'return !client.isGone() || storage.isAwaited;',
    without: 'return !client.isGone();',
    watchers: ['tests/integration/disconnects.test.ts # chat-stream-key-two-frames-late'],
  },
  'an answer is replayed to an API key that may not use the model': {
    file: 'gateway/admission/admit.ts',
    guard: '  checkPermission(key, sale.modelId);\n',
    watchers: chat('the key must allow the model'),
  },
  'a late answer is reported as a success': {
    file: 'gateway/charging/under-hold.ts',
    guard: 'if (!charge) throw takenOver();',
    without: 'if (!charge) return { costMicros: zeroMicros, balanceCents: 0 };',
    watchers: ['tests/integration/idempotency-replicas.test.ts # a gateway stalls'],
  },
});

// The admin API's answers.
const kept = 'domain/idempotency/kept-answers.ts';

testMutations(['tests/contract/kept-answers.test.ts # on SQLite'], {
  'an admin request with another body gets the kept answer': {
    file: kept,
    guard: `if (row.fingerprint !== fingerprint) return { kind: 'conflict' };`,
  },
  'a claim of the admin API takes a key with a kept answer': {
    file: kept,
    guard: 'where admin_answers.expires_at_ms <= ${nowMs}',
    without: 'where admin_answers.expires_at_ms >= 0',
  },
  'an answer of the admin API is never kept': {
    file: kept,
    guard: '.set({ body })',
    without: '.set({ body: null })',
  },
  'kept answers are removed before they expire': {
    file: kept,
    guard: 'where expires_at_ms <= ${nowMs} limit',
    without: 'where expires_at_ms >= 0 limit',
  },
});
