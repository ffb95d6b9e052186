import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

const SHIPPED = path.join(import.meta.dirname, '../../ops/ha')
const PASSWORD = 'of-a-drill'

/** True if Patroni, etcd, and HAProxy are installed and this process is root, so that it can become PostgreSQL's user. */
export const canFailOver =
  process.getuid?.() === 0 && ['patroni', 'etcd', 'haproxy'].every((command) => spawnSync('which', [command]).status === 0)

type Member = { name: string; role: string; state: string; timeline?: number; lag?: number | string }

/**
 * Starts three nodes with Patroni, an etcd, and HAProxy in front of them. It uses the shipped files with other addresses and without the
 * watchdog, which a test machine lacks.
 */
export async function startPatroni() {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-patroni-'))
  await chmod(folder, 0o755)
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres']))
  const postgres = { uid: idOf('-u'), gid: idOf('-g') }
  const [etcd, peers, primary] = [await findFreePort(), await findFreePort(), await findFreePort()]
  const nodes = await Promise.all(
    [1, 2, 3].map(async (n) => ({ name: `node${n}`, port: await findFreePort(), rest: await findFreePort() })),
  )

  /** Starts a program that runs until it is killed. `said` returns the end of its output. */
  async function run(name: string, command: string, args: string[], env: Record<string, string>, as = {}) {
    const child = spawn(command, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...as,
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said = (said + text).slice(-20_000)))
    return {
      name,
      pid: child.pid!,
      said: () => said,
      exited: once(child, 'close'),
      kill: (signal: NodeJS.Signals) => child.kill(signal),
    }
  }

  const etcdEnv = await readEnv('etcd.env', (text) =>
    text.replaceAll(/10\.0\.0\.31:2379/g, `127.0.0.1:${etcd}`).replaceAll(/10\.0\.0\.31:2380/g, `127.0.0.1:${peers}`),
  )
  const [first = ''] = etcdEnv.ETCD_INITIAL_CLUSTER!.split(',')
  const election = await run('etcd', 'etcd', [], {
    ...etcdEnv,
    ETCD_DATA_DIR: path.join(folder, 'etcd'),
    ETCD_INITIAL_CLUSTER: first,
  })
  opened.defer(async () => {
    election.kill('SIGKILL')
    await election.exited
  })

  const config = path.join(folder, 'patroni.yml')
  const patroni = await readFile(path.join(SHIPPED, 'patroni.yml'), 'utf8')
  await writeFile(config, patroni.replace('mode: required', 'mode: "off"').replaceAll('10.0.0.0/24', '127.0.0.1/32'))
  const running = new Map<string, Awaited<ReturnType<typeof run>>>()
  const dataOf = (name: string) => path.join(folder, name, 'data')
  async function startNode({ name, port, rest }: (typeof nodes)[number]) {
    const env = await readEnv('node.env')
    Object.assign(env, {
      PATRONI_NAME: name,
      PATRONI_ETCD_HOSTS: `127.0.0.1:${etcd}`,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${rest}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${rest}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_DATA_DIR: dataOf(name),
      PATRONI_POSTGRESQL_PGPASS: path.join(folder, name, 'pgpass'),
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
      LC_ALL: 'C.UTF-8',
    })
    running.set(name, await run(name, 'patroni', [config], env, postgres))
  }
  for (const node of nodes) {
    await mkdir(path.join(folder, node.name))
    await chown(path.join(folder, node.name), postgres.uid, postgres.gid)
    await startNode(node)
  }
  /** Sends a signal to a node's Patroni, its PostgreSQL, and PostgreSQL's child processes. */
  async function signal(name: string, which: NodeJS.Signals): Promise<void> {
    const pids = [running.get(name)!.pid]
    const [pid] = (await readFile(path.join(dataOf(name), 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
    if (pid) pids.push(Number(pid), ...childrenOf(Number(pid)))
    for (const pid of pids) {
      try {
        process.kill(pid, which)
      } catch {
        // the process has already ended
      }
    }
  }
  opened.defer(async () => {
    for (const { name } of nodes) await signal(name, 'SIGKILL')
    await Promise.all([...running.values()].map(({ exited }) => exited))
  })

  const servers = Object.fromEntries(nodes.map(({ name, port, rest }) => [name, `127.0.0.1:${port} check port ${rest}`]))
  const haproxy = (await readFile(path.join(SHIPPED, 'haproxy-database.cfg'), 'utf8'))
    .replace('bind 127.0.0.1:5432', `bind 127.0.0.1:${primary}`)
    .replaceAll(/server (node\d) \S+ check/g, (_, name) => `server ${name} ${servers[name]}`)
  await writeFile(path.join(folder, 'haproxy.cfg'), haproxy)
  const balancer = await run('haproxy', 'haproxy', ['-db', '-f', path.join(folder, 'haproxy.cfg')], {})
  opened.defer(async () => {
    balancer.kill('SIGKILL')
    await balancer.exited
  })

  async function members(): Promise<Member[]> {
    for (const { rest } of nodes) {
      const answer = await fetch(`http://127.0.0.1:${rest}/cluster`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      )
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members
    }
    return []
  }
  const named = async (role: string) => (await members()).find((member) => member.role === role)?.name
  /** Waits until one node leads and two follow it, one of them synchronously unless `synchronous` is false. */
  const settled = ({ synchronous = true } = {}) =>
    waitUntil(
      'three nodes',
      async () => {
        const found = await members()
        const [leader] = found.filter(({ role, state }) => role === 'leader' && state === 'running')
        const followers = found.filter(
          ({ role, state, timeline }) =>
            role !== 'leader' && ['running', 'streaming'].includes(state) && timeline === leader?.timeline,
        )
        return (
          (leader && followers.length === 2 && (!synchronous || found.some(({ role }) => role === 'sync_standby'))) || undefined
        )
      },
      300_000,
    ).catch((error) => {
      const said = [election, ...running.values()].map(({ name, said }) => `${name}: ${said().slice(-1_500)}`).join('\n')
      throw new Error(`${error.message}\n${said}`)
    })
  await settled()
  const kept = opened.move()
  const addressOf = (user: string, port: number, database: string) =>
    `postgresql://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`
  return {
    nodes,
    /** Returns a URL that always leads to the current primary. */
    url: (user: string, database: string) => addressOf(user, primary, database),
    urlsOfNodes: (user: string, database: string) => nodes.map(({ port }) => addressOf(user, port, database)),
    leader: async () => (await named('leader'))!,
    synchronousStandby: async () => (await named('sync_standby'))!,
    signal,
    /** Starts a node again, like its machine after a failure. */
    startAgain: (name: string) => startNode(nodes.find((node) => node.name === name)!),
    settled,
    async configure(settings: object): Promise<void> {
      const change = { method: 'PATCH', body: JSON.stringify(settings), headers: { 'content-type': 'application/json' } }
      await waitUntil('a node to accept the configuration', async () => {
        const answers = nodes.map(({ rest }) => fetch(`http://127.0.0.1:${rest}/config`, change).catch(() => undefined))
        return (await Promise.all(answers)).some((answer) => answer?.status === 200) || undefined
      })
    },
    /** Runs one statement on the primary. */
    async query(user: string, database: string, sql: string) {
      const client = new Client({ connectionString: addressOf(user, primary, database) })
      await client.connect()
      return (await client.query(sql).finally(() => client.end())).rows
    },
    dispose: () => kept.disposeAsync(),
  }
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(Number)
}

async function readEnv(file: string, change = (text: string) => text): Promise<Record<string, string>> {
  const text = change(await readFile(path.join(SHIPPED, file), 'utf8'))
  const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
