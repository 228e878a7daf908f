// The rows of a `DataTable` on a phone: a card for each.
import { NativeSelect, Skeleton } from '@mantine/core';
import { digitsOf } from './column-digits.ts';
import { OpenButton } from './data-table-button.tsx';
import { cellOf } from './data-table-cell.tsx';
import { ColumnZone } from './data-table-heading.tsx';
import type { ViewProps } from './data-table-types.ts';
import classes from './data-table.module.css';
import { Digits } from './money.tsx';
import { firstOrder } from './sort-rows.ts';

const skeletonRows = [0, 1, 2, 3, 4];

export function TableCards<Row>(props: ViewProps<Row>) {
  const { label, columns, rowKey, rows, onOpen } = props;
  const titleColumn = columns.find(({ phone }) => phone === 'title') ?? columns[0];
  const digits = digitsOf(columns, rows);
  if (rows === undefined) {
    return (
      <div className={classes.cards}>
        {skeletonRows.map((row) => (
          <div key={row} className={classes.card}>
            <Skeleton h={16} w="60%" mb={12} />
            <Skeleton h={12} w="90%" mb={8} />
            <Skeleton h={12} w="80%" />
          </div>
        ))}
      </div>
    );
  }
  return (
    <>
      <OrderSelect {...props} />
      <ul className={classes.cards} aria-label={label}>
        {rows.map((row) => (
          <li key={rowKey(row)} className={classes.card}>
            <div className={classes.cardTitle}>
              {titleColumn &&
                (onOpen ? (
                  <OpenButton row={rowKey(row)} onOpen={() => onOpen(row)}>
                    {cellOf(titleColumn, row)}
                  </OpenButton>
                ) : (
                  cellOf(titleColumn, row)
                ))}
            </div>
            {columns.map((column, index) => {
              const { title, phone, kind } = column;
              if (column === titleColumn || phone === 'hidden') return null;
              return title === '' ? (
                <div key={index} className={classes.cardActions}>
                  {cellOf(column, row)}
                </div>
              ) : (
                <div key={title} className={classes.field}>
                  <span className={classes.fieldName}>
                    {title}
                    <ColumnZone kind={kind} />
                  </span>
                  <span className={classes.fieldValue}>
                    <Digits value={digits[index]}>{cellOf(column, row)}</Digits>
                  </span>
                </div>
              );
            })}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Chooses the order, which the headings do on a desktop. */
function OrderSelect<Row>(props: ViewProps<Row>) {
  const { label, columns, rows = [], order, setOrder, sorted, onSort } = props;
  const choices = columns.filter(({ sort, value }) => (onSort ? sort !== undefined : value));
  if (choices.length === 0 || rows.length < 2) return null;
  const chosen = onSort
    ? columns.find(({ sort }) => sort !== undefined && sort === sorted)?.title
    : order?.title;
  const choose = (title: string) => {
    const column = choices.find((each) => each.title === title);
    if (onSort) onSort(column?.sort);
    else if (!column?.value) setOrder(null);
    else setOrder(firstOrder(column, rows.map(column.value)));
  };
  return (
    <NativeSelect
      className={classes.order}
      size="xs"
      aria-label={`Order of ${label}`}
      value={chosen ?? ''}
      onChange={({ currentTarget: { value } }) => choose(value)}
      data={[
        { value: '', label: 'Usual order' },
        ...choices.map(({ title }) => ({ value: title, label: `By ${title.toLowerCase()}` })),
      ]}
    />
  );
}
