// An upstream that plays a task: it thinks and calls a tool, calls a second one when it has the first
// one's result, then reports what the first one found. All answers are streams, because the programs
// request nothing else.
import { encodeFrames, streamType, type Framing } from '../support/model-hosts.ts';
import { answerBytes, type Script } from '../support/upstream.ts';
import { turnFrames, type ToolCall, type Turn, type Wire } from './turns.ts';

export type Task = {
  /** The first call's result contains the marker; no earlier request does. */
  readonly call: ToolCall;
  readonly marker: string;
  readonly second?: { readonly call: ToolCall; readonly marker: string };
  /** The program returns no signed reasoning; left out: it does. */
  readonly dropsReasoning?: boolean;
};

/** Ends even if the program never sends a result. */
const callsMax = 6;

/**
 * The reasoning must come back with the results, its signatures byte for byte: without it, providers
 * refuse the turn or lose context.
 */
export function playTask(
  wire: Wire,
  { call, marker, second, dropsReasoning = false }: Task,
  framing?: Framing,
): Script {
  const thinkingOf = ({ name }: ToolCall, step: number) => ({
    text: `I need step ${step}.`,
    signature: Buffer.from(`signature of ${name}, step ${step}`).toString('base64'),
  });
  const isBack = (body: string, called: ToolCall, step: number) => {
    const { text, signature } = thinkingOf(called, step);
    return dropsReasoning || body.includes(JSON.stringify(wire === 'chat' ? text : signature));
  };
  let calls = 0;
  const make = (next: ToolCall, step: number): Turn => {
    if (calls === callsMax) return { text: 'No result came.' };
    calls++;
    return { call: { ...next, id: `call_${step}` }, thinking: thinkingOf(next, step) };
  };
  const answer = (body: string): Turn => {
    if (body.includes(marker)) {
      if (!isBack(body, call, 1)) return { text: 'My reasoning is lost.' };
      // The second call is in the history once it has been made.
      if (second && !body.includes(second.marker)) return make(second.call, 2);
      if (second && !isBack(body, second.call, 2)) return { text: 'My reasoning is lost.' };
      return { text: `The note says: ${marker}` };
    }
    // Programs also send small side requests without tools.
    return body.includes(`"${call.name}"`) ? make(call, 1) : { text: 'Nothing to say.' };
  };
  return playTurns(wire, answer, framing);
}

/** Each answer is made from the text of the request's body. */
export function playTurns(
  wire: Wire,
  answer: (body: string) => Turn,
  framing: Framing = 'sse',
): Script {
  const headers = { 'content-type': streamType(framing) };
  return (response, request) => {
    const frames = turnFrames(wire, answer(JSON.stringify(request.body)));
    return answerBytes(encodeFrames(framing, frames), { headers })(response, request);
  };
}
