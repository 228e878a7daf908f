// Fits a written request to a host that refuses fields or words which others of its format take.
import type { JsonObject } from '../lib/json.ts';
import type { HostWishes } from '../terms/host-wishes.ts';

/** Fields that the gateway sets itself: leaving them out loses nothing of the client's. */
const ownFields = ['stream_options', 'store'];

export function fitToHost(
  body: JsonObject,
  { refused = [], only, renamed = {}, forcedChoice }: HostWishes,
): { readonly body: JsonObject; readonly ignored: readonly string[] } {
  const isLost = (name: string) => refused.includes(name) || (only && !only.includes(name));
  const names = Object.keys(body);
  const lost = names.filter((name) => isLost(renamed[name] ?? name));
  const isForced = forcedChoice !== undefined && body['tool_choice'] === 'required';
  if (lost.length === 0 && !isForced && !names.some((name) => Object.hasOwn(renamed, name)))
    return { body, ignored: [] };
  const kept = Object.entries(isForced ? { ...body, tool_choice: forcedChoice } : body)
    .filter(([name]) => !lost.includes(name))
    .map(([name, value]) => [Object.hasOwn(renamed, name) ? renamed[name]! : name, value] as const);
  return {
    body: Object.fromEntries(kept),
    ignored: lost.filter((name) => !ownFields.includes(name)),
  };
}
