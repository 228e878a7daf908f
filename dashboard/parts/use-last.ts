import { useState } from 'react';

/** The value, or the last one there was before it became null: what a drawer shows while it slides away. */
export function useLast<Value>(value: Value | null): Value | null {
  const [last, setLast] = useState(value);
  if (value !== null && value !== last) setLast(value);
  return value ?? last;
}
