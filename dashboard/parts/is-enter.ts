import type { KeyboardEvent } from 'react';

/**
 * Tells whether Enter was pressed as a command, not to choose what Japanese or Chinese letters
 * become. Safari tells the latter by the code 229 only.
 */
export function isEnter({ key, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && !nativeEvent.isComposing && nativeEvent.keyCode !== 229;
}
