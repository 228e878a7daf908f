// The specification, statement by statement. If the specification's text is available, also checks
// that no statement is left out.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { endpointSections } from './endpoint-sections.ts';
import { resources } from './resources.ts';
import { rules } from './rules.ts';
import { SpecService } from './spec-service.ts';

const sections = Object.entries({ ...resources, ...endpointSections, ...rules });
const specification = join(import.meta.dirname, '..', '..', '..', 'shared', 'spec.md');

const service = await SpecService.start();
after(() => service.stop());

for (const [title, statements] of sections) {
  describe(title, () => {
    for (const [sentence, proof] of Object.entries(statements))
      test(sentence, async () => void (await proof(service)));
  });
}

test('every statement of the specification is here, in its words', (t) => {
  if (!existsSync(specification)) {
    assert.notEqual(process.env['CI'], 'true', 'CI has the specification');
    return t.skip('the specification is not beside the repository');
  }
  const stated = statementsOf(readFileSync(specification, 'utf8'));
  const tried = sections.flatMap(([title, statements]) =>
    Object.keys(statements).map((sentence) => `${title}: ${sentence}`),
  );
  assert.deepEqual(tried.toSorted(), stated.toSorted());
});

/**
 * Sentences and table rows, with their heading. A sentence that only says what is not specified, or
 * only introduces what follows, is not a statement.
 */
function statementsOf(markdown: string): string[] {
  const found: string[] = [];
  let title = '';
  const lines = markdown.split('\n');
  for (const [number, line] of lines.entries()) {
    if (line.startsWith('#')) title = line.replace(/^#+ /, '');
    else if (/^\|[- |]+\|$/.test(line) || /^\|[- |]+\|$/.test(lines[number + 1] ?? '')) continue;
    else if (line.startsWith('|')) found.push(`${title}: ${cellsOf(line).join(' | ').trim()}`);
    else for (const sentence of sentencesOf(line)) found.push(`${title}: ${sentence}`);
  }
  return found.filter((statement) => !isNoStatement(statement));
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

function sentencesOf(line: string): string[] {
  const text = line.replace(/^\d+\. /, '');
  return text === '' ? [] : text.split(/(?<=[.)]) (?=[A-Z])/);
}

function isNoStatement(statement: string): boolean {
  return (
    statement.endsWith('not shown.') ||
    statement.startsWith('Model gateway service') ||
    /: (?:Output items:|Request fields:|Items of `input` when an array:|Query parameters:|Rules:|Content cache rules:|No other event mechanism is described\.|Error conditions are listed under Errors\.|Response body: see Resources\.)$/.test(
      statement,
    )
  );
}
