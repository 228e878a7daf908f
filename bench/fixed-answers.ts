// Answers that the compared servers of `--hits` send: recorded from the gateway, by path.
import { readFileSync } from 'node:fs';

/** Above this size, Node sends bytes faster than text, which it joins with the head. */
const longBytes = 16 * 1024;

/** `headers`: without those that Node's server adds itself. */
export type FixedAnswer<Body = string> = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
};

/** Reads a JSON file of answers by path, with each body in the form that Node sends fastest. */
export function readFixedAnswers(file: string): ReadonlyMap<string, FixedAnswer<string | Buffer>> {
  const answers = JSON.parse(readFileSync(file, 'utf8')) as Record<string, FixedAnswer>;
  return new Map(
    Object.entries(answers).map(([path, { headers, body }]) => [
      path,
      { headers, body: toFastestForm(body) },
    ]),
  );
}

function toFastestForm(body: string): string | Buffer {
  const bytes = Buffer.from(body);
  return bytes.length < longBytes ? body : bytes;
}
