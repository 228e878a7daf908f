// A request that is answered whole: call, charge, answer.
import { AnswerCollector, type Answer } from '../canonical/answer.ts';
import { makeCallsConsistent } from '../canonical/consistent-calls.ts';
import { raiseCustomAnswer } from '../canonical/custom-tools.ts';
import type { AssistantPart } from '../canonical/request.ts';
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import { UnreadableAnswer, type RelayedAnswer } from '../formats/format.ts';
import { upstreamFormats } from '../formats/registry.ts';
import { utf8Length } from '../lib/tokens.ts';
import { callUpstream, noteFailure, type CallFailed, type CallReply } from './call.ts';
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
import { nothingGenerated, settleHold } from './settle.ts';

export async function sendAnswer(running: Running): Promise<void> {
  const { client, gateway } = running;
  stopWhenForsaken(running);
  const { reply, ignored } = await callUpstream(running);
  const answered = await readReply(running, reply);
  if ('kind' in answered) {
    if (!wasForsaken(running) || !answered.requestSent) throw await endFailed(running, answered.failure, nothingGenerated);
    // The client left and the upstream was stopped: it has read the input by then, and whatever it wrote nobody saw.
    await settleHold(running, { usage: null, earlyUsage: null, outputBytes: 0, ending: 'cut-off' });
    return;
  }
  const body = JSON.stringify(answered.body);
  const response = responseToStore(running, { body, contentType: 'application/json; charset=utf-8', ignored });
  const charge = await settleHold(running, { ...answered, earlyUsage: null, ending: endingOf(running) }, response);
  if (!charge) throw takenOver();
  client.sendAnswer(body, {
    ...headHeaders(running, ignored),
    [gateway.headers.cost]: String(charge.costMicros),
    [gateway.headers.balance]: String(charge.balanceCents),
  });
}

async function readReply(running: Running, reply: CallReply): Promise<RelayedAnswer | CallFailed> {
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

async function collect(running: Running, events: AsyncIterable<StreamEvent>): Promise<RelayedAnswer | CallFailed> {
  const collector = new AnswerCollector();
  for await (const event of events) {
    if (event.type === 'error') {
      noteFailure(running, event.failure);
      return failed(event.failure);
    }
    collector.push(event);
  }
  const { answer } = collector;
  return answer
    ? write(running, answer)
    : failed({ kind: 'broken-stream', status: null, message: 'the stream ended early', retryAfterSeconds: null });
}

function readAnswer(running: Running, body: unknown): RelayedAnswer | CallFailed {
  const { route, format } = running;
  try {
    if (route.transport === 'http' && route.format !== format.name)
      return write(running, translated(running, upstreamFormats[route.format].readAnswer(body)));
    return format.relay.relayAnswer(body, answerContextOf(running));
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    const failure: UpstreamFailure = { kind: 'unreadable', status: null, message: error.message, retryAfterSeconds: null };
    noteFailure(running, failure);
    return failed(failure);
  }
}

function translated(running: Running, answer: Answer): Answer {
  return makeCallsConsistent(raiseCustomAnswer(answer, loweredToolsOf(running)));
}

function failed(failure: UpstreamFailure): CallFailed {
  return { kind: 'failure', failure, requestSent: true };
}

function write(running: Running, answer: Answer): RelayedAnswer {
  return {
    body: running.format.writeAnswer(answer, answerContextOf(running)),
    usage: answer.usage,
    stop: answer.stop,
    outputBytes: answer.content.reduce((bytes, part) => bytes + partBytes(part), 0),
  };
}

function partBytes(part: AssistantPart): number {
  return utf8Length(part.type === 'tool-call' ? part.arguments : part.text);
}
