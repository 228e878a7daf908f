// The saved settings, and how a page changes them.
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { ApiError } from '../../../api/api-error.ts';
import { api, type Output, type ReadKey } from '../../../api/client.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { namesIn, type Change } from './schema.ts';

export type Saved = Output<'GET /operator/settings/saved'>;
export type Save = (changes: Change[], note?: string) => Promise<void>;

/** What the forms of a page share. */
export type Parts = {
  readonly saved: Saved;
  readonly save: Save;
  readonly settings: Output<'GET /operator/settings'>['settings'];
  readonly catalogue: Output<'GET /operator/catalogue'>;
};

/** What changes with the settings. */
export const dependents: readonly ReadKey[] = [
  'GET /operator/settings/saved',
  'GET /operator/settings/versions',
  'GET /operator/settings',
  'GET /operator/providers',
  'GET /operator/catalogue',
  'GET /operator/audit-log',
  'GET /accounts/:account/models',
];

export const useSaved = () => useApi('GET /operator/settings/saved', {});

/**
 * One for each page, so that its forms know of each other's changes. Throws ApiError. When somebody
 * else has saved meanwhile, it loads what is new, says so, and the next try is on top of that.
 */
export function useSave({ version }: Pick<Saved, 'version'>): Save {
  const seen = useRef(version);
  const client = useQueryClient();
  const patch = useChange('PATCH /operator/settings/saved', { invalidates: dependents });
  return async (changes, note) => {
    try {
      const body = { version: seen.current, changes, ...(note === undefined ? {} : { note }) };
      seen.current = (await patch.mutateAsync({ body })).version;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'conflict') throw error;
      seen.current = (await api('GET /operator/settings/saved', {})).version;
      await Promise.all(dependents.map((name) => client.invalidateQueries({ queryKey: [name] })));
      const message =
        'Somebody else has saved settings meanwhile. The newest are loaded: look at them, then save again.';
      throw new ApiError({ status: error.status, code: error.code, message });
    }
  };
}

/** Returns who sets a field before it is saved: `tollgate.yaml:12`, `OPENAI_API_KEY`. */
export function lockOf({ locked }: Pick<Saved, 'locked'>, path: readonly string[]): string | null {
  const lock = locked.find((one) => path.every((name, index) => one.path[index] === name));
  return lock?.by ?? null;
}

/** Returns what is saved at a path. */
export function savedAt({ settings }: Pick<Saved, 'settings'>, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) => (at as Record<string, unknown> | undefined)?.[name],
    settings,
  );
}

/** The settings in force below a path, such as those that the file sets. */
export function inForceBelow(
  settings: Output<'GET /operator/settings'>['settings'],
  path: readonly string[],
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { path: text, value, is_set: isSet, is_secret: isSecret } of settings) {
    const names = namesIn(text);
    if (!isSet || isSecret || !path.every((name, index) => names[index] === name)) continue;
    const rest = names.slice(path.length);
    let at = found;
    for (const name of rest.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    if (rest.length > 0) at[rest.at(-1)!] = value;
  }
  return found;
}
