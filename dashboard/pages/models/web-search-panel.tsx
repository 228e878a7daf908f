import { Badge, Code, Group, Text } from '@mantine/core';
import type { ModelCatalogue } from '../../../src/dashboard-contract/models.ts';
import { Panel } from '../../parts/panel.tsx';
import { imageUsd } from './image-models.tsx';

/** The endpoint that searches the web by itself, which no model is needed for. */
export function WebSearchPanel({ search }: { readonly search: ModelCatalogue['web_search'] }) {
  if (search.price_micros === null) return null;
  return (
    <Panel mt="lg">
      <Group justify="space-between" gap="md">
        <div>
          <Group gap="xs">
            <Text fw={500}>Web search</Text>
            {!search.is_live && (
              <Badge color="gray" size="sm">
                Test only
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed">
            <Code>POST /v1/web-search</Code> finds pages without a model. In a key’s list of allowed models it is{' '}
            <Code>{search.id}</Code>.
          </Text>
        </div>
        <Text>
          {imageUsd(search.price_micros)}{' '}
          <Text span c="dimmed">
            per search
          </Text>
        </Text>
      </Group>
    </Panel>
  );
}
