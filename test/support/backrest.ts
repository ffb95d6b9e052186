import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

const [BIN] = globSync('/usr/lib/postgresql/15/bin')
/** True if pgBackRest and a PostgreSQL that it supports are installed, and this process is root and can act as PostgreSQL's user. */
export const hasBackrest = spawnSync('pgbackrest', ['version']).status === 0 && BIN !== undefined && process.getuid?.() === 0

export type CommandResult = { code: number; output: string }

/**
 * Starts Debian's PostgreSQL with the files of ops/pgbackrest and a repository in a folder, and makes a full backup. It stops with the test.
 */
export async function startBackedUpPostgres() {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-backrest-'))
  await chmod(folder, 0o777)
  const configuration = path.join(folder, 'pgbackrest.conf')
  const shipped = await readFile('ops/pgbackrest/pgbackrest.conf', 'utf8')
  const places = { log: `${folder}/log`, spool: `${folder}/spool`, lock: `${folder}/lock` }
  const own = Object.entries(places).map(([what, place]) => `${what}-path=${place}\n`)
  const lines = shipped
    .replace(/^repo1-path=.*$/m, `repo1-path=${folder}/repository\n${own.join('')}`)
    .replace(/^repo1-cipher-pass=.*$/m, 'repo1-cipher-pass=of-a-test')
    .replace(/^pg1-path=.*$/m, `pg1-path=${folder}/data\npg1-socket-path=${folder}`)
  await writeFile(configuration, lines)

  /** Runs a command as the server's user. */
  const run = async (command: string, env: Record<string, string> = {}): Promise<CommandResult> => {
    const shell = ['-s', '/bin/bash', 'postgres', '-c', command]
    const child = spawn('su', shell, {
      env: { PATH: `${path.resolve('node_modules/.bin')}:${BIN}:${process.env.PATH}`, PGBACKREST_CONFIG: configuration, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: await ended, output: out + err }
  }
  const mustRun = async (command: string) => {
    const { code, output } = await run(command)
    if (code !== 0) throw new Error(`${command}: ${output}`)
  }
  const start = () => mustRun(`pg_ctl --pgdata=${folder}/data --log=${folder}/log/server --wait --silent start`)
  const stop = () => mustRun(`pg_ctl --pgdata=${folder}/data --mode=fast --wait --silent stop`)
  onTestFinished(async () => {
    if (existsSync(`${folder}/data/postmaster.pid`)) await stop()
    await rm(folder, { recursive: true, force: true })
  })
  await mustRun(`mkdir ${folder}/log`)
  await mustRun(`initdb --pgdata=${folder}/data --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null`)
  const archiving = await readFile('ops/pgbackrest/postgresql.conf', 'utf8')
  const settings = `listen_addresses = ''\nunix_socket_directories = '${folder}'\n`
  const configured = archiving.replace('pgbackrest --stanza', `pgbackrest --config=${configuration} --stanza`)
  await writeFile(`${folder}/data/postgresql.conf`, configured + settings)
  await start()
  await mustRun(`createdb --host=${folder} assessments`)
  for (const command of ['stanza-create', 'check', '--type=full backup'])
    await mustRun(`pgbackrest --stanza=assessments --log-level-console=error ${command}`)
  return { url: `postgresql://postgres@localhost/assessments?host=${folder}`, folder, run, mustRun, start, stop }
}
