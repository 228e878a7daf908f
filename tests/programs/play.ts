// An upstream that plays a task of two turns: it thinks and asks for one tool call, and once the tool's result has come back it tells what was
// in it. All answers are streams, since the programs ask for nothing else.
import { answerSse, type Script } from '../support/upstream.ts';
import { turnFrames, type ToolCall, type Turn, type Wire } from './turns.ts';

/** `marker`: what the tool is to find; no request holds it before the tool has run. */
export type Task = { readonly call: ToolCall; readonly marker: string };

/** A program that never sends the result comes to an end all the same. */
const callsMax = 3;

/** The reasoning must come back with the result, its signature byte for byte: providers refuse the turn, or lose the thread, without. */
export function playTask(wire: Wire, { call, marker }: Task): Script {
  const signature = Buffer.from(`signature of ${call.name} for this task`).toString('base64');
  const proof = JSON.stringify(wire === 'chat' ? 'I need the note.' : signature);
  let calls = 0;
  const answer = (body: string): Turn => {
    if (body.includes(marker)) return { text: body.includes(proof) ? `The note says: ${marker}` : 'My reasoning is lost.' };
    // Programs also ask for small things beside the task, without its tools.
    if (!body.includes(`"${call.name}"`) || calls === callsMax) return { text: 'Nothing to say.' };
    calls++;
    return { call, thinking: { text: 'I need the note.', signature } };
  };
  return (response, request) => answerSse(turnFrames(wire, answer(JSON.stringify(request.body))))(response, request);
}
