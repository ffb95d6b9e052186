import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Where the embedded database's own secret is kept, given the folder of the database. */
export const secretFile = (folder: string): string => path.join(folder, 'secret-key')

/**
 * Reads the embedded database's own secret. The first process to get here writes it.
 *
 * @param folder where the database is.
 */
export async function readOrMakeSecret(folder: string): Promise<string> {
  await writeFile(secretFile(folder), randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 }).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  return readFile(secretFile(folder), 'utf8')
}
