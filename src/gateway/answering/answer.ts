// Calls a model for a whole answer.
import type { Answer } from '../../canonical/answer.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { BrokenOffAnswer, UnreadableAnswer, type RelayedAnswer } from '../../formats/format.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { answerWithTools } from './hosted-tools.ts';
import { translateAnswer } from '../../formats/translate.ts';
import { usdFromMicros } from '../../lib/money.ts';
import { callModel, type CallResult } from './model-calls.ts';
import { failedCall } from '../calling/failed-call.ts';
import { callUpstream } from './call-upstream.ts';
import { outcomeOfFailure } from './failed.ts';
import {
  answerContextOf,
  answerHeaders,
  responseToStore,
  routeHeaders,
  sendWhole,
} from './head.ts';
import { endingOf } from '../audience.ts';
import type { Called, Held } from '../stages.ts';
import { soldBy } from '../charging/model-bill.ts';
import type { Outcome } from '../charging/offer.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { finalUse } from '../charging/used.ts';

export async function sendAnswer(held: Held): Promise<Outcome> {
  const last = await callModel(held, async (called) => {
    const call = async (turn: Called, spentMs = 0) => {
      const reply = await callUpstream(turn, false, spentMs);
      return reply.kind === 'failure' ? reply : readAnswer(turn, reply.body);
    };
    const own = called.call.attempt.tools?.own;
    const read = await (own ? answerWithTools(called, own, call) : call(called));
    if (read.kind === 'failure') return read;
    called.call.unseen.noteWhole(read.answer.usage);
    return { ...read, stop: read.answer.stop?.reason ?? null };
  });
  if (last.kind === 'failure') return outcomeOfFailure(last, null);
  const { called, answer } = last;
  called.caller.record.note({ withheld: answer.stop?.withheld });
  const upToCost = writeUpToCost(answer.body, held.asked.format.usageField);
  // A replay of the stored answer costs nothing.
  const response = held.running.storage.isUsed
    ? responseToStore(called, {
        recorded: { body: Buffer.from(`${upToCost}0}}`) },
        contentType: 'application/json; charset=utf-8',
      })
    : null;
  const ended = {
    used: finalUse(called, answer),
    ending: endingOf(held.running),
    isLimited: answer.stop?.brokeOff !== undefined,
    firstByteMs: null,
  };
  return {
    ...soldBy(called, ended),
    response,
    deliver: (charge) =>
      sendWhole(called, `${upToCost}${usdFromMicros(charge.costMicros)}}}`, {
        charge,
        headers: { ...answerHeaders(called), ...routeHeaders(called) },
      }),
  };
}

/**
 * Writes the answer as JSON up to its cost, which comes last. The sent and the stored answer differ
 * only in the cost, so a long answer is written once.
 */
function writeUpToCost(answer: JsonObject, usageField = 'usage'): string {
  const { [usageField]: usage, ...body } = answer;
  const text = JSON.stringify({ ...body, [usageField]: { ...(usage as JsonObject), cost: 0 } });
  return text.slice(0, -'0}}'.length);
}

function readAnswer(called: Called, body: unknown): CallResult<RelayedAnswer> {
  const { format } = called.asked;
  const { attempt } = called.call;
  const { route } = attempt;
  try {
    if (attempt.written.isTranslated)
      return translate(called, upstreamFormats[route.format].readAnswer(body));
    return { kind: 'answered', answer: format.relay.relayAnswer(body, answerContextOf(called)) };
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    const billed = upstreamFormats[route.format].readBilledAnswer(body);
    if (error instanceof BrokenOffAnswer) {
      const failure = makeFailure('broken-stream', error.message);
      // Not marked as billed, so that it is retried: the next answer may be whole. Its use is a loss.
      return { ...failedCall(failure, billed), failure };
    }
    const { message, brokeOff } = error;
    // An answer without billed tokens did not come from the model: its host is at fault.
    const isCausedByAccount = billed !== null;
    const failure = { ...makeFailure('unreadable', message), isCausedByAccount, brokeOff };
    return failedCall(failure, billed);
  }
}

function translate(called: Called, answer: Answer): CallResult<RelayedAnswer> {
  const { shown, outputBytes } = translateAnswer(answer, called.call.attempt.written);
  const context = answerContextOf(called);
  // The client sees the usage that it is charged for.
  const usage = countUsage(shown.usage, { ...context, outputBytes });
  const body = called.asked.format.writeAnswer({ ...shown, usage }, context);
  return {
    kind: 'answered',
    answer: { body, usage: shown.usage, stop: shown.stop, outputBytes, content: shown.content },
  };
}
