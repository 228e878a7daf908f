// A request that is answered whole: call, charge, answer.
import { AnswerCollector, type Answer } from '../canonical/answer.ts';
import { makeCallsConsistent } from '../canonical/consistent-calls.ts';
import { raiseCustomAnswer } from '../canonical/custom-tools.ts';
import { countOutputBytes } from '../canonical/output-bytes.ts';
import type { StreamEvent } from '../canonical/event.ts';
import { UnreadableAnswer, type RelayedAnswer } from '../formats/format.ts';
import { upstreamFormats } from '../formats/registry.ts';
import { tryRoutes, type Tried } from './attempts.ts';
import { callUpstream, failedCall, type CallReply } from './call.ts';
import { endFailed, takenOver } from './failed.ts';
import {
  answerContextOf,
  endingOf,
  headHeaders,
  loweredToolsOf,
  responseToStore,
  stopWhenForsaken,
  wasForsaken,
  type Running,
} from './running.ts';
import { settleHold } from './settle.ts';
import { makeFailure } from './upstream-failure.ts';
import { finalUse, useSoFar } from './used.ts';

export async function sendAnswer(running: Running): Promise<void> {
  const { client, gateway } = running;
  stopWhenForsaken(running);
  const tried = await tryRoutes(running, async () => readReply(running, await callUpstream(running)));
  if (tried.kind === 'failure') {
    if (!wasForsaken(running, tried)) throw await endFailed(running, tried);
    // The client left and the upstream was stopped: it has read the input by then, and was writing what nobody saw.
    await settleHold(running, { used: useSoFar(running, tried.progress), ending: 'cut-off' });
    return;
  }
  const { answer } = tried;
  const body = JSON.stringify(answer.body);
  const response = responseToStore(running, { body, contentType: 'application/json; charset=utf-8' });
  const charge = await settleHold(running, { used: finalUse(running, answer), ending: endingOf(running) }, response);
  if (!charge) throw takenOver();
  client.sendAnswer(body, {
    ...headHeaders(running),
    [gateway.headers.cost]: String(charge.costMicros),
    [gateway.headers.balance]: String(charge.balanceCents),
  });
}

async function readReply(running: Running, reply: CallReply): Promise<Tried<RelayedAnswer>> {
  switch (reply.kind) {
    case 'failure':
      return reply;
    case 'events':
      return collect(running, reply.events);
    case 'answer':
      return readAnswer(running, reply.body);
    case 'stream':
      throw new Error('a stream came where an answer was asked for');
  }
}

async function collect(running: Running, events: AsyncIterable<StreamEvent>): Promise<Tried<RelayedAnswer>> {
  const collector = new AnswerCollector();
  for await (const event of events) {
    if (event.type === 'error') return failedCall(event.failure);
    collector.push(event);
  }
  const { answer } = collector;
  return answer
    ? write(running, answer)
    : failedCall({ kind: 'broken-stream', status: null, message: 'the stream ended early', retryAfterSeconds: null });
}

function readAnswer(running: Running, body: unknown): Tried<RelayedAnswer> {
  const { format, attempt } = running;
  const { route } = attempt;
  try {
    if (route.transport === 'http' && route.format !== format.name)
      return write(running, translated(running, upstreamFormats[route.format].readAnswer(body)));
    return { kind: 'answered', answer: format.relay.relayAnswer(body, answerContextOf(running)) };
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    const billed = route.transport === 'http' ? upstreamFormats[route.format].readBilledAnswer(body) : null;
    return failedCall({ ...makeFailure('unreadable', error.message), isProvoked: true }, { billed });
  }
}

function translated(running: Running, answer: Answer): Answer {
  return makeCallsConsistent(raiseCustomAnswer(answer, loweredToolsOf(running)));
}

function write(running: Running, answer: Answer): Tried<RelayedAnswer> {
  const { content, usage, stop } = answer;
  const body = running.format.writeAnswer(answer, answerContextOf(running));
  return { kind: 'answered', answer: { body, usage, stop, outputBytes: countOutputBytes(content) } };
}
