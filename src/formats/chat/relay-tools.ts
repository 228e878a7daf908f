// The client's schemas on the straight path: of its functions and of structured output. OpenAI itself
// judges what `strict` allows.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editAt, editFields, editItems, withoutNulls } from '../edit-json.ts';
import type { UpstreamTarget } from '../format.ts';
import { withoutToolMarks } from './foreign-history.ts';
import { fitOutputSchema, fitParameters } from './write-request.ts';

/** Adds to `ignored` the keywords that move into a description. */
export function relaySchemas(
  body: JsonObject,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject {
  const tools = editItems(withoutToolMarks(body.tools, target, ignored), (tool) =>
    editAt(tool, ['function'], (described) => {
      const parameters = isObject(described.parameters) ? described.parameters : null;
      const asked = { parameters, strict: null };
      const fitted = fitParameters(asked, target, (word) => ignored.add(`tools.${word}`));
      return editFields(withoutNulls(described), { parameters: fitted });
    }),
  );
  const edited = tools === undefined ? body : editFields(body, { tools });
  const lose = (word: string) => ignored.add(`schema.${word}`);
  return editAt(edited, ['response_format', 'json_schema', 'schema'], (schema) =>
    fitOutputSchema({ schema, strict: null }, target, lose),
  );
}
