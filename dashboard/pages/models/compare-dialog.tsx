// Two to four models side by side.
import { Modal, Stack, Switch, Table, Text, Title, VisuallyHidden } from '@mantine/core';
import { IconMessages } from '@tabler/icons-react';
import { useState } from 'react';
import type { ChatModel } from '../../../src/management/contract/models.ts';
import { useSession } from '../../api/session.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { useIsPhone } from '../../parts/screen.ts';
import { useLast } from '../../parts/use-last.ts';
import { compareModels, type ComparisonGroup, type ComparisonRow } from './comparison.ts';
import classes from './comparison.module.css';
import type { Measurements } from './measured.ts';
import { curlLine } from './one-line.ts';

type Props = {
  /** Null closes the dialog. */
  readonly models: readonly ChatModel[] | null;
  readonly measured: Measurements;
  readonly onClose: () => void;
};

export function CompareDialog({ models, measured, onClose }: Props) {
  const shown = useLast(models);
  const isPhone = useIsPhone();
  return (
    <Modal
      opened={models !== null}
      onClose={onClose}
      title="Compare models"
      size="min(1100px, 94vw)"
      fullScreen={isPhone}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {shown && <Comparison models={shown} measured={measured} isPhone={isPhone} />}
    </Modal>
  );
}

type ComparisonProps = {
  readonly models: readonly ChatModel[];
  readonly measured: Measurements;
  readonly isPhone: boolean;
};

function Comparison({ models, measured, isPhone }: ComparisonProps) {
  const { public_url: baseUrl } = useSession().features;
  const [onlyDifferences, setOnlyDifferences] = useState(false);
  const groups = compareModels(models, measured)
    .map((group) => ({
      ...group,
      rows: group.rows.filter((row) => isShown(row) && (!onlyDifferences || row.differs)),
    }))
    .filter(({ rows }) => rows.length > 0);
  const View = isPhone ? Lists : Grid;
  return (
    <Stack gap="md">
      <div className={classes.controls}>
        <Switch
          label="Only differences"
          checked={onlyDifferences}
          onChange={(event) => setOnlyDifferences(event.currentTarget.checked)}
        />
        <ButtonLink
          to="/playground"
          search={(before) => ({
            account: before.account,
            mode: before.mode,
            model: models.map(({ id }) => id).join(','),
          })}
          leftSection={<IconMessages size={16} aria-hidden />}
        >
          Try side by side
        </ButtonLink>
      </div>
      <View models={models} groups={groups} />
      <Text size="sm" c="dimmed">
        Coloured rows differ. A dash means that there is none, or that it was not measured.
      </Text>
      {models.map((model) => (
        <div key={model.id}>
          <Text size="sm" fw={500} mb={4}>
            {model.name}
          </Text>
          <CodeBlock label={`Request to ${model.name}`} code={curlLine(model, baseUrl)} />
        </div>
      ))}
    </Stack>
  );
}

/** Rows that no model has a value for would only take space. */
function isShown({ values }: ComparisonRow): boolean {
  return values.some((value) => value !== null);
}

type ViewProps = {
  readonly models: readonly ChatModel[];
  readonly groups: readonly ComparisonGroup[];
};

function Grid({ models, groups }: ViewProps) {
  return (
    <Table className={classes.table} aria-label="Comparison" layout="fixed" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="20%">
            <VisuallyHidden>Property</VisuallyHidden>
          </Table.Th>
          {models.map(({ id, name }) => (
            <Table.Th key={id}>{name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      {groups.map(({ title, rows }) => (
        <Table.Tbody key={title}>
          <Table.Tr>
            <Table.Th colSpan={models.length + 1} scope="rowgroup" className={classes.group}>
              {title}
            </Table.Th>
          </Table.Tr>
          {rows.map(({ label, values, differs }) => (
            <Table.Tr key={label} data-differs={differs || undefined} className={classes.row}>
              <Table.Th scope="row" fw={400}>
                {label}
                {differs && <VisuallyHidden> (differs)</VisuallyHidden>}
              </Table.Th>
              {values.map((value, index) => (
                <Table.Td key={models[index]!.id}>{value ?? '–'}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      ))}
    </Table>
  );
}

/** On a phone, each property lists its value for every model. */
function Lists({ models, groups }: ViewProps) {
  return groups.map(({ title, rows }) => (
    <section key={title}>
      <Title order={3} mb="xs">
        {title}
      </Title>
      <Stack gap="xs">
        {rows.map(({ label, values, differs }) => (
          <div key={label} data-differs={differs || undefined} className={classes.property}>
            <Text size="sm" fw={500}>
              {label}
              {differs && <VisuallyHidden> (differs)</VisuallyHidden>}
            </Text>
            <dl className={classes.values}>
              {values.map((value, index) => (
                <div key={models[index]!.id}>
                  <dt>{models[index]!.name}</dt>
                  <dd>{value ?? '–'}</dd>
                </div>
              ))}
            </dl>
          </div>
        ))}
      </Stack>
    </section>
  ));
}
