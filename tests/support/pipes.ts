// The path from an upstream's bytes to a client's, in this process, joined as in the gateway.
import type { UpstreamFailure } from '../../src/canonical/event.ts';
import type { ClientFormatName, UpstreamFormatName } from '../../src/terms/format-name.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { UnreadableAnswer, type AnswerContext, type StreamPipe } from '../../src/formats/format.ts';
import { clientFormats, upstreamFormats } from '../../src/formats/registry.ts';
import { translateAnswer, translateStream } from '../../src/formats/translate.ts';
import { toApiError } from '../../src/gateway/calling/failure-message.ts';
import { SseOverflow, SseParser, type SseEvent } from '../../src/lib/sse.ts';
import { errorContext } from './error-context.ts';

export const clientNames: readonly ClientFormatName[] = ['responses', 'chat', 'messages', 'gemini'];

const bodies: Readonly<Record<ClientFormatName, JsonObject>> = {
  responses: { input: 'x' },
  chat: { messages: [{ role: 'user', content: 'x' }], stream_options: { include_usage: true } },
  messages: { max_tokens: 1_000, messages: [{ role: 'user', content: 'x' }] },
  gemini: {
    contents: [{ parts: [{ text: 'x' }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  },
};

/** `fields`: request fields beside the model and the prompt. */
export function answerContext(client: ClientFormatName, fields: JsonObject = {}): AnswerContext {
  return {
    requestId: '01kahw0000000000000000test',
    model: 'catalogue/model',
    createdAtSeconds: 1_763_683_200,
    request: clientFormats[client].parseRequest(
      { model: 'catalogue/model', ...bodies[client], ...fields },
      { chatMaxTokens: null },
    ),
    estimatedInputTokens: 77,
  };
}

export function openPipe(
  upstream: UpstreamFormatName,
  client: ClientFormatName,
  context: AnswerContext,
): StreamPipe<SseEvent> {
  const format = clientFormats[client];
  if (upstream === client) return format.relay.relayStream(context);
  return translateStream(upstreamFormats[upstream].readStream(), format.writeStream(context));
}

export type StreamResult = {
  readonly text: string;
  readonly pipe: StreamPipe<SseEvent>;
  readonly failure: UpstreamFailure | null;
};

/**
 * Returns everything the client receives of a stream that arrives in these pieces, including its
 * last event or error event.
 */
export function playStream(pipe: StreamPipe<SseEvent>, pieces: Iterable<Uint8Array>): StreamResult {
  const thrown: { failure: UpstreamFailure | null } = { failure: null };
  let text = '';
  for (const frames of pushPieces(pipe, pieces, thrown)) text += frames;
  if (thrown.failure === null && pipe.progress.status === 'finished') {
    return { text: text + pipe.close(0.000001), pipe, failure: null };
  }
  const failure = thrown.failure ?? pipe.progress.failure ?? brokenOff;
  return { text: text + pipe.fail(toApiError(failure), errorContext), pipe, failure };
}

function* pushPieces(
  pipe: StreamPipe<SseEvent>,
  pieces: Iterable<Uint8Array>,
  thrown: { failure: UpstreamFailure | null },
): Generator<string> {
  const parser = new SseParser();
  try {
    for (const piece of pieces) {
      for (const event of parser.push(piece)) yield pipe.push(event);
      if (pipe.progress.status !== 'running') return;
    }
    for (const event of parser.end()) yield pipe.push(event);
    yield pipe.end();
  } catch (error) {
    if (!(error instanceof SseOverflow || error instanceof UnreadableAnswer)) throw error;
    thrown.failure = {
      kind: 'unreadable',
      status: null,
      message: error.message,
      retryAfterSeconds: null,
    };
  }
}

const brokenOff: UpstreamFailure = {
  kind: 'broken-stream',
  status: null,
  message: 'the stream ended early',
  retryAfterSeconds: null,
};

/** Returns the client's body for a whole answer; null when the upstream's cannot be parsed. */
export function writeWhole(
  upstream: UpstreamFormatName,
  client: ClientFormatName,
  body: unknown,
  context: AnswerContext,
): JsonObject | null {
  const format = clientFormats[client];
  try {
    if (upstream === client) return format.relay.relayAnswer(body, context).body;
    return format.writeAnswer(
      translateAnswer(upstreamFormats[upstream].readAnswer(body)).shown,
      context,
    );
  } catch (error) {
    if (error instanceof UnreadableAnswer) return null;
    throw error;
  }
}
