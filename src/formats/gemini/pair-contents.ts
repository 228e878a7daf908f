// Checks the order of a conversation. Google wants as many results in a turn as there were calls in the
// turn before. A conversation in another order is translated, which repairs it.
import type { Content } from './schema.ts';

export function isInOrder(contents: readonly Content[]): boolean {
  let open: readonly (string | null)[] = [];
  // Google refuses a conversation that begins with a call.
  if (contents[0]?.role === 'model' && contents[0].parts?.some((part) => part.functionCall))
    return false;
  for (const { role, parts } of contents) {
    const calls = (parts ?? []).flatMap(({ functionCall }) =>
      functionCall ? [functionCall.id ?? null] : [],
    );
    const results = (parts ?? []).flatMap(({ functionResponse }) =>
      functionResponse ? [functionResponse.id ?? null] : [],
    );
    const isModels = role === 'model';
    if (isModels ? results.length > 0 || open.length > 0 : calls.length > 0) return false;
    if (!isModels && !isAnswered(open, results)) return false;
    open = calls;
  }
  return open.length === 0;
}

/** Without ids of their own, results are told apart by their order. */
function isAnswered(calls: readonly unknown[], results: readonly unknown[]): boolean {
  if (calls.length !== results.length) return false;
  const ids = new Set([...calls, ...results]);
  return ids.size <= Math.max(new Set(calls).size, 1) || results.includes(null);
}
