// Ways to break the product, each in one place: money, formats, access, limits, replay, streams,
// the dashboard. Tests of `npm test` must fail for each.
import { testMutations } from '../../support/mutations.ts';

const integration = (file: string, pattern: string) => [
  `tests/integration/${file}.test.ts # ${pattern}`,
];
const answers = 'tests/answers.test.ts';

testMutations([], {
  // Money
  'a charge is rounded down': {
    file: 'lib/money.ts',
    guard: 'return micros(Number((picodollars + picosPerMicro - 1n) / picosPerMicro));',
    without: 'return micros(Number(picodollars / picosPerMicro));',
    watchers: ['src/lib/money.test.ts'],
  },
  'a future price is in effect': {
    file: 'domain/catalog/price.ts',
    guard: 'return model.prices.find((version) => version.effectiveFromMs <= nowMs) ?? null;',
    without: 'return model.prices[0] ?? (nowMs > 0 ? null : null);',
    watchers: ['src/domain/catalog/price.test.ts'],
  },
  'the markup is applied to prices that the operator stated': {
    file: 'domain/catalog/price.ts',
    guard: 'const factor = factorOf({ markup, multiplierPpm }, version);',
    without: 'const factor = factorOf({ markup, multiplierPpm }, { isListPrice: false });',
    watchers: ['src/domain/catalog/price.test.ts'],
  },
  'the hold covers the output of one choice only': {
    file: 'domain/catalog/price.ts',
    guard: 'const outputTokens = BigInt(request.outputTokens) * BigInt(request.choices);',
    without: 'const outputTokens = BigInt(request.outputTokens);',
    watchers: ['src/domain/catalog/price.test.ts # covers every way'],
  },
  'the loss budget does not hear of losses': {
    file: 'serving.ts',
    guard: 'books.trust, observe.meter',
    without: 'observe.meter',
    watchers: integration('loss-budget', 'the budget of a paying account'),
  },
  'the circuit breaker does not hear of calls': {
    file: 'serving.ts',
    guard: '[hosts.routing.health, ',
    without: '[',
    watchers: integration('routing-limits', 'a failing route is skipped'),
  },
  'the hold of a failed request stays': {
    file: 'gateway/charging/open-hold.ts',
    guard: '() => this.#books.ledger.submit(release),',
    without: `() => Promise.resolve({ type: 'released' } as const),`,
    watchers: integration('money', 'a failed request is free'),
  },
  'the output of a failed attempt is not booked as a loss': {
    file: 'gateway/charging/open-hold.ts',
    guard: 'if (lossMicros === 0) return;',
    without: 'if (lossMicros >= 0) return;',
    watchers: integration('routing', 'unseen output of a failed attempt'),
  },
  'what a host bills for a task that nobody gets is not booked as a loss': {
    file: 'gateway/tasks/task-sale.ts',
    guard: 'lostPicos += costOfCount(upstream, at.lost) - spoiled;',
    without: 'lostPicos += 0n;',
    watchers: integration('provider-bill', 'rerank-by-token.*are together what the hosts bill'),
  },
  'a task costs what the host counts, whatever is honest': {
    file: 'gateway/tasks/task-sale.ts',
    guard: 'const count = atMost(made.count, size.most);',
    without: 'const count = atMost(made.count, made.count);',
    watchers: integration('embeddings', 'counts more than the text can have'),
  },
  'vectors of split calls are in the order in which the calls ended': {
    file: 'gateway/tasks/embed-at.ts',
    guard: 'made[index] = await embedPart(route, calling, part);',
    without: 'made.unshift(await embedPart(route, calling, part));',
    watchers: integration('embeddings', 'are split into calls, answered in order'),
  },
  'a host may answer for some of the texts': {
    file: 'gateway/tasks/embed-at.ts',
    guard: '!vectors || vectors.length !== inputs.length',
    without: '!vectors',
    watchers: integration('embeddings', 'answers for some of the texts only'),
  },
  'a ranking may leave out documents': {
    file: 'gateway/tasks/rerank-sale.ts',
    guard: '!ranking || ranking.results.length < topCount',
    without: '!ranking',
    watchers: integration('rerank', 'a score too few'),
  },
  'a cached completion with its prompt serves one without': {
    file: 'gateway/sales/model-sale.ts',
    guard: 'request.given ?? request.body',
    without: 'request.body',
    watchers: integration('completions', 'the cache knows the difference'),
  },
  'a reported output count is dropped when the input count is missing': {
    file: 'canonical/usage.ts',
    guard: 'outputTokens: hasOutput ? counted.outputTokens : tokensFromBytes(outputBytes),',
    without: 'outputTokens: tokensFromBytes(outputBytes),',
    watchers: integration('partial-usage', 'no input is counted, chat on messages, streamed'),
  },
  'unseen output is free for a client that leaves': {
    file: 'gateway/charging/used.ts',
    guard: 'const unseenBytes = unseen.tokens',
    without: 'const unseenBytes = 0 * unseen.tokens',
    watchers: integration('unseen-output', 'visible again after a silence'),
  },
  'hidden output is stopped when its client leaves': {
    file: 'gateway/active-runs.ts',
    guard: 'if (this.#call?.isHidden) return this.#stopLater(audience);',
    watchers: integration('unseen-output', 'hidden output is read on'),
  },
  'a queue before the first event is charged as output': {
    file: 'gateway/charging/unseen-output.ts',
    guard: '    this.hasBegun = true;\n    this.#lastOutputMs = this.#clock.elapsedMs();',
    without: '    this.hasBegun = true;',
    watchers: ['src/gateway/charging/unseen-output.test.ts'],
  },
  'a host is paid more than the request could cause': {
    file: 'gateway/charging/used.ts',
    guard: 'outputTokens: granted.maxOutputTokens * choices,',
    without: 'outputTokens: model.maxOutputTokens * choices,',
    watchers: integration('money', 'an absurd usage'),
  },
  'what a host claims beyond the request is not booked': {
    file: 'gateway/charging/model-bill.ts',
    guard: 'losses: lossMicros > 0 ?',
    without: 'losses: lossMicros > Infinity ?',
    watchers: integration('money', 'an absurd usage'),
  },
  'a dense document costs our estimate': {
    file: 'lib/tokens.ts',
    guard: 'most: sums.hidesLength ? beyondAnyContext : 2 * upper,',
    without: 'most: 2 * upper,',
    watchers: integration('documents', 'whatever its pages hold'),
  },
  'a file of another kind is as short as the sound that chance makes in it': {
    file: 'lib/audio-tokens.ts',
    guard: 'if (frames < 2 || strays > framed) return null;',
    without: 'if (frames < 2) return null;',
    watchers: ['src/lib/audio-tokens.test.ts'],
  },
  'sound is held at the price of text': {
    file: 'domain/catalog/price.ts',
    guard: 'larger(soundPicos(prices, { audioTokens }), 0n) +',
    without: '',
    watchers: integration('sound', 'sound for a model by chat'),
  },
  'a hostile text costs our estimate': {
    file: 'lib/tokens.ts',
    guard: 'most: sums.hidesLength ? beyondAnyContext : 2 * upper,',
    without: 'most: sums.hidesLength ? beyondAnyContext : upper,',
    watchers: integration('money', 'a text costs what the provider counts'),
  },
  'nothing more is held for a stream before its first event': {
    file: 'gateway/charging/hold-growth.ts',
    guard: 'this.#granted.wanted.request.choices + unseen.tokens;',
    without: 'this.#granted.wanted.request.choices;',
    watchers: integration('hold-growth', 'a burst of models that think'),
  },
  'an account pays for images that broke off beside a spoiled one': {
    file: 'gateway/images/image-maker.ts',
    guard: 'lostCalls.filter(({ failure }) => failure.isCausedByAccount).length',
    without: 'lostCalls.length',
    watchers: integration('image-failures', 'an account pays for what it spoils'),
  },
  'a burst of spoiled answers is free': {
    file: 'gateway/charging/account-trust.ts',
    guard: 'await earlier?.catch(() => {});',
    watchers: integration('loss-budget', 'a burst of answers'),
  },
  'long whole answers share no budget': {
    file: 'gateway/charging/model-offer.ts',
    guard: 'mayOutlast: mayOutlast(wanted, maxOutputTokens),',
    without: 'mayOutlast: false,',
    watchers: integration('loss-budget', 'whole answers that may take longer'),
  },
  'the charge for silence overrides reported usage': {
    file: 'gateway/charging/unseen-output.ts',
    guard: 'if (countedTokens === this.#countedTokens) return;',
    without: 'if (countedTokens >= 0) return;',
    watchers: ['src/gateway/charging/unseen-output.test.ts'],
  },
  'the cost of a killed process is not booked as a loss': {
    file: 'domain/ledger/core.ts',
    guard: 'return micros(Math.min(costMicros, amountMicros));',
    without: 'return micros(Math.min(costMicros, amountMicros) * 0);',
    watchers: ['src/domain/ledger/sqlite/store.test.ts # after a kill'],
  },
  'cached tokens are billed twice': {
    file: 'formats/chat/usage.ts',
    guard: 'inputTokens = prompt - readInside - writeInside +',
    without: 'inputTokens = prompt - writeInside +',
    watchers: ['src/formats/chat/usage.test.ts'],
  },
  'Gemini’s thoughts are not billed': {
    file: 'formats/gemini/usage.ts',
    guard: `outputTokens: count('candidatesTokenCount') + reasoningTokens,`,
    without: `outputTokens: count('candidatesTokenCount'),`,
    watchers: [answers],
  },
  'a billed answer is retried': {
    file: 'gateway/calling/retry-policy.ts',
    guard: `if (isBilled) return 'never';`,
    watchers: ['src/gateway/calling/retry-policy.test.ts'],
  },
  'after a billed answer another route is asked': {
    file: 'gateway/answering/model-calls.ts',
    guard: 'failure.isBilled || ',
    watchers: integration('every-route', 'after a billed answer'),
  },
  'a bill without an answer is not booked as a loss': {
    file: 'gateway/charging/model-bill.ts',
    guard: 'const hasRun = hasWritten || failure.isBilled',
    without: 'const hasRun = hasWritten && !failure.isBilled',
    watchers: integration('billed-failures', 'a translated call without a name'),
  },
  'an answer that its client slowed down is free': {
    file: 'gateway/answering/output.ts',
    guard: 'this.#clientWaitMs >= slowReadMs',
    without: 'this.#clientWaitMs === Infinity',
    watchers: integration('unfinished-answers', 'reads nothing for seconds'),
  },
  'an answer that has used up its time is free': {
    file: 'gateway/answering/stream.ts',
    guard: '(failure?.isOverdue && unseen.silentMs < writingMs)',
    without: '(failure?.isOverdue && unseen.silentMs < 0)',
    watchers: integration('unfinished-answers', 'ends while the model writes'),
  },
  'a provider that hangs until the time is used up is paid': {
    file: 'gateway/answering/stream.ts',
    guard: '(failure?.isOverdue && unseen.silentMs < writingMs)',
    without: 'failure?.isOverdue',
    watchers: integration('unfinished-answers', 'after the model fell silent'),
  },
  'a whole answer that is too long for its time counts against no account': {
    file: 'gateway/charging/model-bill.ts',
    guard: 'if (!failure.isOverdue) return',
    without: 'if (failure) return',
    watchers: integration('loss-budget', 'not complete in time'),
  },
  'any whole answer that runs out of time counts against its account': {
    file: 'gateway/charging/worst-case.ts',
    guard: 'return !request.stream && maxOutputTokens >=',
    without: 'return !request.stream && maxOutputTokens + Infinity >=',
    watchers: integration('loss-budget', 'not complete in time'),
  },
  'a stream with a document by address may end before its cost is known': {
    file: 'gateway/charging/model-offer.ts',
    guard: 'if (!request.stream || isInputUnknown) return',
    without: 'if (!request.stream) return',
    watchers: integration('unknown-costs', 'is held for in full'),
  },
  'a refund is not taken back': {
    file: 'domain/billing/position.ts',
    guard: 'const refunded = refundedMicros(known, paid.amountMicros);',
    without: 'const refunded = refundedMicros([], paid.amountMicros);',
    watchers: ['src/domain/billing/position.test.ts'],
  },
  'a card fee is credited': {
    file: 'domain/billing/position.ts',
    guard: 'payment: micros(paid.amountMicros - paid.feeMicros),',
    without: 'payment: paid.amountMicros,',
    watchers: ['src/domain/billing/position.test.ts'],
  },
  'any count of image tokens is believed': {
    file: 'domain/catalog/image-token-price.ts',
    guard: 'smaller(reportedOutput, outputMax)',
    without: 'reportedOutput',
    watchers: ['src/domain/catalog/image-token-price.test.ts'],
  },
  'images are stopped and free when their client has left': {
    file: 'gateway/images/image-maker.ts',
    guard: 'signal: signals.running',
    without: 'signal: signals.waiting',
    watchers: integration('image-failures', 'pays for the images that are made'),
  },
  'a padding byte hides the frame of a JPEG': {
    file: 'lib/image-dimensions.ts',
    guard: 'if (marker === 0xff) {',
    without: 'if (marker === 0) {',
    watchers: ['src/lib/image.test.ts'],
  },
  'the hold covers no text that the model reads of code and pages': {
    file: 'gateway/routing/asked-tools.ts',
    guard: '...repeat(Math.min(readings, 1), read.contextTokens),',
    watchers: integration('gemini-code', 'the hold covers'),
  },
  'who leaves a stream does not pay for what its code has read': {
    file: 'gateway/sales/model-sale.ts',
    guard: 'Boolean(plan.highest.tools?.readings)',
    without: 'false',
    watchers: integration('gemini-code', 'a client that leaves'),
  },
  'what the model reads of code is charged up to one context': {
    file: 'gateway/charging/used.ts',
    guard: 'contextTokens * roundsWith(tools)',
    without: 'contextTokens',
    watchers: integration('gemini-code', 'any count'),
  },
  'a search of three pages costs as much as one page': {
    file: 'domain/catalog/search-price.ts',
    guard: 'picosFromUsd(0.005) * BigInt(calls)',
    without: 'picosFromUsd(0.005)',
    watchers: integration('web-search-prices', 'Brave, of three pages'),
  },
  'the hold of a whole answer covers one slice': {
    file: 'gateway/charging/model-offer.ts',
    guard: 'if (!request.stream || isInputUnknown) return',
    without: 'if (isInputUnknown) return',
    watchers: integration(
      'money',
      '(a request without a maximum|a maximum that does not fit|n multiplies|the balance that a client sees)',
    ),
  },
  // Formats
  'the signature of thinking is lost': {
    file: 'formats/messages/read-stream.ts',
    guard: `if (this.#open?.kind === 'thinking') this.#open.signature += textOf(part.signature);`,
    watchers: [answers],
  },
  'the input of a call that arrives in one piece is lost': {
    file: 'formats/messages/read-stream.ts',
    guard: `...(open.hasDelta ? [] : delta('tool-call-delta', open.wholeInput)),`,
    watchers: [answers],
  },
  'a filtered answer ends like any other': {
    file: 'formats/gemini/stop.ts',
    guard: `    case 'SAFETY':\n`,
    watchers: [answers],
  },
  'an answer cut at its limit ends like any other': {
    file: 'formats/messages/stop.ts',
    guard: `    case 'max_tokens':\n`,
    watchers: [answers],
  },
  'parallel Chat calls are merged': {
    file: 'formats/chat/call-pieces.ts',
    guard: `index: typeof call.index === 'number' ? call.index : null,`,
    without: 'index: 0,',
    watchers: [answers, 'src/formats/chat/read-stream.test.ts'],
  },
  'a repaired call is written like the one before it': {
    file: 'formats/chat/relay-stream.ts',
    guard: 'if (isRepaired) return write();',
    watchers: ['src/formats/chat/relay-stream.test.ts'],
  },
  'a text that is twice in its chunk is put into the wrong place': {
    file: 'formats/chat/similar-chunks.ts',
    guard: 'return isRight && read ?',
    without: 'return read ?',
    watchers: ['src/formats/chat/similar-chunks.test.ts'],
  },
  'two texts of a chunk are written in the order of a repeated name': {
    file: 'formats/chat/similar-chunks.ts',
    guard: 'start < end || ',
    watchers: ['src/formats/chat/similar-chunks.test.ts'],
  },
  'a text that spells a mark of ours is put into another field': {
    file: 'formats/chat/similar-chunks.ts',
    guard: 'if (gaps.some((gap, index) => valueOf(gap) === markOf(index))) return null;',
    watchers: ['src/formats/chat/similar-chunks.test.ts'],
  },
  'a long answer keeps its events in memory': {
    file: 'formats/messages/stream-event.ts',
    guard: 'JSON.parse(text[2]!) as string',
    without: 'text[2]!.slice(1, -1)',
    watchers: ['tests/similar-streams.test.ts # keeps the text of messages'],
  },
  'a line break in a Messages text is no error': {
    file: 'formats/messages/stream-event.ts',
    guard: String.raw`[^"\\\u0000-\u001f]`,
    without: String.raw`[^"\\]`,
    watchers: ['src/formats/messages/stream-event.test.ts'],
  },
  'a stream that breaks off counts as complete': {
    file: 'formats/chat/read-stream.ts',
    guard: 'return this.#finishReason === null\n      ?',
    without: 'return this.#finishReason === undefined\n      ?',
    watchers: ['src/formats/chat/read-stream.test.ts'],
  },
  'a refusal is lost': {
    file: 'formats/chat/read-stream.ts',
    guard: `this.#blocks.addText('refusal', readText(delta.refusal));`,
    watchers: [answers],
  },
  // Access
  'a disabled key works': {
    file: 'server/middleware/authenticate.ts',
    guard: 'if (isDisabled)',
    without: 'if (isDisabled && expiresAtMs === 0)',
    watchers: integration('dashboard-keys', 'on SQLite a disabled key'),
  },
  'an expired key works': {
    file: 'server/middleware/authenticate.ts',
    guard: 'if (expiresAtMs !== null && nowMs >= expiresAtMs) throw keyExpired(expiresAtMs);',
    without: 'if (nowMs < 0) throw keyExpired(0);',
    watchers: integration('rate-limits', 'an expired key is refused'),
  },
  'a key works from any address': {
    file: 'server/middleware/authenticate.ts',
    guard:
      'if (!allowedAddresses.every((list) => list.includes(address))) throw addressNotAllowed(address);',
    without: 'if (allowedAddresses.length < 0) throw addressNotAllowed(address);',
    watchers: integration('rate-limits', 'only the allowed addresses'),
  },
  'every endpoint reads a key from the query': {
    file: 'server/middleware/authenticate.ts',
    guard: `queryKey ? queryParameter(request, queryKey) : null,`,
    without: `queryParameter(request, 'api_key') ?? (queryKey ? null : null),`,
    watchers: integration('keys', '.api_key= works'),
  },
  'a key’s list of models is not checked': {
    file: 'gateway/admission/permitted-model.ts',
    guard:
      'if (modelId === searchModelId || key.models === null || key.models.has(modelId)) return;',
    without: 'if (modelId) return;',
    watchers: integration('keys', 'a restricted key'),
  },
  'a frozen account may send requests': {
    file: 'gateway/admission/permitted-model.ts',
    guard: 'if (key.accountFrozen)',
    without: 'if (key.accountFrozen && false)',
    watchers: integration('idempotency', 'on SQLite .*the key must allow the model'),
  },
  'a revoked key stays in the key cache': {
    file: 'domain/keys/key-store.ts',
    guard: 'return known?.revision === revision ? known.key : null;',
    without: 'return known ? known.key : null;',
    watchers: integration('idempotency', 'on SQLite .*the key must allow the model'),
  },
  'an admin key needs no scope': {
    file: 'management/admit-key.ts',
    guard: 'if (!key.scopes.has(scope))',
    without: 'if (scope === null)',
    watchers: integration('admin-scopes', 'on SQLite a call without its scope'),
  },
  'an expired admin key works': {
    file: 'management/admit-key.ts',
    guard: 'expiresAtMs !== null && clock.nowMs() >= expiresAtMs',
    without: 'expiresAtMs !== null && clock.nowMs() < 0',
    watchers: integration('admin-api', 'on SQLite a revoked or expired'),
  },
  'an admin key works from any address': {
    file: 'management/admit-key.ts',
    guard: 'allowedAddresses?.includes(request.ip) === false',
    without: 'allowedAddresses?.includes(request.ip) === null',
    watchers: integration('admin-api', 'on SQLite a revoked or expired'),
  },
  'a revoked admin key works': {
    file: 'domain/keys/admin-keys.ts',
    guard: `    .where('digest', '=', adminKeyDigest(text))
    .where('revoked_at_ms', 'is', null)`,
    without: `    .where('digest', '=', adminKeyDigest(text))`,
    watchers: integration('admin-api', 'on SQLite a revoked or expired'),
  },
  'wrong admin keys are not counted': {
    file: 'management/admit-key.ts',
    guard: 'const secondsThen = await failedKeys.note(address);',
    without: 'const secondsThen = 0 * address.length;',
    watchers: integration('admin-api', 'on SQLite wrong admin keys'),
  },
  'an admin key makes a reset link for an operator': {
    file: 'management/accounts/users.ts',
    guard: 'if (!session && user.isOperator)',
    without: 'if (!session && user.id === null)',
    watchers: integration('admin-api', 'on SQLite an admin key makes no reset link'),
  },
  'images are fetched from private addresses': {
    file: 'lib/public-address.ts',
    guard: `if (parsed.range() !== 'unicast') return false;`,
    watchers: integration('safe-fetch', 'every spelling'),
  },
  'a link to an image never expires': {
    file: 'domain/images/image-links.ts',
    guard: 'Number(expires) > nowSeconds,',
    without: 'nowSeconds > 0,',
    watchers: ['src/domain/images/image-links.test.ts'],
  },
  // Limits
  'a rate limit bucket refills at once': {
    file: 'domain/limits/bucket.ts',
    guard: 'level: Math.min(perMinute, bucket.level + (elapsedMs * perMinute) / 60_000)',
    without: 'level: elapsedMs >= 0 ? perMinute : 0',
    watchers: integration('rate-limits', 'an answer counts by the tokens'),
  },
  'a request’s slot is never released': {
    file: 'gateway/admission/admit.ts',
    guard: 'slot.end(tokensUsed);',
    without: 'void [slot, tokensUsed];',
    watchers: integration('rate-limits', 'one more than the limit is refused'),
  },
  'each thread may run as many requests at once as the limit': {
    file: 'domain/limits/thread-limits.ts',
    guard: 'Math.min(wanted, max - inUse - others)',
    without: 'Math.min(wanted, max - inUse - 0 * others)',
    watchers: ['src/domain/limits/thread-limits.test.ts'],
  },
  'a slot of a lost answer stays taken': {
    file: 'domain/limits/shared-slots.ts',
    guard: 'pool.isUnsure = true;',
    watchers: ['src/domain/limits/thread-limits.test.ts'],
  },
  'two threads run the same cached request': {
    file: 'lib/name-locks.ts',
    guard: 'if (!line) {',
    without: 'if (!line || true) {',
    watchers: ['src/lib/name-locks.test.ts'],
  },
  'wrong keys are not counted': {
    file: 'server/middleware/authenticate.ts',
    guard: 'const secondsThen = await failedKeys.note(address);',
    without: 'const secondsThen = 0 * address.length;',
    watchers: integration('rate-limits', 'after several a minute'),
  },
  // Replay and cache
  'another body under an Idempotency-Key gets the stored answer': {
    file: 'domain/idempotency/idempotency.ts',
    guard: `if (row && row.fingerprint !== name.fingerprint) return { kind: 'conflict' };`,
    watchers: ['tests/contract/idempotency.test.ts # on SQLite an answer is stored'],
  },
  'an incomplete answer is cached': {
    file: 'gateway/charging/answer-storage.ts',
    guard: 'const isCached = run && isWhole && packed && packed.length <= run.bodyBytesMax;',
    without: 'const isCached = run && packed && packed.length <= run.bodyBytesMax;',
    watchers: integration('cache', 'on SQLite .*is never cached'),
  },
  'the header cannot switch the cache off': {
    file: 'gateway/headers.ts',
    guard: `if (word === 'false') return false;`,
    without: `if (word === 'false') return undefined;`,
    watchers: integration('cache-hits', ': (run again|answered from the cache)'),
  },
  'accounts share a cache': {
    file: 'gateway/admission/admit.ts',
    guard: 'accountId: key.accountId,',
    without: `accountId: 'anyone',`,
    watchers: integration('cache', 'on SQLite accounts never share'),
  },
  // Streams
  'success is reported before it is charged': {
    file: 'gateway/charging/under-hold.ts',
    guard: 'const charge = await chargeSold(held, outcome);',
    without:
      'deliver({ costMicros: zeroMicros, balanceCents: 0 });\n    const charge = await chargeSold(held, outcome);',
    watchers: integration('money', '(a stream reports its hold|header, usage record)'),
  },
  'a stream does not grow its hold': {
    file: 'gateway/answering/stream.ts',
    guard: `pipe.progress.status === 'running' ? growth.cover(outputBytes, unseen) : undefined;`,
    without: 'growth.isRefused ? Promise.resolve(false) : undefined;',
    watchers: integration('hold-growth', '(a hold grows|when the hold cannot grow)'),
  },
  'a second of hidden thinking counts as 150 tokens': {
    file: 'gateway/calling/health.ts',
    guard: 'const usualTokensPerSecond = 100;',
    without: 'const usualTokensPerSecond = 150;',
    watchers: integration('hold-growth', 'a model that thinks silently'),
  },
  'a second of hidden thinking counts as 60 tokens': {
    file: 'gateway/calling/health.ts',
    guard: 'const usualTokensPerSecond = 100;',
    without: 'const usualTokensPerSecond = 60;',
    watchers: ['src/gateway/calling/health.test.ts'],
  },
  'keep-alives come ten times too late': {
    file: 'gateway/keep-alives.ts',
    guard: 'const dueMs = this.nowMs() - keepAliveMs;',
    without: 'const dueMs = this.nowMs() - 10 * keepAliveMs;',
    watchers: integration('idempotency', 'on SQLite .*streamed of 20 requests at once'),
  },
  'an upstream is read on for 5,000 seconds after its client has left': {
    file: 'gateway/active-runs.ts',
    guard: 'const readOnMs = 5_000;',
    without: 'const readOnMs = 5_000_000;',
    watchers: integration('disconnects', 'chat-stream-key-two-frames-late'),
  },
  'an upstream is not read on after its client has left': {
    file: 'gateway/active-runs.ts',
    guard: 'const readOnMs = 5_000;',
    without: 'const readOnMs = 0;',
    watchers: integration('money', 'a client that leaves pays the upstream.s count'),
  },
  'a shutdown waits ten times as long as configured': {
    file: 'server/drain.ts',
    guard: 'const deadlineMs = startMs + settings.shutdown_timeout_ms;',
    without: 'const deadlineMs = startMs + 10 * settings.shutdown_timeout_ms;',
    watchers: integration('shutdown', 'requests still running at the deadline'),
  },
  'a shutdown ends running requests at once': {
    file: 'server/drain.ts',
    guard: 'await runs.whenIdle(deadlineMs - clock.elapsedMs());',
    without: 'await runs.whenIdle(0 * deadlineMs);',
    watchers: integration('shutdown', 'requests still running at the deadline'),
  },
  'a run is never counted out': {
    file: 'gateway/charging/under-hold.ts',
    guard: 'run.close();',
    watchers: integration('money', 'a failed request is free'),
  },
  'a wait for another request is never counted out': {
    file: 'gateway/replaying/waiting-client.ts',
    guard: 'run.close();',
    watchers: integration('idempotency', 'on SQLite .*whole a failure is not stored'),
  },
  'a silent stream is cut by proxies': {
    file: 'gateway/keep-alives.ts',
    guard: 'if (stream.lastWriteMs <= dueMs) stream.keepAlive();',
    without: 'if (stream.lastWriteMs <= dueMs - 1e12) stream.keepAlive();',
    watchers: ['src/gateway/keep-alives.test.ts'],
  },
  'an upstream may be silent forever': {
    file: 'gateway/calling/exchange.ts',
    guard: 'if (nowMs < this.#silenceEndsMs) return;',
    without: 'if (nowMs < Infinity) return;',
    watchers: ['src/gateway/calling/upstreams.test.ts # falls silent'],
  },
  'a route that fails stays in use': {
    file: 'gateway/calling/health.ts',
    guard: 'record.failuresInRow += 1;',
    watchers: ['src/gateway/calling/health.test.ts'],
  },
  // Kept bodies
  'bodies are kept for a key that does not ask for it': {
    file: 'domain/bodies/kept-bodies.ts',
    guard: 'if (key.bodyDays === null || !key.retainResponses || !enabled) return null;',
    without: 'if (!key.retainResponses || !enabled) return null;',
    watchers: integration('kept-bodies', 'by default nothing'),
  },
  'bodies are kept for an account that stores nothing': {
    file: 'domain/bodies/kept-bodies.ts',
    guard: 'if (key.bodyDays === null || !key.retainResponses || !enabled) return null;',
    without: 'if (key.bodyDays === null || !enabled) return null;',
    watchers: integration('kept-bodies', 'an account that stores nothing'),
  },
  'bodies take any amount of memory': {
    file: 'domain/bodies/kept-bodies.ts',
    guard: 'grow: (bytes) => this.#room.take(bytes),',
    without: 'grow: () => true,',
    watchers: integration('kept-bodies', 'without memory'),
  },
  'a body opens in another row': {
    file: 'domain/bodies/kept-bodies.ts',
    guard: 'return `${accountId} ${requestId} ${part}`;',
    without: 'return part;',
    watchers: integration('kept-bodies', 'a row that was moved'),
  },
  'bodies that were erased are shown': {
    file: 'domain/bodies/read-bodies.ts',
    guard: `.where('generation', '>=', belowGeneration)`,
    watchers: integration('kept-bodies', 'the operator erases'),
  },
  'bodies that have expired are shown': {
    file: 'domain/bodies/read-bodies.ts',
    guard: `.where('expires_at_ms', '>', nowMs)`,
    watchers: integration('kept-bodies', 'their days'),
  },
  'members read the bodies of all keys': {
    file: 'management/contract/requests.ts',
    guard: `'GET /accounts/:account/requests/:request/bodies': endpoint({
    access: 'admin',`,
    without: `'GET /accounts/:account/requests/:request/bodies': endpoint({
    access: 'member',`,
    watchers: integration('kept-bodies', 'others see nothing'),
  },
  'a table may outgrow its part of the disk': {
    file: 'db/sized-rows.ts',
    guard: `if (bytes > keptBytesMax) tooOld ??= row;
        else keptBytes = bytes;`,
    without: 'keptBytes = bytes;',
    watchers: ['tests/contract/kept-bodies.test.ts # on SQLite beyond the budget'],
  },
  'who leaves twice takes another along': {
    file: 'lib/active-set.ts',
    guard: 'if (this.#entries[entry.at] !== entry) return;',
    // Its other tests measure memory, and need a process of their own.
    watchers: ['src/lib/active-set.test.ts # leaving twice'],
  },
  // Limits that an attack once passed
  'a body may have any number of values': {
    file: 'lib/json.ts',
    guard: 'export const requestValuesMax = 50_000;',
    without: 'export const requestValuesMax = Infinity;',
    watchers: ['tests/integration/raw-bodies.test.ts # values'],
  },
  'a new password allows more guesses of a code': {
    file: 'management/sign-in/profile.ts',
    guard: 'if (renewed)',
    without: 'if (!renewed)',
    watchers: integration('dashboard-second-factor', 'a new password'),
  },
  'a reset link outlives its password': {
    file: 'domain/users/user-records.ts',
    guard: `.where('kind', 'in', ['password-reset', 'verify-email'])`,
    without: `.where('kind', 'in', ['verify-email'])`,
    watchers: integration('dashboard-mail', 'a reset link dies'),
  },
  'single sign-on may return to another site': {
    file: 'lib/one-slash.ts',
    guard: String.raw`return pathname.replace(/^\/+/, '/');`,
    without: 'return pathname;',
    watchers: integration('dashboard-oidc', 'the return address'),
  },
  'numbers in the arguments of a call are rounded': {
    file: 'lib/exact-json.ts',
    guard: 'return isRounded || !Number.isFinite(value) ? JSON.rawJSON(source) : value;',
    without: 'return isRounded && !Number.isFinite(value) ? JSON.rawJSON(source) : value;',
    watchers: ['src/lib/exact-json.test.ts'],
  },
  'a frozen account takes no loss': {
    file: 'domain/ledger/core.ts',
    guard: 'const refusal = isForLoss',
    without: 'const refusal = isForLoss && ledger.isFrozen === false',
    watchers: ['src/domain/ledger/core.test.ts'],
  },
  'a refund that failed twice is credited twice': {
    file: 'domain/billing/position.ts',
    guard: 'isEarlier,',
    without: 'isLater,',
    watchers: ['src/domain/billing/position.test.ts'],
  },
  // The dashboard
  'members may do what only owners may': {
    file: 'management/access.ts',
    guard: 'return ranks[role] >= ranks[least];',
    without: 'return ranks[role] >= 0 || ranks[least] >= 0;',
    watchers: integration('dashboard-access', 'on SQLite'),
  },
  'every user sees the operators’ pages': {
    file: 'management/access.ts',
    guard: `if (!session.isOperator) throw new ApiError('not_found', 'There is no such page for you.');`,
    watchers: integration('dashboard-access', 'on SQLite'),
  },
  'a page of another site may send changes': {
    file: 'management/access.ts',
    guard: 'if (isForeign)',
    without: 'if (isForeign && false)',
    watchers: integration('dashboard-sign-in', 'on SQLite a page of another site'),
  },
  'a one-time link works twice': {
    file: 'domain/users/one-time-link.ts',
    guard: `    .where('used_at_ms', 'is', null)
    .returning(['token_digest', 'expires_at_ms'])`,
    without: `    .returning(['token_digest', 'expires_at_ms'])`,
    watchers: integration('dashboard-mail', 'a forgotten password'),
  },
  'changes are not written to the audit log': {
    file: 'domain/audit/audited-changes.ts',
    guard: 'if (change) await this.note(',
    without: 'if (change && !change) await this.note(',
    watchers: integration('dashboard-keys', 'on SQLite every change'),
  },
  'an answer of a passkey counts again and again': {
    file: 'domain/users/passkeys/passkeys.ts',
    guard: '(await useChallenge(database.write, challenge, nowMs))',
    without: '((await useChallenge(database.write, challenge, nowMs)) || true)',
    watchers: integration('dashboard-passkeys', 'a challenge signs in once'),
  },
  'a challenge of a passkey works in another browser': {
    file: 'domain/users/passkeys/challenges.ts',
    guard: '.update(head).update(purpose)',
    without: ".update(head).update(purpose.split(' ')[0]!)",
    watchers: integration('dashboard-passkeys', 'a challenge of another browser'),
  },
  'a session alone makes admin keys': {
    file: 'management/session-door.ts',
    guard: 'if (confirmed === true) await confirm();',
    without: '',
    watchers: integration('dashboard-confirmation', 'a session of an operator'),
  },
  'a passkey of another user confirms': {
    file: 'management/sign-in/confirmation.ts',
    guard: 'if (answer.userId === session.userId) return;',
    without: 'return;',
    watchers: integration('dashboard-confirmation', 'a passkey of the user'),
  },
  'a proof of a sign-in confirms in every session': {
    file: 'management/sign-in/confirmation.ts',
    guard: 'const proofOf = (sessionId: string) => `signed in at the provider ${sessionId}`;',
    without: "const proofOf = (_id: string) => 'signed in at the provider';",
    watchers: integration('dashboard-oidc', 'a fresh sign-in'),
  },
  'an invitation outlives the rights of its inviter': {
    file: 'domain/users/invitations.ts',
    guard: 'eb.exists(inviterWhoMay(eb))',
    without: "eb('invitations.id', 'is not', null)",
    watchers: integration('member-budgets', 'on SQLite an invitation counts only'),
  },
  'a copied passkey signs in': {
    file: 'domain/users/passkeys/records.ts',
    guard: ".where('counter', counter === 0 ? '=' : '<', counter)",
    watchers: integration('dashboard-passkeys', 'a counter that does not grow'),
  },
  'a passkey names another user': {
    file: 'domain/users/passkeys/passkeys.ts',
    guard: "if (response.userHandle !== Buffer.from(passkey.userId).toString('base64url'))",
    without: "if (response.userHandle === 'nobody')",
    watchers: integration('dashboard-passkeys', "one user's passkey"),
  },
  'a passkey is added without a code of the second factor': {
    file: 'management/sign-in/confirmation.ts',
    guard: 'if (!user?.hasSecondFactor) return;',
    without: 'if (user) return;',
    watchers: integration('dashboard-passkeys', 'with a second factor'),
  },
  'passwords may be guessed without limit': {
    file: 'management/sign-in/attempt-limits.ts',
    guard: `if (seconds > 0) throw tooMany('Too many attempts.', seconds);`,
    watchers: integration('dashboard-sign-in', 'on SQLite (ten tries|one address)'),
  },
});
