// Where a chart draws what: ticks, points and lines. Pure functions; lengths are in pixels.

/** A column of the chart for each point. */
export type Columns = { readonly left: number; readonly step: number; readonly count: number };

const steps = [1, 2, 5, 10];

/** Returns about four round whole numbers that reach from the lowest value, or zero, to the highest. */
export function ticksOf(values: readonly number[]): readonly number[] {
  const low = values.reduce((least, value) => Math.min(least, value), 0);
  const high = values.reduce((most, value) => Math.max(most, value), 0);
  const rough = Math.max((high - low) / 4, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = steps.find((each) => each * power >= rough)! * power;
  const first = Math.floor(low / step);
  const count = Math.max(Math.ceil(high / step) - first, 1);
  return Array.from({ length: count + 1 }, (_, index) => (first + index) * step);
}

/** Returns the point whose column is at `x`, or the nearest one. */
export function pointAt(x: number, { left, step, count }: Columns): number {
  return Math.min(Math.max(Math.floor((x - left) / step), 0), count - 1);
}

/** Returns every how many points a label fits. The last point has one. */
export function labelsApart({ step }: Columns, labelWidth: number): number {
  return Math.max(Math.ceil(labelWidth / step), 1);
}

type Place = { readonly x: number; readonly y: number };

/** Writes lines through the places as an SVG path. A place that is null interrupts them. */
export function linePath(places: readonly (Place | null)[]): string {
  return places
    .map((place, index) => place && `${places[index - 1] ? 'L' : 'M'}${place.x} ${place.y}`)
    .filter((part) => part !== null)
    .join('');
}

/** Returns the places without a neighbour, which no line shows. */
export function lonePlaces(places: readonly (Place | null)[]): readonly Place[] {
  return places.filter(
    (place, index): place is Place => place !== null && !places[index - 1] && !places[index + 1],
  );
}
