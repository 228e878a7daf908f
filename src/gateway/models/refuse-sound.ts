// Refuses sound for a model that does not hear: its host may bill it at a price that is not known here.
import { invalidRequest } from '../../canonical/errors.ts';
import { listModels } from '../../domain/catalog/listing.ts';
import { isObject } from '../../lib/json.ts';
import type { ModelRequest } from '../routing/write-request.ts';

/** Throws ApiError `invalid_request`, which names the field and a model that hears. */
export function refuseSound({ gateway, key, model, request, estimate }: ModelRequest): void {
  if (!estimate.hasSound || model.supports.audio) return;
  const { catalog } = gateway.hosts;
  const { mode, models } = key;
  const { data } = listModels(catalog, { mode, models, nowMs: gateway.clock.nowMs() });
  const other = data.find(({ id }) => catalog.resolve(id)?.supports.audio);
  const path = pathOfSound(request.body);
  const remedy = other ? `Use a model that hears, such as ${other.id}.` : 'No model here hears.';
  throw invalidRequest(
    path,
    `${path ?? 'The request'} has sound, which ${model.id} does not hear. ${remedy}`,
  );
}

/** Returns null when the sound is in a field of another name. */
function pathOfSound(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return isSound(value.slice(0, headMax), path) ? path : null;
  if (!isObject(value) && !Array.isArray(value)) return null;
  for (const [name, child] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    const found = pathOfSound(child, at);
    if (found !== null) return found;
  }
  return null;
}

/** Limits the regular expressions; the text may have megabytes. */
const headMax = 100;

function isSound(head: string, path: string): boolean {
  if (path.endsWith('.type')) return head === 'input_audio';
  const isType = /\.(?:mimeType|media_type)$/.test(path);
  return (isType ? /^\s*audio\//i : /^\s*data:audio\//i).test(head);
}
