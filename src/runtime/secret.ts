import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { hasSecretKey, recordSecretKey } from '../domain/concurrency/secret-fingerprint.ts'
import type { ServiceContext } from '../domain/context.ts'
import { ConfigError } from './config.ts'

export const WRONG_SECRET_KEY =
  'SECRET_KEY: is not the one that this database was used with. With it, links that were sent would not open, and stored secrets could not be read. Set the earlier one; if none was set, leave SECRET_KEY unset: the embedded database keeps its own in the file secret-key. To change the key, put the new one before the earlier one: SECRET_KEY=new,earlier. If the earlier one is lost: npm run cli -- secret replace'

/**
 * Makes sure that the database goes on with the secret key that it was used with, and records a newer one of the list.
 *
 * @throws ConfigError when the key is not among them, unless `replaces`.
 */
export async function claimSecretKey(
  { db }: Pick<ServiceContext, 'db'>,
  secretKeys: readonly string[],
  { replaces }: { replaces: boolean },
): Promise<void> {
  if (!replaces && !(await hasSecretKey({ db }, secretKeys))) throw new ConfigError([WRONG_SECRET_KEY])
  await recordSecretKey({ db }, secretKeys)
}

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

/** The embedded database's own secret; undefined before its first start. @param folder where the database is. */
export const readSecret = async (folder: string): Promise<string[] | undefined> => {
  const secret = await readIfThere(secretFile(folder))
  return secret === undefined ? undefined : [secret]
}

const readIfThere = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
