// The rows of a `DataTable` on a desktop or tablet.
import { Skeleton, Table } from '@mantine/core';
import { OpenButton } from './data-table-button.tsx';
import { alignOf, cellOf } from './data-table-cell.tsx';
import { SortHeading } from './data-table-heading.tsx';
import type { ViewProps } from './data-table-types.ts';
import classes from './data-table.module.css';
import { Digits } from './money.tsx';
import { digitsOf } from './column-digits.ts';

const skeletonRows = [0, 1, 2, 3, 4];

export function TableRows<Row>(props: ViewProps<Row>) {
  const { label, columns, rowKey, rows, onOpen, dense = false } = props;
  const digits = digitsOf(columns, rows);
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={label}>
      <Table
        className={classes.table}
        verticalSpacing={5}
        horizontalSpacing={dense ? 8 : 'lg'}
        data-dense={dense || undefined}
        aria-label={label}
        highlightOnHover={onOpen !== undefined}
      >
        <Table.Thead>
          <Table.Tr>
            {columns.map((column, index) => (
              <SortHeading key={column.title || index} column={column} {...props} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows === undefined
            ? skeletonRows.map((row) => (
                <Table.Tr key={row}>
                  {columns.map(({ title }, index) => (
                    <Table.Td key={title || index}>
                      <Skeleton h={14} my={4} w={index === 0 ? '70%' : '50%'} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            : rows.map((row) => (
                <Table.Tr
                  key={rowKey(row)}
                  data-opens={onOpen !== undefined || undefined}
                  onClick={onOpen && ((event) => isRowClick(event.target) && onOpen(row))}
                >
                  {columns.map((column, index) => (
                    <Table.Td key={column.title || index} ta={alignOf(column)}>
                      <Digits value={digits[index]}>
                        {index === 0 && onOpen ? (
                          <OpenButton row={rowKey(row)} onOpen={() => onOpen(row)}>
                            {cellOf(column, row)}
                          </OpenButton>
                        ) : (
                          cellOf(column, row)
                        )}
                      </Digits>
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Ignores clicks on a row's own buttons and links, and clicks that select text. */
function isRowClick(target: EventTarget): boolean {
  const isControl =
    target instanceof Element &&
    target.closest('a, button, input, [role="menuitem"], [role="switch"]') !== null;
  return !isControl && getSelection()?.isCollapsed !== false;
}
