import { Badge, Code, Group, Text } from '@mantine/core';
import type { ModelCatalogue } from '../../../src/management/contract/models.ts';
import { imageUsd } from '../../parts/model-text.ts';
import { Panel } from '../../parts/panel.tsx';

/** The web search endpoint, which works without a model. */
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
            <Code>POST /v1/web-search</Code> searches the web without a model. A key&rsquo;s list of
            allowed models does not limit it.
          </Text>
        </div>
        <Text>
          {search.price_max_micros !== search.price_micros && 'up to '}
          {imageUsd(search.price_micros)}{' '}
          <Text span c="dimmed">
            per search
            {search.price_max_micros !== null &&
              search.price_max_micros !== search.price_micros &&
              ` with 10 results, ${imageUsd(search.price_max_micros)} with 50`}
          </Text>
        </Text>
      </Group>
    </Panel>
  );
}
