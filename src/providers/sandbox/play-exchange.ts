// The sandbox behind test keys simulates the exchange with a host: it reads the gateway's request and
// answers as that host would, by fixed rules and offline, so the same request always gets the same
// answer. docs/test-mode.md describes it for developers; change both together.
import type { StreamEvent } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext } from '../../formats/format.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import type { SandboxCall, SandboxReply } from '../provider.ts';
import { hosts } from '../sandbox-hosts/index.ts';
import { choicesIn } from '../sandbox-hosts/reading.ts';
import { failureOf } from './failures.ts';
import type { SandboxRequest } from './request.ts';
import { begin, play } from './run.ts';
import { countInputTokens } from './usage.ts';

/** Never rejects: a failure is a reply, or ends the stream with `UpstreamBroken`. */
export async function playExchange(call: SandboxCall): Promise<SandboxReply> {
  const { format, stream } = call;
  const host = hosts[format];
  const body = JSON.parse(call.body) as JsonObject;
  const request = { ...host.readRequest(body), toolNames: upstreamFormats[format].toolNames };
  try {
    const begun = await begin(request, call);
    const { answer, code } = begun;
    const context = contextOf(call, body, request);
    const options = { context, hasUsage: answer.usage !== null, code };
    const events = play(begun, call);
    if (stream)
      return { kind: 'stream', chunks: writeChunks(events, host.writeStream(options), call) };
    while (!(await events.next()).done);
    return { kind: 'answer', body: host.writeAnswer(answer, options) };
  } catch (error) {
    const failure = failureOf(error, call);
    // The message of a failure with a status is in the body, where every host has it.
    const refused = failure.status === null ? null : { error: { message: failure.message } };
    return { kind: 'failure', failure, body: refused, requestSent: true };
  }
}

/** Returns the host's count of a request's input tokens. */
export function playCount({ format, body }: Pick<SandboxCall, 'format' | 'body'>): number {
  return countInputTokens(hosts[format].readRequest(JSON.parse(body) as JsonObject));
}

async function* writeChunks(
  events: AsyncIterable<StreamEvent>,
  write: (event: StreamEvent) => string,
  call: SandboxCall,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    for await (const event of events) {
      const frames = write(event);
      if (frames !== '') yield Buffer.from(frames, 'utf8');
    }
  } catch (error) {
    throw new UpstreamBroken(failureOf(error, call));
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
