// Names that no model may have, because model lists and price multipliers give them another
// meaning.
import { searchModelId } from '../terms/web-search.ts';
import type { FieldValues } from './field-values.ts';

/**
 * Throws ConfigError for a model or alias named like the web search: allowing or pricing one would
 * also affect the other.
 */
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
