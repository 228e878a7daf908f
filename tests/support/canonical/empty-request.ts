export { emptyRequest } from '../../../src/canonical/request.ts';
