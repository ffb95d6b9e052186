import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { hasSecretKey, recordSecretKey } from '../domain/concurrency/secret-fingerprint.ts'
import type { ServiceContext } from '../domain/context.ts'
import { ConfigError } from './config.ts'

export const WRONG_SECRET_KEY =
  'SECRET_KEY: is not the one that this database was used with. With it, links that were sent would not open, and stored secrets could not be read. Set the earlier one; if none was set, leave SECRET_KEY unset: the embedded database keeps its own in the file secret-key. To change the key, put the new one before the earlier one: SECRET_KEY=new,earlier. If the earlier one is lost: npm run cli -- secret replace'

/**
 * Checks that the database was used with one of these secret keys, and records the newest.
 *
 * @throws ConfigError if none of the keys matches, unless `replaces`.
 */
export async function claimSecretKey(
  { db }: Pick<ServiceContext, 'db'>,
  secretKeys: readonly string[],
  { replaces }: { replaces: boolean },
): Promise<void> {
  if (!replaces && !(await hasSecretKey({ db }, secretKeys))) throw new ConfigError([WRONG_SECRET_KEY])
  await recordSecretKey({ db }, secretKeys)
}

/** @param folder of the embedded database. */
export const secretFile = (folder: string): string => path.join(folder, 'secret-key')

/** Reads the embedded database's secret, creating it if missing. Of several processes that start together, one creates it. */
export async function loadOrCreateSecret(folder: string): Promise<string> {
  await writeFile(secretFile(folder), randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 }).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  return readFile(secretFile(folder), 'utf8')
}

/** The embedded database's secret; undefined before its first start. */
export const readSecret = async (folder: string): Promise<string[] | undefined> => {
  const secret = await readIfThere(secretFile(folder))
  return secret === undefined ? undefined : [secret]
}

const readIfThere = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
