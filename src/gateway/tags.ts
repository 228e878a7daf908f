// Tags of a request, by which its account sums its costs: from the header, the end user and
// `metadata` of the body. They go no further than the account's own records: no log, no telemetry,
// no provider.
import { invalidRequest, quoted } from '../canonical/errors.ts';
import type { HeaderNames } from '../terms/header-names.ts';
import { isObject, type JsonObject } from '../lib/json.ts';

export const tagsMax = 10;
const word = '[A-Za-z0-9_.:/@+-]';
const pattern = new RegExp(`^${word}{1,64}(=${word}{1,128})?$`);
const userName = 'user';

type Tagger = {
  readonly headers: Pick<HeaderNames, 'tags'>;
  readonly config: { readonly tags: { readonly end_users: boolean } };
};

/**
 * Returns the tags, each name once, or undefined when there are none. The header comes first, then
 * the end user (`tags.end_users`), then the entries of `metadata` or `labels` that have the form of
 * a tag; more than ten are left out. Throws ApiError `invalid_request` for a header of another
 * form.
 */
export function readTags(
  { headers, config }: Tagger,
  header: string | undefined,
  body: unknown,
): readonly string[] | undefined {
  const fields: JsonObject = isObject(body) ? body : {};
  // Gemini's name for them.
  const { labels, metadata: given = labels } = fields;
  if (header === undefined && given === undefined && !config.tags.end_users) return undefined;
  const tags = new Map(header === undefined ? [] : readHeader(headers.tags, header));
  const add = (name: string, value: unknown) => {
    const tag = `${name}=${String(value)}`;
    if (tags.size < tagsMax && !tags.has(name) && pattern.test(tag)) tags.set(name, tag);
  };
  const metadata = isObject(given) ? given : {};
  if (config.tags.end_users)
    add(userName, fields['user'] ?? fields['safety_identifier'] ?? metadata['user_id'] ?? '');
  for (const name in metadata) {
    if (tags.size === tagsMax) break;
    const value = metadata[name];
    if (typeof value === 'string' && name !== 'user_id') add(name, value);
  }
  return tags.size === 0 ? undefined : [...tags.values()];
}

function readHeader(header: string, text: string): readonly (readonly [string, string])[] {
  const tags = text.split(',', tagsMax + 1).map((tag) => tag.trim());
  if (tags.length > tagsMax)
    throw invalidRequest(header, `The header \`${header}\` may have at most ${tagsMax} tags.`);
  const named = tags.map((tag) => {
    if (!pattern.test(tag)) throw wrongTag(header, tag);
    return [tag.split('=', 1)[0]!, tag] as const;
  });
  const twice = named.find(([name], index) => named.findIndex(([one]) => one === name) < index);
  if (twice)
    throw invalidRequest(
      header,
      `The header \`${header}\` has the tag ${quoted(twice[0])} twice. Send each name once.`,
    );
  return named;
}

function wrongTag(header: string, tag: string) {
  return invalidRequest(
    header,
    `The header \`${header}\` must be a list of words and of \`name=value\`, with commas between, such as ` +
      '`project=alpha, env=prod, nightly`. Names have 1 to 64 characters and values 1 to 128: letters, digits and ' +
      `\`_ . : / @ + -\`. ${quoted(tag)} is none.`,
  );
}
