// The figures of one point, beside a chart's pointer.
import { Group, Text } from '@mantine/core';
import { keyOf, textAt, totalsOf, type ChartProps, type Series } from './series.ts';

type Props = { readonly chart: ChartProps; readonly index: number };

/** Leaves out the zeros of bars to stay short. */
export function Tip({ chart, index }: Props) {
  const { points, series, shape, before, format } = chart;
  const { title, before: earlier } = points[index]!;
  const isStacked = shape === 'bars';
  const total: Series = { label: 'Total', color: '', values: totalsOf(chart) };
  const lines = [
    ...series.filter(({ values }) => !isStacked || values[index]),
    ...(isStacked ? [total] : []),
    ...(before ? [{ ...before, label: `${before.label}, ${earlier}` }] : []),
  ];
  return (
    <>
      <strong>{title}</strong>
      {lines.map((line) => (
        <Group key={keyOf(line)} gap={8} wrap="nowrap" fw={line.color === '' ? 600 : undefined}>
          {line.color !== '' && <Swatch series={line} />}
          <Text span inherit lineClamp={2} flex={1}>
            {line.label}
          </Text>
          <Text span inherit>
            {textAt(line, index, format)}
          </Text>
        </Group>
      ))}
    </>
  );
}

export function Swatch({ series: { color, dash } }: { readonly series: Series }) {
  return (
    <svg width={14} height={10} aria-hidden style={{ flex: 'none' }}>
      <path
        d={dash ? 'M0 5H14' : 'M2 5H12'}
        stroke={color}
        strokeWidth={dash ? 2 : 10}
        strokeDasharray={dash}
      />
    </svg>
  );
}
