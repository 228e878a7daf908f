// What the fields of requests and answers mean. The descriptions are in a file of their own, because
// the schemas also check every request, and most names mean the same at many places. A schema's own
// description comes before these.
import descriptions from './field-descriptions.json' with { type: 'json' };

/**
 * By name, such as `model`, or by holder and name where the name means something else:
 * `tool_choice.mode`, `AdminModel.mode`. Names with one description share its line.
 */
const byName = new Map(
  Object.entries(descriptions).flatMap(([names, description]) =>
    names.split(' ').map((name) => [name, description] as const),
  ),
);

/** `holder`: the field or the named schema that the field stands in, or `body`, `answer`, `parameter`. */
export function describeField(holder: string, name: string): string | undefined {
  return byName.get(`${holder}.${name}`) ?? byName.get(name);
}
