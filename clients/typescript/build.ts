// Builds the package from the OpenAPI document of API v1, and packs it for /docs: `npm run build:client`. Generated and compiled
// files are not in git.

import { execFile } from 'node:child_process'
import { rename } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'

/**
 * @param document path or URL of the OpenAPI document.
 * @param folder folder of the package. `src/generated` and `dist` are created; the other files in `src` are written by hand.
 * @throws Error with the compiler's output.
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

/** Packs the built package for npm. @param file path of the archive. */
async function packClient(folder: string, file: string): Promise<void> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', path.dirname(file)]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder })
  await rename(path.join(path.dirname(file), JSON.parse(stdout)[0].filename), file)
}

if (import.meta.main) {
  await buildClient('node_modules/.cache/openapi/v1.json', 'clients/typescript')
  await packClient('clients/typescript', path.resolve('src/generated/client.tgz'))
}
