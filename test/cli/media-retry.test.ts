import { expect, test } from 'vitest'
import { startServiceForTest } from '../support/service.ts'
import { takeAssessment } from '../support/submissions.ts'
import { runCli } from './run-cli.ts'

test('queues failed recordings for joining again, one or all, and doctor names the command', async () => {
  const service = await startServiceForTest({ ROLE: 'api' })
  const run = (...args: string[]) => runCli(args, { DATABASE_URL: service.databaseUrl })
  const candidate = await takeAssessment(service)
  const ids = [await candidate.beginAttempt(), await candidate.beginAttempt(), await candidate.beginAttempt()]
  await service.db.mediaFile.updateMany({ where: { id: { in: ids.slice(0, 2) } }, data: { state: 'failed' } })
  expect((await run('doctor')).stdout).toContain('2 could not be joined')
  expect((await run('doctor')).stdout).toContain('media retry --all')

  expect(await run('media', 'retry', ids[0]!)).toEqual({ code: 0, stdout: '1 recording queued again.\n', stderr: '' })
  const again = await run('media', 'retry', ids[0]!)
  expect([again.code, again.stderr]).toEqual([1, `error: There is no failed recording ${ids[0]}.\n`])
  expect((await run('media', 'retry')).code).toBe(2)
  expect((await run('media', 'retry', '--all', '--json')).stdout).toBe('{\n  "queued": 1\n}\n')

  const states = await Promise.all(ids.map(async (id) => (await candidate.media(id)).state))
  expect(states).toEqual(['joining', 'joining', 'uploading'])
  const jobs = await service.db.$queryRaw<{ id: string }[]>`
    SELECT data->>'mediaId' AS id FROM pgboss.job WHERE name = 'recording' ORDER BY 1`
  expect(jobs.map(({ id }) => id)).toEqual(ids.slice(0, 2).sort())
})
