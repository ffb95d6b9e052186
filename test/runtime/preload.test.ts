import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const PRELOAD = path.resolve('src/preload.cjs')
const { start, cli, dev } = manifest.scripts

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-preload-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

const run = (program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { PATH: process.env.PATH }, ...options })
  return { status, stdout, stderr }
}

it('names the required Node version from the manifest, and exits with the code for configuration errors', async () => {
  const folder = await makeFolder()
  await mkdir(path.join(folder, 'src'))
  await copyFile(PRELOAD, path.join(folder, 'src/preload.cjs'))
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ engines: { node: '>=99.2' } }))
  expect(run(process.execPath, ['--require', './src/preload.cjs', '--eval', 'console.log(1)'], { cwd: folder })).toEqual({
    status: 78,
    stdout: '',
    stderr: `Node 99.2 or newer is needed; this is ${process.versions.node}. \`npm ci\` installs one: run \`npm start\`, or put node_modules/.bin first in PATH.\n`,
  })
})

const OLD = '/usr/bin/node'
const oldVersion = run(OLD, ['--version']).stdout
it.runIf(/^v(18|20|22)\./.test(oldVersion ?? ''))(
  'names the required version under an old Node: npm start, the command line, dev, and systemd',
  async () => {
    const unit = await readFile('ops/ha/assessments.service', 'utf8')
    const [, systemd] = /^ExecStart=(.*)$/m.exec(unit)!
    for (const command of [start, `${cli} doctor`, dev, systemd!]) {
      const { status, stderr } = run('/bin/sh', ['-c', command], { env: { PATH: path.dirname(OLD) } })
      expect([command, status, stderr]).toEqual([
        command,
        78,
        expect.stringMatching(/^Node 24\.2 or newer is needed; this is \d.*\n$/),
      ])
    }
  },
)

it("reads .env if it exists, and prints nothing if it doesn't", async () => {
  const folder = await makeFolder()
  const read = (env: NodeJS.ProcessEnv = {}) =>
    run(process.execPath, ['--require', PRELOAD, '--print', "[process.env.PORT, process.env.MAIL].join(' ')"], {
      cwd: folder,
      env: { ...env },
    })
  expect(read()).toEqual({ status: 0, stdout: ' \n', stderr: '' })
  await writeFile(path.join(folder, '.env'), 'PORT=4242\nMAIL=capture\n')
  expect(read().stdout).toBe('4242 capture\n')
  expect(read({ PORT: '1', MAIL: 'mailbox' }).stdout).toBe('1 mailbox\n')
  // Login shells set MAIL to the path of a mailbox.
  expect(read({ MAIL: '/var/mail/service' }).stdout).toBe('4242 capture\n')
})

it('keeps the preloaded allocator of start.sh from child processes', async () => {
  const env = { LD_PRELOAD: '/usr/lib/x/libjemalloc.so.2', MALLOC_CONF: 'narenas:2' }
  const show = "['LD_PRELOAD', 'MALLOC_CONF'].filter((name) => name in process.env).join(' ')"
  const { stdout } = run(process.execPath, ['--require', PRELOAD, '--print', show], { cwd: await makeFolder(), env })
  expect(stdout).toBe('\n')
})
