// An upstream that plays a task of two turns: it thinks and calls one tool, then reports the tool's
// result. All answers are streams, because the programs request nothing else.
import { answerSse, type Script } from '../support/upstream.ts';
import { turnFrames, type ToolCall, type Turn, type Wire } from './turns.ts';

/** `marker`: the text that the tool finds; no request contains it before the tool has run. */
export type Task = {
  readonly call: ToolCall;
  readonly marker: string;
  readonly dropsReasoning: boolean;
};

/** Ends even if the program never sends the result. */
const callsMax = 3;

/**
 * The reasoning must come back with the result, its signature byte for byte: without it, providers
 * refuse the turn or lose context.
 */
export function playTask(wire: Wire, { call, marker, dropsReasoning }: Task): Script {
  const signature = Buffer.from(`signature of ${call.name} for this task`).toString('base64');
  const proof = JSON.stringify(wire === 'chat' ? 'I need the note.' : signature);
  let calls = 0;
  const answer = (body: string): Turn => {
    if (body.includes(marker)) {
      const isBack = dropsReasoning || body.includes(proof);
      return { text: isBack ? `The note says: ${marker}` : 'My reasoning is lost.' };
    }
    // Programs also send small side requests without tools.
    if (!body.includes(`"${call.name}"`) || calls === callsMax) return { text: 'Nothing to say.' };
    calls++;
    return { call, thinking: { text: 'I need the note.', signature } };
  };
  return (response, request) =>
    answerSse(turnFrames(wire, answer(JSON.stringify(request.body))))(response, request);
}
