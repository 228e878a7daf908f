// Says why input was not read from a provider's prompt cache.
import type { Output } from '../api/client.ts';
import { shortCountText } from './number-text.ts';

export type CacheMiss = Output<'GET /accounts/:account/prompt-cache'>['total']['missed'][number];

const reasons: Readonly<Record<CacheMiss['reason'], string>> = {
  'first-turn': 'first turn',
  'below-minimum': 'too short to keep',
  unmarked: 'not marked',
  'other-route': 'other provider',
  expired: 'expired',
  changed: 'the beginning changed',
};

/** `12.5K tokens: expired`; `fromTurn`: `12.5K tokens: expired, from turn 4` */
export function missText({ reason, tokens, turn }: CacheMiss, fromTurn = false): string {
  const at = fromTurn && reason !== 'first-turn' ? `, from turn ${turn}` : '';
  return `${shortCountText(tokens)} tokens: ${reasons[reason]}${at}`;
}
