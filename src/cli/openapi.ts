// `tollgate openapi`
import { loadConfig } from '../config/load.ts';
import { dashboardDocument, publicDocument } from '../reference/reference.ts';

/** Prints the document that the gateway serves with this configuration. */
export function openapiCommand({ dashboard = false }: { readonly dashboard?: boolean }): void {
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  const document = dashboard ? dashboardDocument(config) : publicDocument(config);
  console.log(JSON.stringify(document, null, 2));
}
