import { Badge } from '@mantine/core';
import type { Output } from '../api/client.ts';

const looks = {
  active: { color: 'green', label: 'Active' },
  disabled: { color: 'orange', label: 'Disabled' },
  expired: { color: 'gray', label: 'Expired' },
  revoked: { color: 'red', label: 'Revoked' },
} as const;

type State = Output<'GET /accounts/:account/keys/:key'>['state'];

export function KeyState({ state }: { readonly state: State }) {
  const { color, label } = looks[state];
  return <Badge color={color}>{label}</Badge>;
}
