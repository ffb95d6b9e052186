// Builds the package from the OpenAPI document of API v1, and packs it for /docs: `npm run build:client`. What is generated and compiled is
// not in git.

import { execFile } from 'node:child_process'
import { rename } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'

/**
 * @param document path or address of the OpenAPI document.
 * @param folder of the package, with what is written by hand in `src`; `src/generated` and `dist` are made anew.
 * @throws Error with what TypeScript has to say.
 */
export async function buildClient(document: string, folder: string): Promise<void> {
  await createClient({
    input: document,
    output: { path: `${folder}/src/generated`, module: { extension: '.js' } },
    logs: { level: 'silent', file: false },
    plugins: [
      '@hey-api/typescript',
      { name: '@hey-api/client-fetch', throwOnError: true },
      { name: '@hey-api/sdk', operations: { strategy: 'single', containerName: 'Api' } },
    ],
  })
  await promisify(execFile)(process.execPath, ['node_modules/typescript-7/bin/tsc', '-p', folder]).catch(({ stdout }) => {
    throw new Error(stdout)
  })
}

/** Packs what was built, as npm installs it. @param file where to. */
async function packClient(folder: string, file: string): Promise<void> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', path.dirname(file)]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder })
  await rename(path.join(path.dirname(file), JSON.parse(stdout)[0].filename), file)
}

if (import.meta.main) {
  await buildClient('node_modules/.cache/openapi/v1.json', 'clients/typescript')
  await packClient('clients/typescript', path.resolve('src/generated/client.tgz'))
}
