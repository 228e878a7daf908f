import { Badge, Box, Group, Text, Tooltip } from '@mantine/core';
import type { ChatModel, ImageModelEntry } from '../../../src/dashboard-contract/models.ts';
import { CopyButton } from '../../parts/copy-button.tsx';

type Model = Pick<ChatModel | ImageModelEntry, 'id' | 'name' | 'is_live' | 'multiplier_ppm'>;

/** Its name, and below it the id that requests name it by. */
export function ModelName({ model }: { readonly model: Model }) {
  return (
    <Box component="span" display="block" ta="left">
      <Group component="span" display="inline-flex" gap={6} wrap="nowrap">
        <Text span fw={500} truncate>
          {model.name}
        </Text>
        {!model.is_live && <NotLive />}
        <PriceBadge multiplierPpm={model.multiplier_ppm} />
      </Group>
      <Text span display="block" size="sm" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {model.id}
      </Text>
    </Box>
  );
}

/** For a column of its own: buttons do not stand inside of what opens a row. */
export function CopyId({ id }: { readonly id: string }) {
  return <CopyButton text={id} label={`Copy the id ${id}`} />;
}

export function NotLive() {
  return (
    <Tooltip label="No provider of it is switched on. Test keys can use it.">
      <Badge color="gray" size="sm">
        Test only
      </Badge>
    </Tooltip>
  );
}

const listPricePpm = 1_000_000;

/** Where the account pays other than everybody. */
export function PriceBadge({ multiplierPpm }: { readonly multiplierPpm: number }) {
  if (multiplierPpm === listPricePpm) return null;
  const percent = (multiplierPpm - listPricePpm) / 10_000;
  const text = `${percent < 0 ? '−' : '+'}${Math.abs(percent).toLocaleString(undefined, { maximumFractionDigits: 2 })} %`;
  return (
    <Tooltip label={`This account pays ${text} of the list price. The prices shown have it included.`}>
      <Badge color={percent < 0 ? 'green' : 'orange'} size="sm">
        {text}
      </Badge>
    </Tooltip>
  );
}
