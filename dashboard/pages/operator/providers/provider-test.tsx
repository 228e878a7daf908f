// Tries a provider, saved or not: what works, what it cost, and the models that it lists.
import {
  Badge,
  Button,
  Group,
  List,
  Select,
  Stack,
  Text,
  TextInput,
  ThemeIcon,
} from '@mantine/core';
import { IconCheck, IconMinus, IconPlugConnected, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { Money } from '../../../parts/money.tsx';
import type { FormParts } from '../saved/entry-form.tsx';
import type { Parts } from '../saved/use-saved.ts';

type Tested = Output<'POST /operator/settings/test-provider'>;
export type ListedModel = Tested['models'][number];

const stepNames = { models: 'List of models', answer: 'One answer', stream: 'A stream' } as const;

type Props = FormParts &
  Pick<Parts, 'catalogue'> & {
    readonly provider: string;
    /** Null: it must be saved first. */
    readonly onSell: ((model: ListedModel) => void) | null;
  };

export function ProviderTest({ provider, catalogue, changes, showError, onSell }: Props) {
  const test = useChange('POST /operator/settings/test-provider');
  const [tested, setTested] = useState<Tested | null>(null);
  const [model, setModel] = useState<string | null>(null);
  const run = async () => {
    showError(null);
    try {
      const asked = { provider, changes: changes(), ...(model === null ? {} : { model }) };
      setTested(await test.mutateAsync({ body: asked }));
    } catch (thrown) {
      setTested(null);
      showError(thrown);
    }
  };
  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="sm">
        {tested && tested.models.length > 0 && (
          <Select
            label="Model to try"
            placeholder="One that is sold"
            data={tested.models.map(({ id }) => id)}
            value={model}
            onChange={setModel}
            searchable
            clearable
            style={{ flex: '1 1 200px' }}
          />
        )}
        <Button
          variant="default"
          leftSection={<IconPlugConnected size={16} aria-hidden />}
          loading={test.isPending}
          onClick={() => void run()}
        >
          Test
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        Asks for the list of models and for two short answers, which cost a few tokens. Nothing is
        saved.
      </Text>
      <div role="status">{tested && <Steps tested={tested} />}</div>
      {tested && tested.models.length > 0 && (
        <Listed
          provider={provider}
          models={tested.models.map((listed) => asSoldNow(listed, provider, catalogue))}
          onSell={onSell}
        />
      )}
    </Stack>
  );
}

function Steps({ tested: { steps, cost_micros: cost } }: { readonly tested: Tested }) {
  return (
    <Stack gap="xs">
      <List spacing={6} center={false}>
        {steps.map(({ step, works, what }) => (
          <List.Item key={step} icon={<Mark works={works} />}>
            <Text span inherit fw={500}>
              {stepNames[step]}
            </Text>{' '}
            <Text span inherit c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {what}
            </Text>
          </List.Item>
        ))}
      </List>
      <Text size="sm">
        {cost === null ? (
          'What this cost is unknown: the model has no price here.'
        ) : (
          <>
            This cost <Money micros={cost} />.
          </>
        )}
      </Text>
    </Stack>
  );
}

function Mark({ works }: { readonly works: boolean | null }) {
  const [color, label, Icon] =
    works === null
      ? (['gray', 'Not tried', IconMinus] as const)
      : works
        ? (['green', 'Works', IconCheck] as const)
        : (['red', 'Fails', IconX] as const);
  return (
    <ThemeIcon size={20} radius="xl" variant="light" color={color} role="img" aria-label={label}>
      <Icon size={14} aria-hidden />
    </ThemeIcon>
  );
}

/** The test is older than what was sold or changed since. */
function asSoldNow(
  listed: ListedModel,
  provider: string,
  { data }: Parts['catalogue'],
): ListedModel {
  const sold = data.find(({ routes }) =>
    routes.some((route) => route.provider === provider && route.models.includes(listed.id)),
  );
  return { ...listed, model: sold?.id ?? listed.model, is_sold: sold !== undefined };
}

type ListedProps = Pick<Props, 'provider' | 'onSell'> & { readonly models: readonly ListedModel[] };

/** Returns a model's context and prices as the provider's list of models gives them. */
function factsOf({ context_tokens: context, prices }: ListedModel): readonly string[] {
  return [
    ...(context === null ? [] : [`${context.toLocaleString('en')} tokens`]),
    ...(prices === null ? [] : [`$${prices.input} in and $${prices.output} out per million`]),
  ];
}

function Listed({ provider, models, onSell }: ListedProps) {
  const [text, setText] = useState('');
  const shown = models.filter(({ id }) => id.toLowerCase().includes(text.trim().toLowerCase()));
  const columns: readonly Column<ListedModel>[] = [
    {
      title: 'Model',
      phone: 'title',
      render: (listed) => (
        <>
          <Text style={{ overflowWrap: 'anywhere' }}>{listed.id}</Text>
          <Text size="sm" c="dimmed">
            {factsOf(listed).join(', ')}
          </Text>
        </>
      ),
    },
    {
      title: 'In the catalogue',
      render: ({ model, is_sold: isSold }) => (
        <Group gap={6}>
          {model ?? <Text c="dimmed">New</Text>}
          {isSold && <Badge color="green">Sold</Badge>}
        </Group>
      ),
    },
    {
      title: '',
      render: (listed) => (
        <Button
          size="xs"
          variant="default"
          disabled={onSell === null}
          aria-label={`${listed.is_sold ? 'Edit' : 'Sell'} ${listed.id}`}
          onClick={() => onSell?.(listed)}
        >
          {listed.is_sold ? 'Edit' : 'Sell'}
        </Button>
      ),
    },
  ];
  return (
    <Stack gap="xs">
      {models.length > 8 && (
        <TextInput
          aria-label="Search the provider's models"
          placeholder="Search"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      )}
      {onSell === null && (
        <Text size="sm" c="dimmed">
          Save the provider, then choose what to sell.
        </Text>
      )}
      <DataTable
        label={`Models of ${provider}`}
        rows={shown}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Text c="dimmed">No model matches.</Text>}
        dense
      />
    </Stack>
  );
}
