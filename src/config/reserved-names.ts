// Names that no model may have, because lists of models and price multipliers mean something else by them.
import { searchModelId } from '../canonical/web-search.ts';
import type { FieldValues } from './field-values.ts';

/** Throws ConfigError for a model or an alias by the name of the web search: whoever allowed or priced one would allow or price both. */
export function checkReservedNames({ fields, faultAt }: FieldValues): void {
  for (const section of ['models', 'image_models', 'aliases'] as const) {
    if (!Object.hasOwn(fields[section], searchModelId)) continue;
    throw faultAt([section, searchModelId], {
      problem:
        'is what `POST /v1/web-search` is called in the lists of models of keys and in price multipliers, so no model can have it',
      remedy: 'Choose another id: a name means one thing.',
    });
  }
}
