import { expect, it } from 'vitest'
import { version } from '../../src/runtime/version.ts'
import { runCli } from '../cli/run-cli.ts'
import { findFreePort } from '../support/free-port.ts'
import { signInAs } from '../support/portal.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { startServiceForTest } from '../support/service.ts'

const commit = 'd6cd1e2bd19e03a81132a23b2025920577f84e37'

it('names version and commit in the first log line and in build_info, but not in /healthz', async () => {
  const { url, db } = await openTestDatabase()
  const port = await findFreePort()
  const service = await startProcess({ DATABASE_URL: url, METRICS_PORT: String(port), SOURCE_COMMIT: commit })
  expect(JSON.parse(service.output().split('\n')[0]!)).toMatchObject({ event: 'starting', version, commit })
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(metrics).toContain(`\nbuild_info{version="${version}",commit="${commit}"} 1\n`)
  const health = await fetch(`${service.url}/healthz`)
  const shown = JSON.stringify([...health.headers]) + (await health.text())
  for (const secret of [version, commit]) expect(shown).not.toContain(secret)
  await db.$disconnect()
})

it('prints version and commit without settings and without a database', async () => {
  const answer = await runCli(['version', '--json'], { SECRET_KEY: 'too short' })
  expect({ ...answer, stdout: JSON.parse(answer.stdout) }).toMatchObject({ code: 0, stderr: '', stdout: { version } })
})

it('shows the version in the footer to members, and not on the page for signing in', async () => {
  const service = await startServiceForTest()
  const { id } = await service.make.organization()
  const member = await signInAs(service, id, ['client'])
  expect((await member.get(`/portal/${id}`)).text).toContain(`Assessment Invitation Service ${version}`)
  expect((await service.http().get('/portal/sign-in')).text).not.toContain(version)
})
