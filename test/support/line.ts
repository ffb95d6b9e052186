import path from 'node:path'
import { onTestFinished } from 'vitest'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** A line over TCP to the database server, for faults: what is on it can be cut, and made good again. */
export type DatabaseLine = Pick<TcpProxy, 'cut' | 'mend'> & { url: string }

/** A line to that database, mended already unless told otherwise. It ends with the test. */
export async function layDatabaseLine(databaseUrl: string, { mended = true } = {}): Promise<DatabaseLine> {
  const { port, cut, mend } = await startTcpProxy({ path: socketOf(databaseUrl) })
  if (!mended) await cut()
  onTestFinished(cut)
  const url = new URL(databaseUrl)
  url.search = ''
  url.host = `127.0.0.1:${port}`
  return { url: url.href, cut, mend }
}

/** The unix socket that the server of an embedded database listens on. */
export const socketOf = (databaseUrl: string): string =>
  path.join(new URL(databaseUrl).searchParams.get('host')!, '.s.PGSQL.5432')
