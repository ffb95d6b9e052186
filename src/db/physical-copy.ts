import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, chown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { type Copied, copyChecked, copyFolder, measureContent, syncFolder } from './checked-copy.ts'
import { type EmbeddedDatabase, startEmbeddedDatabase } from './embedded.ts'
import { databaseFolder, findIdentity } from './embedded-files.ts'

/** Folders whose content the server creates at its start, as in pg_basebackup; the folders have to exist. */
const EMPTIED = ['pg_dynshmem', 'pg_notify', 'pg_replslot', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans']
const CONTROL = 'global/pg_control'
const LEFT_OUT = /^(postmaster\.(pid|opts)|server\.log|pg_wal|backup_label.*|tablespace_map.*|global\/pg_control)$/
const LEFT_OUT_ANYWHERE = /^(\.s\.PGSQL\..*|pgsql_tmp.*|pg_internal\.init.*)$/

/**
 * Copies the files of a running server (PostgreSQL's "Making a Base Backup Using the Low Level API"), with what it wrote to its log
 * meanwhile: everything that was committed before the copy began is in it.
 *
 * @param targetFolder a folder that does not exist yet.
 */
export async function copyRunningDatabase(
  { url, folder }: Pick<EmbeddedDatabase, 'url' | 'folder'>,
  targetFolder: string,
): Promise<Copied> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // the query in flight, or the next one, rejects
  await client.connect()
  try {
    // It keeps the server from deleting its log, for as long as this session lasts.
    await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [`backup_${randomBytes(8).toString('hex')}`])
    await client.query(`SELECT pg_backup_start('backup', true)`)
    const copied = await copyFolder(folder, targetFolder, isLeftOut)
    const addCopy = async (name: string) => {
      const content = await copyChecked(path.join(folder, name), path.join(targetFolder, name))
      if (!content) throw new Error(`${path.join(folder, name)} is not there any more.`)
      copied.files.push({ path: name, ...content })
    }
    // Copied last: recovery must not take the copy for older than its log. It may change while being read.
    await waitUntilUnchanged(path.join(folder, CONTROL))
    await addCopy(CONTROL)
    const stopped = await client.query('SELECT lsn::text, labelfile FROM pg_backup_stop(false)')
    const { lsn, labelfile } = stopped.rows[0] as { lsn: string; labelfile: string }
    await mkdir(path.join(targetFolder, 'pg_wal'), { mode: 0o700 })
    copied.folders.push('pg_wal')
    for (const name of await listLog(client, folder, labelfile, lsn)) await addCopy(`pg_wal/${name}`)
    await writeFile(path.join(targetFolder, 'backup_label'), labelfile, { mode: 0o600, flush: true })
    copied.files.push({ path: 'backup_label', ...(await measureContent(path.join(targetFolder, 'backup_label')))! })
    for (const changed of ['global', 'pg_wal', '']) await syncFolder(path.join(targetFolder, changed))
    return copied
  } finally {
    await client.end()
  }
}

const isLeftOut = (relativePath: string): boolean =>
  LEFT_OUT.test(relativePath) ||
  LEFT_OUT_ANYWHERE.test(path.basename(relativePath)) ||
  EMPTIED.includes(path.dirname(relativePath).split('/')[0]!)

/** @returns when the file has been read twice with the same content. */
async function waitUntilUnchanged(file: string): Promise<void> {
  for (let last = ''; ; ) {
    const { sha256 } = (await measureContent(file)) ?? { sha256: '' }
    if (sha256 === last) return
    last = sha256
  }
}

/** Names of the log files from the start of the copy to its end, and of the timeline history files. */
async function listLog(client: Client, folder: string, labelfile: string, end: string): Promise<string[]> {
  const first = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/.exec(labelfile)?.[1]
  if (!first) throw new Error(`PostgreSQL says in other words where a backup begins: ${labelfile}`)
  const { rows } = await client.query(`SELECT pg_size_bytes(current_setting('wal_segment_size')) AS size`)
  const size = BigInt(rows[0].size)
  const perHigh = 0x1_0000_0000n / size
  const [high, low] = end.split('/').map((part) => BigInt(`0x${part}`)) as [bigint, bigint]
  const hex = (number: bigint) => number.toString(16).toUpperCase().padStart(8, '0')
  const nameOf = (segment: bigint) => first.slice(0, 8) + hex(segment / perHigh) + hex(segment % perHigh)
  const last = ((high << 32n) + low - 1n) / size // the end is the first byte that is not needed
  const names = (await readdir(path.join(folder, 'pg_wal'))).filter((name) => name.endsWith('.history'))
  const from = BigInt(`0x${first.slice(8, 16)}`) * perHigh + BigInt(`0x${first.slice(16)}`)
  for (let segment = from; segment <= last; segment++) names.push(nameOf(segment))
  return names
}

/**
 * Starts a server on a copy, which recovers it to the moment at which the copy was complete, and stops it. The copy continues on a new
 * timeline, by which domain/events/detect-restore.ts detects the restore.
 *
 * @param dataDir folder with the copy of the database; nothing else uses it.
 * @throws Error with the server's log if the recovery fails.
 */
export async function recoverCopy(dataDir: string): Promise<void> {
  const folder = databaseFolder(dataDir)
  const settings = path.join(folder, 'postgresql.auto.conf')
  const originalSettings = await readFile(settings)
  // The log is complete already. Nobody can connect before the end of the recovery.
  await appendFile(settings, `\nrestore_command = 'exit 1'\nhot_standby = off\n`)
  await writeFile(path.join(folder, 'recovery.signal'), '', { mode: 0o600 })
  await changeOwner(folder)
  const database = await startEmbeddedDatabase({ dataDir, recovers: true })
  await database.release()
  if (existsSync(path.join(folder, 'postmaster.pid'))) throw new Error(`The database in ${folder} did not stop in time.`)
  await writeFile(settings, originalSettings, { flush: true })
  await rm(path.join(folder, 'backup_label.old'), { force: true })
}

/** PostgreSQL refuses files that are not its user's. */
async function changeOwner(folder: string): Promise<void> {
  const identity = findIdentity()
  if (!identity) return
  for (const file of ['', ...(await readdir(folder, { recursive: true }))])
    await chown(path.join(folder, file), identity.uid, identity.gid)
}
