import { Badge } from '@mantine/core';
import type { Key } from './key-values.ts';

const looks = {
  active: { color: 'green', label: 'Active' },
  disabled: { color: 'orange', label: 'Disabled' },
  expired: { color: 'gray', label: 'Expired' },
  revoked: { color: 'red', label: 'Revoked' },
} as const;

export function KeyState({ state }: { readonly state: Key['state'] }) {
  const { color, label } = looks[state];
  return <Badge color={color}>{label}</Badge>;
}
