// Ways to break the product, each in one place: money, formats, access, limits, replay, streams, the dashboard. For each, tests of
// `npm test` fail.
import { testMutations } from '../../support/mutations.ts';

const integration = (file: string, pattern: string) => [`tests/integration/${file}.test.ts # ${pattern}`];
const answers = 'tests/answers.test.ts';

testMutations([], {
  // Money
  'a charge is rounded down': {
    file: 'lib/money.ts',
    guard: 'return micros(Number((picodollars + picosPerMicro - 1n) / picosPerMicro));',
    without: 'return micros(Number(picodollars / picosPerMicro));',
    watchers: ['src/lib/money.test.ts'],
  },
  'a price that lies in the future is in effect': {
    file: 'catalog/price.ts',
    guard: 'return model.prices.find((version) => version.effectiveFromMs <= nowMs) ?? null;',
    without: 'return model.prices[0] ?? (nowMs > 0 ? null : null);',
    watchers: ['src/catalog/price.test.ts'],
  },
  'the markup is applied to prices that the operator stated': {
    file: 'catalog/price.ts',
    guard: 'const factor = factorOf({ markup, multiplierPpm }, version);',
    without: 'const factor = factorOf({ markup, multiplierPpm }, { isListPrice: false });',
    watchers: ['src/catalog/price.test.ts'],
  },
  'the hold forgets that each choice has an output of its own': {
    file: 'catalog/price.ts',
    guard: 'const outputTokens = BigInt(request.outputTokens) * BigInt(request.choices);',
    without: 'const outputTokens = BigInt(request.outputTokens);',
    watchers: ['src/catalog/price.test.ts # covers every way'],
  },
  'a failed request is charged nothing and its hold stays': {
    file: 'gateway/settle.ts',
    guard: 'const outcome = await gateway.ledger.submit(release);',
    without: `const outcome = { type: 'released' } as const;`,
    watchers: integration('money', 'a request that fails is free'),
  },
  'what a failed attempt had generated is nobody’s loss': {
    file: 'gateway/settle.ts',
    guard: 'if (lossMicros === 0) return;',
    without: 'if (lossMicros >= 0) return;',
    watchers: integration('routing', 'what an attempt had generated'),
  },
  'output that a provider has counted is lost with the input that it has not': {
    file: 'canonical/usage.ts',
    guard: 'outputTokens: hasOutput ? counted.outputTokens : tokensFromBytes(outputBytes),',
    without: 'outputTokens: tokensFromBytes(outputBytes),',
    watchers: integration('half-usage', 'no input is counted, chat on messages, streamed'),
  },
  'what is written unseen is free for a client that leaves': {
    file: 'gateway/used.ts',
    guard: 'const unseenBytes = unseen.tokens',
    without: 'const unseenBytes = 0 * unseen.tokens',
    watchers: integration('disconnects', 'a client that says it will send no more'),
  },
  'silence outweighs what the provider has counted': {
    file: 'gateway/unseen-output.ts',
    guard: 'if (countedTokens === this.#countedTokens) return;',
    without: 'if (countedTokens >= 0) return;',
    watchers: integration('unseen-output', 'what the provider has counted'),
  },
  'what a killed process has cost is nobody’s loss': {
    file: 'ledger/core.ts',
    guard: 'return micros(Math.min(costMicros, amountMicros));',
    without: 'return micros(Math.min(costMicros, amountMicros) * 0);',
    watchers: ['src/ledger/sqlite-store.test.ts # after a kill'],
  },
  'cached tokens are billed twice': {
    file: 'formats/chat/usage.ts',
    guard: 'inputTokens: prompt - cacheRead - cacheWrite,',
    without: 'inputTokens: prompt - cacheWrite,',
    watchers: ['src/formats/chat/usage.test.ts'],
  },
  'thoughts of Gemini are not billed': {
    file: 'formats/gemini/usage.ts',
    guard: `outputTokens: count('candidatesTokenCount') + reasoningTokens,`,
    without: `outputTokens: count('candidatesTokenCount'),`,
    watchers: [answers],
  },
  'an answer that was billed is asked for again': {
    file: 'gateway/retry-policy.ts',
    guard: `if (isBilled) return 'never';`,
    without: '',
    watchers: integration('billed-failures', 'a call without a name'),
  },
  'what a provider bills for no answer is nobody’s loss': {
    file: 'gateway/settle.ts',
    guard: 'const hasRun = hasWritten || failure.isBilled',
    without: 'const hasRun = hasWritten && !failure.isBilled',
    watchers: integration('billed-failures', 'a call without a name'),
  },
  'a refund is not taken back': {
    file: 'billing/position.ts',
    guard: 'refund: negative(refundedMicros(known, paid.amountMicros)),',
    without: 'refund: negative(refundedMicros([], paid.amountMicros)),',
    watchers: ['src/billing/position.test.ts'],
  },
  'a whole answer is held for by a slice': {
    file: 'gateway/hold.ts',
    guard: 'if (!request.stream) return maxOutputTokens;',
    without: '',
    watchers: integration(
      'money',
      '(a request without a maximum|a maximum of the caller|n multiplies|the balance that a client sees)',
    ),
  },
  // Formats
  'the signature of thinking is lost': {
    file: 'formats/messages/read-stream.ts',
    guard: `if (this.#open?.kind === 'thinking') this.#open.signature += asText(part.signature);`,
    without: '',
    watchers: [answers],
  },
  'the input of a call that comes whole is lost': {
    file: 'formats/messages/read-stream.ts',
    guard: `return [...(open.hasDelta ? [] : delta('tool-call-delta', open.wholeInput)), { type: 'tool-call-end' }];`,
    without: `return [{ type: 'tool-call-end' }];`,
    watchers: [answers],
  },
  'an answer that was filtered ends like any other': {
    file: 'formats/gemini/stop.ts',
    guard: `    case 'SAFETY':\n`,
    without: '',
    watchers: [answers],
  },
  'an answer that was cut at its limit ends like any other': {
    file: 'formats/messages/stop.ts',
    guard: `    case 'max_tokens':\n`,
    without: '',
    watchers: [answers],
  },
  'parallel calls of Chat run together': {
    file: 'formats/chat/read-stream.ts',
    guard: `index: typeof call.index === 'number' ? call.index : null,`,
    without: 'index: 0,',
    watchers: [answers, 'src/formats/chat/read-stream.test.ts'],
  },
  'a stream that breaks off is taken for whole': {
    file: 'formats/chat/read-stream.ts',
    guard: `return this.#finishReason === null ? this.#fail(brokenStream('the stream ended in mid-answer')) : this.#finish();`,
    without: 'return this.#finish();',
    watchers: ['src/formats/chat/read-stream.test.ts'],
  },
  'a refusal is lost': {
    file: 'formats/chat/read-stream.ts',
    guard: `this.#blocks.addText('refusal', readText(delta.refusal));`,
    without: '',
    watchers: [answers],
  },
  // Access
  'a disabled key works': {
    file: 'server/middleware/authenticate.ts',
    guard: `if (isDisabled) throw new ApiError('invalid_api_key', 'This API key is disabled. Have it enabled again, or use another.');`,
    without: 'void isDisabled;',
    watchers: integration('dashboard-keys', 'on SQLite a disabled key'),
  },
  'an expired key works': {
    file: 'server/middleware/authenticate.ts',
    guard: 'if (expiresAtMs === null || nowMs < expiresAtMs) return;',
    without: 'if (nowMs > 0) return;',
    watchers: integration('rate-limits', 'nobody after its expiry'),
  },
  'a key works from any address': {
    file: 'server/middleware/authenticate.ts',
    guard: 'if (allowedAddresses.every((list) => list.includes(address))) return;',
    without: 'if (allowedAddresses.length >= 0) return;',
    watchers: integration('rate-limits', 'only the addresses'),
  },
  'keys in the query are read everywhere': {
    file: 'server/middleware/authenticate.ts',
    guard: `queryKey ? queryParameter(request, 'api_key') : null,`,
    without: `queryParameter(request, 'api_key') ?? (queryKey ? null : null),`,
    watchers: integration('keys', '.api_key= works'),
  },
  'a key’s list of models is not asked': {
    file: 'gateway/permitted-model.ts',
    guard: 'if (key.models === null || key.models.has(modelId)) return;',
    without: 'if (modelId) return;',
    watchers: integration('keys', 'a restricted key'),
  },
  'a frozen account runs': {
    file: 'gateway/permitted-model.ts',
    guard: `if (key.accountFrozen) throw new ApiError('account_frozen', 'This account is frozen. Contact the operator of this service.');`,
    without: '',
    watchers: integration('idempotency', 'on SQLite .*the model list applies'),
  },
  'revoked keys are remembered': {
    file: 'keys/key-store.ts',
    guard: 'return known?.revision === revision ? known.key : null;',
    without: 'return known ? known.key : null;',
    watchers: integration('idempotency', 'on SQLite .*the model list applies'),
  },
  'images are fetched from private addresses': {
    file: 'images/public-address.ts',
    guard: `if (parsed.range() !== 'unicast') return false;`,
    without: '',
    watchers: integration('safe-fetch', 'every spelling'),
  },
  'a link to an image never expires': {
    file: 'images/image-links.ts',
    guard: 'isSameText(signature, signatureOf(key, { id, expires }))) && Number(expires) > nowSeconds,',
    without: 'isSameText(signature, signatureOf(key, { id, expires }))) && nowSeconds > 0,',
    watchers: ['src/images/image-links.test.ts'],
  },
  // Limits
  'a bucket fills at once': {
    file: 'limits/bucket.ts',
    guard: 'level: Math.min(perMinute, bucket.level + (elapsedMs * perMinute) / 60_000)',
    without: 'level: elapsedMs >= 0 ? perMinute : 0',
    watchers: integration('rate-limits', 'what an answer used is counted'),
  },
  'a request’s slot is never free again': {
    file: 'gateway/within-limits.ts',
    guard: 'place.end(tokensUsed(trace));',
    without: 'void [place, tokensUsed(trace)];',
    watchers: integration('rate-limits', 'one more than the limit is refused'),
  },
  'wrong keys are not counted': {
    file: 'server/middleware/authenticate.ts',
    guard: 'const secondsThen = failedKeys.note(address);',
    without: 'const secondsThen = 0 * address.length;',
    watchers: integration('rate-limits', 'after some a minute'),
  },
  // Replay and cache
  'a key with another body replays': {
    file: 'idempotency/idempotency.ts',
    guard: `if (row && row.fingerprint !== name.fingerprint) return { kind: 'conflict' };`,
    without: '',
    watchers: ['tests/contract/idempotency.test.ts # on SQLite an answer is stored'],
  },
  'an answer that was cut short is cached': {
    file: 'gateway/keeping.ts',
    guard: 'const body = run && isWhole ? bodyWithin(run.bodyBytesMax) : null;',
    without: 'const body = run && isWhole !== null ? bodyWithin(run.bodyBytesMax) : null;',
    watchers: integration('cache', 'on SQLite .*(is never kept|are never kept)'),
  },
  'the header cannot switch the cache off': {
    file: 'gateway/cacheable.ts',
    guard: `if (word === 'false') return false;`,
    without: `if (word === 'false') return undefined;`,
    watchers: integration('cache', 'on SQLite .*: (run again|answered from the cache)'),
  },
  'accounts share a cache': {
    file: 'gateway/cacheable.ts',
    guard: 'accountId: key.accountId,',
    without: `accountId: 'anyone',`,
    watchers: integration('cache', 'on SQLite accounts never share'),
  },
  // Streams
  'success is told before it is charged': {
    file: 'gateway/stream.ts',
    guard: '  const lastFrames = pipe.close(place);',
    without: `  const lastFrames = ': x\\n\\n';\n  await output.write(pipe.close(place));`,
    watchers: integration('money', '(a stream tells its reservation|header, usage record)'),
  },
  'a stream does not grow its hold': {
    file: 'gateway/stream.ts',
    guard: `const granted = pipe.progress.status === 'running' ? growth.cover(outputBytes) : undefined;`,
    without: 'const granted = growth.isRefused ? Promise.resolve(false) : undefined;',
    watchers: integration('hold-growth', '(a hold grows|where nothing more)'),
  },
  'a second of hidden thinking counts as 150 tokens': {
    file: 'gateway/unseen-output.ts',
    guard: 'export const unseenTokensPerSecond = 100;',
    without: 'export const unseenTokensPerSecond = 150;',
    watchers: integration('hold-growth', 'a model that thinks in silence'),
  },
  'a second of hidden thinking counts as 60 tokens': {
    file: 'gateway/unseen-output.ts',
    guard: 'export const unseenTokensPerSecond = 100;',
    without: 'export const unseenTokensPerSecond = 60;',
    watchers: ['src/gateway/hold-growth.test.ts'],
  },
  'keep-alives come ten times later than the configuration says': {
    file: 'app.ts',
    guard: 'new KeepAlives(config.limits.stream_keep_alive_ms, clock)',
    without: 'new KeepAlives(10 * config.limits.stream_keep_alive_ms, clock)',
    watchers: integration('idempotency', 'on SQLite .*streamed of 20 at once'),
  },
  'an upstream is read on for 5,000 seconds after its client has left': {
    file: 'gateway/running.ts',
    guard: 'const readOnMs = 5_000;',
    without: 'const readOnMs = 5_000_000;',
    watchers: integration('idempotency', 'on SQLite .*long after its client has left'),
  },
  'an upstream is not read on after its client has left': {
    file: 'gateway/running.ts',
    guard: 'const readOnMs = 5_000;',
    without: 'const readOnMs = 0;',
    watchers: integration('money', 'a client that leaves while the upstream still ends'),
  },
  'a shutdown waits ten times as long as the configuration says': {
    file: 'server/drain.ts',
    guard: 'const deadlineMs = startMs + settings.shutdown_timeout_ms;',
    without: 'const deadlineMs = startMs + 10 * settings.shutdown_timeout_ms;',
    watchers: integration('shutdown', 'what still runs when the time is up'),
  },
  'a shutdown ends at once what still runs': {
    file: 'server/drain.ts',
    guard: 'await runs.whenIdle(deadlineMs - clock.elapsedMs());',
    without: 'await runs.whenIdle(0 * deadlineMs);',
    watchers: integration('shutdown', 'what still runs when the time is up'),
  },
  'a run is never counted out': {
    file: 'gateway/model-work.ts',
    guard: 'gateway.runs.close(controller);',
    without: '',
    watchers: integration('money', 'a request that fails is free'),
  },
  'a wait for another request is never counted out': {
    file: 'gateway/waiting-client.ts',
    guard: 'gateway.runs.close(controller);',
    without: '',
    watchers: integration('idempotency', 'on SQLite .*whole a failure is not stored'),
  },
  'a silent stream is cut by proxies': {
    file: 'gateway/keep-alives.ts',
    guard: 'if (stream.lastWriteMs <= dueMs) stream.keepAlive();',
    without: 'if (stream.lastWriteMs <= dueMs - 1e12) stream.keepAlive();',
    watchers: ['src/gateway/keep-alives.test.ts'],
  },
  'an upstream may be silent for ever': {
    file: 'gateway/upstream-exchange.ts',
    guard: 'if (nowMs < this.#silenceEndsMs) return;',
    without: 'if (nowMs < Infinity) return;',
    watchers: ['src/gateway/upstream.test.ts # falls silent'],
  },
  'a route that fails stays in use': {
    file: 'gateway/route-health.ts',
    guard: 'record.failuresInRow += 1;',
    without: '',
    watchers: ['src/gateway/route-health.test.ts'],
  },
  // The dashboard
  'members do what only owners may': {
    file: 'server/dashboard-api/access.ts',
    guard: 'return ranks[role] >= ranks[least];',
    without: 'return ranks[role] >= 0 || ranks[least] >= 0;',
    watchers: integration('dashboard-access', 'on SQLite'),
  },
  'operators’ pages are everybody’s': {
    file: 'server/dashboard-api/access.ts',
    guard: `if (!session.isOperator) throw new ApiError('not_found', 'There is no such page for you.');`,
    without: '',
    watchers: integration('dashboard-access', 'on SQLite'),
  },
  'a page of another site may change things': {
    file: 'server/dashboard-api/access.ts',
    guard: `if (isForeign) throw new ApiError('not_permitted', 'This request came from the page of another site.');`,
    without: 'void isForeign;',
    watchers: integration('dashboard-sign-in', 'on SQLite a page of another site'),
  },
  'a one-time link works twice': {
    file: 'users/one-time-link.ts',
    guard: `    .where('used_at_ms', 'is', null)
    .returning(['token_digest', 'expires_at_ms'])`,
    without: `    .returning(['token_digest', 'expires_at_ms'])`,
    watchers: integration('dashboard-mail', 'on SQLite a forgotten password'),
  },
  'changes are not written to the audit log': {
    file: 'audit/audited-changes.ts',
    guard: 'if (change) await this.note(',
    without: 'if (change && !change) await this.note(',
    watchers: integration('dashboard-keys', 'on SQLite every change'),
  },
  'passwords may be guessed without end': {
    file: 'server/dashboard-api/attempt-limits.ts',
    guard: `if (seconds > 0) throw tooMany('Too many attempts.', seconds);`,
    without: '',
    watchers: integration('dashboard-sign-in', 'on SQLite (ten tries|one address)'),
  },
});
