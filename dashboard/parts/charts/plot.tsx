// The drawing of a chart, and the figures beside its pointer.
import { useElementSize } from '@mantine/hooks';
import classes from './charts.module.css';
import { labelsApart, linePath, lonePlaces, ticksOf } from './layout.ts';
import { keyOf, totalsOf, type ChartProps, type Series } from './series.ts';
import { Tip } from './tip.tsx';
import { useChoosing } from './use-choosing.ts';

const head = 8;
const foot = 24;
const right = 12;
const digitWidth = 7;
const labelWidth = 56;
const barWidthMax = 28;
const tipGap = 16;
/** Beside a point of such a chart, a tooltip has too little room. */
const narrow = 560;

type Props = {
  readonly chart: ChartProps;
  /** Called with the first and the last point. */
  readonly onChoose: ((first: number, last: number) => void) | undefined;
};

/** Where a point and a value are drawn. */
type Scale = {
  readonly step: number;
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
};

export function Plot({ chart, onChoose }: Props) {
  const { label, points, series, shape, before, format, height = 260 } = chart;
  const { ref, width } = useElementSize();
  const drawn = shape === 'bars' ? [totalsOf(chart)] : series.map(({ values }) => values);
  const values = [...drawn, before?.values ?? []].flat();
  const ticks = ticksOf(values.filter((value) => value !== null));
  const left = 12 + digitWidth * Math.max(...ticks.map((tick) => format(tick).length));
  const columns = { left, step: (width - left - right) / points.length, count: points.length };
  const { active, chosen, handlers } = useChoosing(columns, onChoose);
  const [low, high] = [ticks[0]!, ticks.at(-1)!];
  const scale: Scale = {
    step: columns.step,
    x: (index) => left + (index + 0.5) * columns.step,
    y: (value) => head + ((high - value) / (high - low)) * (height - head - foot),
  };
  const apart = labelsApart(columns, labelWidth);
  const band = (className: string | undefined, first: number, last: number) => (
    <rect
      className={className}
      x={left + first * columns.step}
      width={(last - first + 1) * columns.step}
      y={head}
      height={height - head - foot}
    />
  );
  return (
    <div
      ref={ref}
      className={classes.plot}
      data-zooms={onChoose !== undefined || undefined}
      style={{ height }}
      tabIndex={0}
      role="group"
      aria-label={`${label}: arrow keys show the figures${onChoose ? ', Enter zooms in' : ''}`}
      {...handlers}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden>
          {ticks.map((tick) => (
            <g key={tick} transform={`translate(0 ${scale.y(tick)})`}>
              <line className={classes.grid} x1={left} x2={width - right} />
              <text x={left - 8} y={4} textAnchor="end">
                {format(tick)}
              </text>
            </g>
          ))}
          {points.map(
            ({ tick, title }, index) =>
              (points.length - 1 - index) % apart === 0 && (
                <text key={title} x={scale.x(index)} y={height - 6} textAnchor="middle">
                  {tick}
                </text>
              ),
          )}
          {active !== null && !chosen && band(classes.active, active, active)}
          {shape === 'bars' ? (
            <Bars series={series} scale={scale} />
          ) : (
            series.map((each) => <Line key={keyOf(each)} series={each} scale={scale} />)
          )}
          {before && <Line series={before} scale={scale} />}
          {chosen && band(classes.chosen, chosen.first, chosen.last)}
        </svg>
      )}
      <div role="status">
        {active !== null && (
          <div className={classes.tip} style={tipPlace(scale.x(active), width)}>
            <Tip chart={chart} index={active} />
          </div>
        )}
      </div>
    </div>
  );
}

/** Beside the point, in the half of the chart that has more room; on a phone at its edge. */
function tipPlace(x: number, width: number) {
  const isLeft = x < width / 2;
  if (width < narrow) return isLeft ? { right: 0 } : { left: 0 };
  return isLeft ? { left: x + tipGap } : { right: width - x + tipGap };
}

/** One path for each series, as a year has hundreds of bars. */
function Bars({ series, scale }: { readonly series: readonly Series[]; readonly scale: Scale }) {
  const width = Math.min(scale.step * 0.7, barWidthMax);
  const tops = new Map<number, number>();
  return series.map((each) => {
    const bars = each.values.map((value, index) => {
      const below = tops.get(index) ?? 0;
      const top = below + (value ?? 0);
      tops.set(index, top);
      if (top === below) return '';
      const x = scale.x(index) - width / 2;
      return `M${x} ${scale.y(below)}V${scale.y(top)}h${width}V${scale.y(below)}z`;
    });
    return <path key={keyOf(each)} d={bars.join('')} fill={each.color} />;
  });
}

function Line({ series, scale }: { readonly series: Series; readonly scale: Scale }) {
  const places = series.values.map((value, index) =>
    value === null ? null : { x: scale.x(index), y: scale.y(value) },
  );
  return (
    <>
      <path
        d={linePath(places)}
        fill="none"
        stroke={series.color}
        strokeWidth={2}
        strokeDasharray={series.dash}
      />
      {lonePlaces(places).map(({ x, y }) => (
        <circle key={x} cx={x} cy={y} r={3} fill={series.color} />
      ))}
    </>
  );
}
