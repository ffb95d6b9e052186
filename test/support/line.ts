import path from 'node:path'
import { onTestFinished } from 'vitest'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** A TCP connection path to the database server that a test can cut and restore. */
export type DatabaseLine = Pick<TcpProxy, 'cut' | 'mend'> & { url: string }

/** Opens a proxy to the database, which passes connections unless `mended` is false. It closes with the test. */
export async function layDatabaseLine(databaseUrl: string, { mended = true } = {}): Promise<DatabaseLine> {
  const { port, cut, mend } = await startTcpProxy({ path: socketOf(databaseUrl) })
  if (!mended) await cut()
  onTestFinished(cut)
  const url = new URL(databaseUrl)
  url.search = ''
  url.host = `127.0.0.1:${port}`
  return { url: url.href, cut, mend }
}

/** Returns the Unix socket of an embedded database's server. */
export const socketOf = (databaseUrl: string): string =>
  path.join(new URL(databaseUrl).searchParams.get('host')!, '.s.PGSQL.5432')
