// The parts of a model's answer beside its body: headers, what is stored, and the context for the
// format's writer.
import { namesInWordsOf } from '../../formats/client-words.ts';
import { emulatedFields } from '../../formats/adapting/emulated.ts';
import type { ErrorContext } from '../../canonical/errors.ts';
import type { StoredResponse } from '../../terms/stored-response.ts';
import type { PackedText } from '../../lib/packing.ts';
import type { AnswerContext } from '../../formats/format.ts';
import { ownCountOf, usageMaxOf } from '../charging/used.ts';
import type { HeaderNames } from '../../terms/header-names.ts';
import type { Running } from '../charging/offer.ts';
import type { Charge } from '../charging/open-hold.ts';
import { spendNotice } from '../charging/spend-notice.ts';
import type { Gateway } from '../gateway.ts';
import type { Headers } from '../client.ts';
import { requestHeaders, writeNames, type Sender } from '../headers.ts';
import { retentionHeaders } from '../charging/answer-storage.ts';
import type { Caller } from '../request.ts';
import type { ModelRequest } from '../routing/write-request.ts';
import type { Called } from '../stages.ts';
import { eventsType, type StreamHead } from './output.ts';

export function answerContextOf(called: Called): AnswerContext {
  const { asked, call } = called;
  const { attempt } = call;
  return {
    ...emptyContextOf(called),
    leftOut: attempt.written.leftOut,
    toolNames: attempt.written.toolNames,
    ...ownCountOf(asked, attempt),
    usageMax: usageMaxOf(called),
  };
}

/** Returns the context of an answer for which nothing has run. */
export function emptyContextOf({
  gateway,
  caller,
  asked,
}: Answering & { readonly asked: Pick<ModelRequest, 'model' | 'request'> }): AnswerContext {
  const nowSeconds = () => Math.floor(gateway.clock.nowMs() / 1_000);
  return {
    requestId: caller.requestId.slice('req_'.length),
    model: asked.model.id,
    createdAtSeconds: nowSeconds(),
    nowSeconds,
    request: asked.request,
    estimatedInputTokens: 0,
  };
}

type Answering = {
  readonly gateway: Pick<Gateway, 'clock' | 'config'>;
  readonly caller: Pick<Caller, 'requestId'>;
};

export function errorContextOf({ gateway, caller }: Answering): ErrorContext {
  return { requestId: caller.requestId, publicUrl: gateway.config.server.public_url };
}

type Sold = Sender & { readonly running: Running };

type Whole = { readonly charge: Charge; readonly headers: Headers };

/** Sends a whole answer. `headers`: those about the answer and its route. */
export function sendWhole(sold: Sold, body: string, { charge, headers }: Whole): void {
  const { running, gateway } = sold;
  running.client.sendAnswer(body, {
    ...requestHeaders(sold),
    ...headers,
    ...retentionHeaders(gateway.headers, running.storage),
    ...chargeHeaders(gateway.headers, charge),
  });
}

export function chargeHeaders(
  { cost, balance }: HeaderNames,
  { costMicros, balanceCents }: Charge,
): Headers {
  return { [cost]: String(costMicros), [balance]: String(balanceCents) };
}

/** Headers that name the route, count the calls, and say how full a cap is: they are not stored. */
export function routeHeaders({ gateway, asked, running, call }: Called): Record<string, string> {
  return {
    ...(asked.format.name === 'messages' && spendNotice(running.hold.fullestCap)),
    [gateway.headers.route]: call.attempt.route.name.provider,
    [gateway.headers.attempts]: String(call.number),
  };
}

/** Headers about the answer. They are stored with it. */
export function answerHeaders({ gateway, asked, granted, call }: Called): Record<string, string> {
  const { format } = asked;
  const { written } = call.attempt;
  const headers: Record<string, string> = {};
  const emulated = namesInWordsOf(format.fieldNames, emulatedFields(written.emulated));
  if (granted.isReduced) headers[gateway.headers.outputLimit] = String(granted.maxOutputTokens);
  if (written.ignored.length > 0) headers[gateway.headers.ignored] = writeNames(written.ignored);
  if (emulated.length > 0) headers[gateway.headers.emulated] = writeNames(emulated);
  return headers;
}

export function streamHead(called: Called): StreamHead {
  const contentType = called.asked.format.streamType ?? eventsType;
  return { contentType, answer: answerHeaders(called), route: routeHeaders(called) };
}

/** Returns the response to store for repeats of the request. `recorded`: null when it is too long. */
export function responseToStore(
  called: Called,
  { recorded, contentType }: { readonly recorded: PackedText | null; readonly contentType: string },
): StoredResponse {
  const head = { status: 200, contentType, headers: answerHeaders(called) };
  return { ...head, ...(recorded ?? { body: null }) };
}
