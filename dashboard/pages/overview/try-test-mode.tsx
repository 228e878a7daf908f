import { Button, Group } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import { ButtonLink } from '../../parts/link.tsx';
import { Panel } from '../../parts/panel.tsx';

/** For who has no money on the account yet. */
export function TryTestMode({ onTest }: { readonly onTest: () => void }) {
  return (
    <Panel
      title="Start in test mode"
      description="The sandbox answers there like a model would, for play money. Live requests need a balance."
    >
      <Group gap="sm">
        <Button leftSection={<IconFlask size={16} aria-hidden />} onClick={onTest}>
          Try it in test mode
        </Button>
        <ButtonLink to="/billing" variant="default">
          Billing
        </ButtonLink>
      </Group>
    </Panel>
  );
}
