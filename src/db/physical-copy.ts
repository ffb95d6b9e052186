import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import type { EmbeddedDatabase } from './embedded.ts'

/** Keeps what belongs to a copy, by its path within it. */
export type Copy = {
  folder: (relative: string) => Promise<void>
  /** A file that has gone meanwhile is left out. */
  file: (relative: string, from: string) => Promise<void>
  text: (relative: string, content: string) => Promise<void>
}

/** Of these the folder is needed, and what is in it belongs to the running server alone. */
const EMPTY = ['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans']
/** What says that the server runs, what it logs, and what it makes anew. */
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|\.s\.PGSQL\..*|server\.log|pgsql_tmp.*|pg_internal\.init.*|backup_label.*|tablespace_map.*)$/
const SEGMENT = /^[0-9A-F]{24}$/

/**
 * Copies the files of a server that runs, and what it has written to its log since the copy began: restored, it is as it was when the copy
 * ended. That is what pg_basebackup does, which npm's PostgreSQL comes without.
 */
export async function copyCluster({ url, folder }: Pick<EmbeddedDatabase, 'url' | 'folder'>, copy: Copy): Promise<void> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // the query in flight rejects
  await client.connect()
  try {
    // PostgreSQL keeps its log for the slot, which goes with this session.
    await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [`backup_${process.pid}`])
    const begun = await client.query(`SELECT pg_walfile_name(pg_backup_start('backup', true)) AS first`)
    await copyFolder(folder, '', copy)
    const ended = await client.query('SELECT pg_walfile_name(lsn) AS last, labelfile, spcmapfile FROM pg_backup_stop(false)')
    const { last, labelfile, spcmapfile } = ended.rows[0]
    const log = path.join(folder, 'pg_wal')
    const isNeeded = (name: string) => SEGMENT.test(name) && name >= begun.rows[0].first && name <= last
    for (const name of (await readdir(log)).filter(isNeeded).sort())
      await copy.file(path.join('pg_wal', name), path.join(log, name))
    await copy.text('backup_label', labelfile)
    if (spcmapfile) await copy.text('tablespace_map', spcmapfile)
  } finally {
    await client.end()
  }
}

async function copyFolder(root: string, relative: string, copy: Copy): Promise<void> {
  for (const entry of await readdir(path.join(root, relative), { withFileTypes: true })) {
    const place = path.join(relative, entry.name)
    if (LEFT_OUT.test(entry.name)) continue
    if (entry.isSymbolicLink())
      throw new Error(`${path.join(root, place)} leads elsewhere: such a database is backed up by pg_basebackup.`)
    if (entry.isDirectory()) {
      await copy.folder(place)
      if (!EMPTY.includes(place)) await copyFolder(root, place, copy)
    } else if (entry.isFile()) await copy.file(place, path.join(root, place))
  }
}

/**
 * What a restored copy is started with: it goes on from the log that it has, on a timeline of its own, by which it is known to be restored,
 * and lets nobody in before it has. Later starts find nothing to do.
 */
export const RESTORED_FILES = {
  'recovery.signal': '',
  'postgresql.auto.conf': `restore_command = 'false'\nhot_standby = 'off'\n`,
}
