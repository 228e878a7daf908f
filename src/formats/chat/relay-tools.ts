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
      const { schema, lost } = fitParameters({ parameters, strict: null }, target);
      for (const word of lost) ignored.add(`tools.${word}`);
      return editFields(withoutNulls(described), { parameters: schema });
    }),
  );
  const edited = tools === undefined ? body : editFields(body, { tools });
  return editAt(edited, ['response_format', 'json_schema', 'schema'], (given) => {
    const { schema, lost } = fitOutputSchema(given, null, target);
    for (const word of lost) ignored.add(`schema.${word}`);
    return schema;
  });
}
