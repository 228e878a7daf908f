// A chart with its legend, its way out of a zoom, and the same figures as a table.
import { Button, Group, Table, Text } from '@mantine/core';
import { IconTable } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useZoom, ZoomOut } from '../range-picker.tsx';
import classes from './charts.module.css';
import { Plot } from './plot.tsx';
import { keyOf, sumOf, textAt, totalsOf, type ChartProps, type Series } from './series.ts';
import { Swatch } from './tip.tsx';

type Props = ChartProps & {
  /** Formats the sum of a series in the legend; without it, the figures have no sum. */
  readonly total?: (sum: number) => ReactNode;
  /** The UTC days of the points, or the only day. Readers zoom into some of them. */
  readonly days: readonly string[];
};

export function Chart({ total, days, ...chart }: Props) {
  const zoomInto = useZoom();
  const [hasTable, setTable] = useState(false);
  const { series, before, label } = chart;
  if (series.every(({ values }) => values.every((value) => value === null)))
    return <Text c="dimmed">Nothing was measured in these days.</Text>;
  return (
    <div role="figure" aria-label={label}>
      <Plot
        chart={chart}
        onChoose={
          days.length > 1
            ? (first, last) => zoomInto({ from: days[first]!, to: days[last]! })
            : undefined
        }
      />
      <Group justify="space-between" align="end" gap="xs">
        <Group
          component="ul"
          gap="6px 20px"
          m={0}
          mt="md"
          p={0}
          maw="100%"
          style={{ listStyle: 'none' }}
          aria-label={`Legend of ${label}`}
        >
          {[...series, ...(before ? [before] : [])].map((each) => (
            <Group key={keyOf(each)} component="li" gap={8} wrap="nowrap" miw={0} maw="100%">
              <Swatch series={each} />
              <Text size="sm" truncate dir="auto" ta="left" title={each.label}>
                {each.label}
              </Text>
              {total && (
                <Text size="sm" c="dimmed" component="div">
                  {total(sumOf(each))}
                </Text>
              )}
            </Group>
          ))}
        </Group>
        <Group gap={4} ml="auto">
          <ZoomOut />
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            aria-expanded={hasTable}
            leftSection={<IconTable size={14} aria-hidden />}
            onClick={() => setTable(!hasTable)}
          >
            Table
          </Button>
        </Group>
      </Group>
      {hasTable && <Figures {...chart} />}
    </div>
  );
}

function Figures(chart: ChartProps) {
  const { label, points, series, shape, before, format } = chart;
  const total: Series = { label: 'Total', color: '', values: totalsOf(chart) };
  const columns = [...series, ...(shape === 'bars' ? [total] : []), ...(before ? [before] : [])];
  return (
    <div className={classes.table} tabIndex={0} role="region" aria-label={`Table of ${label}`}>
      <Table stickyHeader aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time in UTC</Table.Th>
            {columns.map((each) => (
              <Table.Th key={keyOf(each)} ta="right">
                {each.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points.map(({ title }, index) => (
            <Table.Tr key={title}>
              <Table.Th scope="row" fw={400} style={{ whiteSpace: 'nowrap' }}>
                {title}
              </Table.Th>
              {columns.map((each) => (
                <Table.Td key={keyOf(each)} ta="right">
                  {textAt(each, index, format)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
