import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { makeDataDir } from '../support/data-dir.ts'
import { readGuide } from '../support/guide-scripts.ts'
import { putUnderLoad } from '../support/load.ts'
import { canLimitMemory, limitMemory } from '../support/memory-limit.ts'
import { ask, launchService, startProcess } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const WORK_MS = (LONG ? 15 : 2) * 60_000

describe.skipIf(!canLimitMemory)('a trial with the embedded database (skipped where memory can not be limited)', () => {
  it.each([
    [512, { clients: 4, pause: 50 }],
    [1024, { clients: 16, pause: 0 }],
  ])('serves a candidate, a grader, and integrators within %i MB without swap', async (megabytes, { clients, pause }) => {
    const { limit, settings } = await prepare(megabytes)
    const service = await startProcess(settings, ['-c', limit.wrap(manifest.scripts.start)], '/bin/sh')
    const JOIN = await waitUntil('the link to the portal', () => /http:\S+\/portal\/join\/\S+/.exec(service.output())?.[0])
    const MAILBOX = await waitUntil('the captured mails', () => /http:\S+\/dev\/mailbox\?\S+/.exec(service.output())?.[0])
    const [KEY] = /ak_live_\S+/.exec(service.output())!
    const SERVICE = new URL(JOIN).origin
    const { assessments } = (await (await ask(service, KEY, '/assessments')).json()) as { assessments: { id: string }[] }
    const load = putUnderLoad({ url: SERVICE, key: KEY, assessmentId: assessments[0]!.id }, { kept: true, clients, pause })

    // The guide's commands act as an admin, a candidate, and a grader.
    const { script } = await readGuide('whole-way')
    const env = { PATH: process.env.PATH, SERVICE, KEY, JOIN, MAILBOX }
    const cwd = await makeDataDir()
    const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script], { env, cwd, timeout: WORK_MS })
    await sleep(WORK_MS)
    await load.stop()

    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({ state: 'released' })
    const answers = load.outcomes.map(({ status }) => status)
    const invites = answers.filter((status) => status === 201).length
    process.stderr.write(
      `${answers.length} requests, ${invites} invites; at most ${Math.round(await limit.readPeak())} MB, file pages included\n`,
    )
    expect(answers.filter((status) => status !== 200 && status !== 201)).toEqual([])
    expect(await limit.countKills()).toBe(0)
    await stop(service)
  })

  it('is killed by the kernel if the limit is far too low', async () => {
    const { limit, settings } = await prepare(128)
    const service = launchService(settings, ['-c', limit.wrap(manifest.scripts.start)], '/bin/sh')
    await service.exited
    expect(await limit.countKills()).toBeGreaterThan(0)
  })
})

async function prepare(megabytes: number) {
  const DATA_DIR = await makeDataDir()
  const limit = await limitMemory('trial', megabytes)
  onTestFinished(limit.remove)
  const settings = { DATA_DIR, SECRET_KEY: '', MAIL: '', RATE_LIMIT_STANDARD: '1000000' }
  return { limit, settings }
}

async function stop(service: Awaited<ReturnType<typeof startProcess>>): Promise<void> {
  service.kill('SIGTERM')
  await service.exited
}
