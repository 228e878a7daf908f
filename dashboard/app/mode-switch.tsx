import { Switch } from '@mantine/core';
import { useMode, useSetMode } from './account.ts';

/** Live or test: which keys, requests and money every page shows. */
export function ModeSwitch() {
  const mode = useMode();
  const setMode = useSetMode();
  return (
    <Switch
      color="orange"
      size="sm"
      labelPosition="left"
      label="Test mode"
      checked={mode === 'test'}
      onChange={(event) => setMode(event.currentTarget.checked ? 'test' : 'live')}
    />
  );
}
