// One call of the chosen upstream, sandbox or HTTP, with its failure in one shape.
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import { readErrorMessage } from '../formats/error-message.ts';
import type { Running } from './running.ts';
import { needsOperator } from './upstream-error.ts';
import { writeUpstreamRequest, type WrittenRequest } from './upstream-request.ts';

export type CallReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly kind: 'events'; readonly events: AsyncIterable<StreamEvent> }
  | CallFailed;

/** `requestSent` is false when nothing reached the upstream, so that nothing can have been generated. */
export type CallFailed = { readonly kind: 'failure'; readonly failure: UpstreamFailure; readonly requestSent: boolean };

export type Call = { readonly reply: CallReply; readonly ignored: readonly string[] };

export async function callUpstream(running: Running): Promise<Call> {
  const { hold } = running;
  const written = hold.isReduced ? writeUpstreamRequest(running, hold.maxOutputTokens) : running.written;
  const reply = await send(running, written);
  if (reply.kind === 'failure' && !running.controller.signal.aborted) noteFailure(running, reply.failure);
  return { reply, ignored: written.ignored };
}

async function send(running: Running, written: WrittenRequest): Promise<CallReply> {
  const { gateway, route, controller, model, hold, request } = running;
  if (written.transport === 'sandbox' || route.transport === 'sandbox') {
    if (written.transport !== 'sandbox' || route.transport !== 'sandbox')
      throw new Error('a request was written for another route');
    const events = route.provider.run(written.request, {
      model: model.id,
      maxOutputTokens: hold.maxOutputTokens,
      thinking: model.supports.thinking,
      signal: controller.signal,
    });
    return { kind: 'events', events };
  }
  const { path, headers, body } = written;
  const reply = await gateway.upstreams.send({
    provider: route.provider,
    path,
    headers,
    body,
    stream: request.stream,
    signal: controller.signal,
  });
  if (reply.kind !== 'failure') return reply;
  const message = readErrorMessage(reply.body) ?? reply.failure.message;
  const failure = { ...reply.failure, message };
  return { kind: 'failure', failure: route.kind.readFailure?.(failure, reply.body) ?? failure, requestSent: reply.requestSent };
}

/** Says in the log what the client is not told. The sandbox fails only when it is asked to. */
export function noteFailure({ gateway, route, trace, requestId, model }: Running, failure: UpstreamFailure): void {
  trace.upstreamStatus = failure.status;
  if (route.transport === 'sandbox') return;
  const fields = {
    request_id: requestId,
    provider: route.provider.name,
    model: model.id,
    kind: failure.kind,
    upstream_status: failure.status,
  };
  if (needsOperator(failure)) {
    gateway.log.error(fields, 'the provider refuses its credential or wants money: no request through it can succeed');
  } else {
    gateway.log.warn(fields, 'the upstream failed');
  }
}
