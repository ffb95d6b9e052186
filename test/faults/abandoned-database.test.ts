import { expect, it } from 'vitest'
import { runCliProcess } from '../cli/run-cli.ts'
import { makeDataDir, runsServer } from '../support/data-dir.ts'
import { launchService, startProcess } from '../support/processes.ts'

const TAKEN_OVER = 'the embedded PostgreSQL was still running after the service was killed: this start uses it'

it('reports in log and doctor that the embedded PostgreSQL still ran after the service was killed', async () => {
  const DATA_DIR = await makeDataDir()
  const first = await startProcess({ DATA_DIR })
  first.kill('SIGKILL')
  await first.exited
  const second = await startProcess({ DATA_DIR })
  const warned = [first, second].map((service) => service.log().filter(({ msg }) => msg === TAKEN_OVER).length)
  expect(warned).toEqual([0, 1])
  const whileUsed = await runCliProcess(['doctor'], { DATA_DIR })
  expect(whileUsed.stdout).not.toMatch(/^\w+ +embedded /m)
  second.kill('SIGKILL')
  await second.exited
  const doctor = await runCliProcess(['doctor'], { DATA_DIR })
  expect(doctor.stdout).toMatch(/^ok +embedded +PostgreSQL still ran, because the service was killed/m)
  expect(await runsServer(DATA_DIR)).toBe(false)
})

it.runIf(process.platform === 'linux')('names an unusable DATA_DIR at once', async () => {
  const service = launchService({ DATA_DIR: '/proc/x' })
  expect((await service.exited).code).toBe(1)
  expect(service.log().at(-1)!.msg).toMatch(/DATA_DIR \/proc\/x can not be created .*: set it to a folder that may be written to/)
  const { stdout } = await runCliProcess(['doctor'], { DATA_DIR: '/proc/x' })
  expect(stdout).toMatch(/^problem +database +DATA_DIR \/proc\/x can not be created/m)
})
