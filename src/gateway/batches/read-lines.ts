// Reads the lines of a batch from a file.
import { invalidRequest } from '../../canonical/errors.ts';
import { BatchLineSchema } from '../../domain/batches/batch-request.ts';
import { type JsonObject, parseJson, requestValuesMax, withoutBom } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { splitLines } from '../../lib/split-lines.ts';
import { batchLineBytesMax } from '../../terms/batch.ts';
import type { AskedLine } from './make-batch.ts';

const findProblem = compileSchema(BatchLineSchema);
const refused = (why: string) => invalidRequest('input_file_id', why);

/** Beside the request, a line has its id and its address. */
const lineBytesMax = batchLineBytesMax + 4_096;

/** Bounded, because reading empty lines takes time, too. */
const emptyLinesMax = 1_000;

/** Lines of JSON. Empty ones are left out. Throws ApiError `invalid_request`, which names the line. */
export async function* linesOfFile(
  pieces: AsyncIterable<Buffer>,
  endpoint: string,
): AsyncGenerator<AskedLine> {
  let [number, empty] = [0, 0];
  for await (const { text: line, isCut } of splitLines(pieces, lineBytesMax)) {
    number += 1;
    const at = `Line ${number} of the file`;
    if (isCut) throw refused(`${at} is longer than ${batchLineBytesMax} bytes. Send it by itself.`);
    if (line.toString('latin1').trim() === '') {
      empty += 1;
      if (empty <= emptyLinesMax) continue;
      throw refused(`The file has more than ${emptyLinesMax} empty lines. Leave them out.`);
    }
    const parsed = parseJson(number === 1 ? withoutBom(line) : line, {
      valuesMax: requestValuesMax,
    });
    if (!parsed.ok) throw refused(`${at} cannot be read: ${parsed.message}.`);
    const problem = findProblem(parsed.value);
    if (problem) throw refused(`${at}: ${problem.path || 'it'} ${problem.message}`);
    const { custom_id: customId, url, body } = parsed.value as LineOfFile;
    if (url !== endpoint)
      throw refused(`${at}: \`url\` must be the \`endpoint\` of the batch, ${endpoint}.`);
    // No store keeps halves of characters: two such ids would be one in the results.
    if (!customId.isWellFormed())
      throw refused(
        `${at}: \`custom_id\` holds half of a character (an unpaired surrogate). Send whole characters.`,
      );
    yield { customId, body };
  }
}

type LineOfFile = { readonly custom_id: string; readonly url: string; readonly body: JsonObject };
