// The request of the made-up endpoint, and its description.
import { Type } from 'typebox';
import { invalidRequest } from '../../../src/canonical/errors.ts';
import { compileSchema } from '../../../src/lib/schema.ts';
import { describeSale } from '../../../src/reference/public-operations.ts';

const RequestSchema = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 10_000, description: 'What to shout.' }),
});
const AnswerSchema = Type.Object({ text: Type.String({ description: 'In capitals.' }) });
const findProblem = compileSchema(RequestSchema);

export function parseShoutRequest(body: unknown): { readonly text: string } {
  const problem = findProblem(body);
  if (problem) throw invalidRequest(problem.path || null, `${problem.path} ${problem.message}`);
  return body as { readonly text: string };
}

export const shoutOperation = describeSale({
  id: 'shout',
  tag: 'Models',
  summary: 'Shout a text',
  body: { content: { 'application/json': RequestSchema }, example: { text: 'hello' } },
  answer: { description: 'The text.', content: { 'application/json': AnswerSchema } },
});
