// The sandbox behind test keys simulates the exchange with a host: it reads the gateway's request and
// answers as that host would, by fixed rules and offline, so the same request always gets the same
// answer. docs/test-mode.md describes it for developers; change both together.
import { AnswerCollector } from '../../canonical/answer.ts';
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext } from '../../formats/format.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import type { SandboxCall, SandboxReply } from '../provider.ts';
import { choicesIn } from '../sandbox-hosts/fields.ts';
import { hosts } from '../sandbox-hosts/index.ts';
import type { AnswerOptions } from '../sandbox-hosts/host.ts';
import type { SandboxRequest } from './request.ts';
import { run } from './run.ts';
import { chooseSearch } from './searches.ts';
import { countInputTokens } from './usage.ts';

/** Never rejects: a failure is a reply, or ends the stream with `UpstreamBroken`. */
export async function playExchange(call: SandboxCall): Promise<SandboxReply> {
  const { format, stream } = call;
  const body = JSON.parse(call.body) as JsonObject;
  const request = {
    ...hosts[format].readRequest(body),
    toolNames: upstreamFormats[format].toolNames,
  };
  const events = run(request, call)[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done) throw new Error('the sandbox returned no event');
  if (first.value.type === 'error') return failed(first.value.failure);
  const hasUsage = first.value.type === 'start' && first.value.usage !== null;
  const options: AnswerOptions = {
    context: contextOf(call, body, request),
    hasUsage,
    searchedFor: chooseSearch(request),
  };
  if (stream)
    return {
      kind: 'stream',
      chunks: playChunks(first.value, events, hosts[format].writeStream(options)),
    };
  const collector = new AnswerCollector();
  for await (const event of events) {
    if (event.type === 'error') return failed(event.failure);
    collector.push(event);
  }
  return { kind: 'answer', body: hosts[format].writeAnswer(collector.answer!, options) };
}

/** Returns the host's count of a request's input tokens. */
export function playCount({ format, body }: Pick<SandboxCall, 'format' | 'body'>): number {
  return countInputTokens(hosts[format].readRequest(JSON.parse(body) as JsonObject));
}

/** The message of a failure with a status is in the body, where every host has it. */
function failed(failure: UpstreamFailure): SandboxReply {
  const body = failure.status === null ? null : { error: { message: failure.message } };
  return { kind: 'failure', failure, body, requestSent: true };
}

async function* playChunks(
  first: StreamEvent,
  rest: AsyncIterator<StreamEvent>,
  write: (event: StreamEvent) => string,
): AsyncGenerator<Uint8Array, undefined> {
  for (let event = first; ;) {
    if (event.type === 'error') throw new UpstreamBroken(event.failure);
    const frames = write(event);
    if (frames !== '') yield Buffer.from(frames, 'utf8');
    const next = await rest.next();
    if (next.done) return;
    event = next.value;
  }
}

function contextOf(
  { requestId, model, stream, clock }: SandboxCall,
  body: JsonObject,
  request: SandboxRequest,
): AnswerContext {
  return {
    requestId,
    model,
    createdAtSeconds: Math.floor(clock.nowMs() / 1_000),
    estimatedInputTokens: countInputTokens(request),
    request: {
      body,
      model,
      stream,
      maxOutputTokens: request.maxOutputTokens,
      choices: choicesIn(body),
      thinkingBudgetTokens: 0,
    },
  };
}
