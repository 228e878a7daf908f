// A heat map of requests by weekday and hour. Each cell links to its requests.
import { Skeleton } from '@mantine/core';
import type { Mode } from '../../api/account.ts';
import { useApi } from '../../api/use-api.ts';
import { usdText } from '../../parts/money-text.ts';
import { countedText } from '../../parts/number-text.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { RequestsLink } from '../../parts/requests-link.tsx';
import type { DayRange } from '../../parts/utc-days.ts';
import { weekdays, weekHourText } from '../../parts/week-hour.ts';
import classes from './week-heat.module.css';

/** Monday first. */
const days = [1, 2, 3, 4, 5, 6, 0];
const hours = Array.from({ length: 24 }, (_, hour) => hour);

export function WeekHeat({ mode, range }: { readonly mode: Mode; readonly range: DayRange }) {
  const query = useApi(
    'GET /accounts/:account/analytics/hours',
    { query: { mode, ...range } },
    { keepPrevious: true },
  );
  return (
    <QueryView query={query} skeleton={<Skeleton h={220} />}>
      {({ requests, cost_micros: costs }) => {
        const most = Math.max(1, ...requests);
        return (
          <div className={classes.scroll} tabIndex={0} role="region" aria-label="Hours of the week">
            <table className={classes.map}>
              <thead>
                <tr>
                  <th scope="col">Day</th>
                  {hours.map((hour) => (
                    <th key={hour} scope="col">
                      {hour}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {days.map((day) => (
                  <tr key={day}>
                    <th scope="row">{weekdays[day]!.slice(0, 3)}</th>
                    {hours.map((hour) => {
                      const place = day * 24 + hour;
                      const count = requests[place]!;
                      const text = `${weekHourText(place)}: ${countedText(count, 'request')}, ${usdText(costs[place]!)}`;
                      return (
                        <td key={hour} title={text}>
                          {count > 0 && (
                            <RequestsLink filters={{ ...range, hour: String(place) }} label={text}>
                              <span
                                className={classes.cell}
                                style={{ opacity: 0.15 + (0.85 * count) / most }}
                              />
                            </RequestsLink>
                          )}
                        </td>
                      );
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        );
      }}
    </QueryView>
  );
}
