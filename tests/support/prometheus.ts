// Reads what Prometheus and Grafana read: a scrape, and the queries of a dashboard.
import { spawnSync } from 'node:child_process';

const isThere = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/** Why tests that need Debian's `prometheus` are skipped; false: they run. In CI they fail without it. */
export const skipWithoutPrometheus: string | false =
  isThere || process.env['CI'] ? false : "there is no Debian package 'prometheus'";

export type Scrape = {
  /** By name. `labels`: null when the metric has no values. */
  readonly metrics: ReadonlyMap<
    string,
    { readonly type: string; readonly help: string; readonly labels: ReadonlySet<string> | null }
  >;
  /** Every series with its labels, sorted. */
  readonly series: readonly string[];
};

export function readScrape(text: string): Scrape {
  const series = [...text.matchAll(/^([a-z]\w*(?:\{.*\})?) \S+$/gm)].map(([, name]) => name!);
  const metrics = new Map(
    [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)].map(([, name, help, type]) => {
      const isOwn = new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{|$)`);
      const own = series.filter((one) => isOwn.test(one));
      const labels = own.flatMap((one) =>
        [...one.matchAll(/[{,](\w+)="/g)].map(([, label]) => label!),
      );
      return [name!, { type: type!, help: help!, labels: own.length > 0 ? new Set(labels) : null }];
    }),
  );
  return { metrics, series: series.toSorted() };
}

/** Returns every query of a Grafana dashboard, with the panel's title. */
export function dashboardQueries(
  json: string,
): { readonly title: string; readonly query: string }[] {
  type Panel = { title: string; targets?: { expr: string }[] };
  const { panels } = JSON.parse(json) as { panels: Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ title, query: expr })),
  );
}

/** Returns the metrics and labels that a query names. Histograms are named without their parts. */
export function namesIn(query: string): { metrics: string[]; labels: string[] } {
  const names = [...query.matchAll(/\b(?:tollgate|process|nodejs)_\w+|\bup\b/g)].map(
    ([name]) => name,
  );
  const matched = [...query.matchAll(/[{,](\w+)(?:=|!=|=~|!~)"/g)].map(([, label]) => label!);
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) =>
    list!.split(/, */),
  );
  return {
    metrics: names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')),
    labels: [...matched, ...grouped],
  };
}
