import { randomBytes } from 'node:crypto'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileOf } from '../../src/domain/files/media-keys.ts'
import { startServiceForTest } from '../support/service.ts'
import { takeAssessment, webmPart } from '../support/submissions.ts'
import { runCli } from './run-cli.ts'

test('finds files and parts that are missing, of another length, or without a row', async () => {
  const DATA_DIR = await mkdtemp(path.join(tmpdir(), 'assessments-check-'))
  onTestFinished(() => rm(DATA_DIR, { recursive: true, force: true }))
  const service = await startServiceForTest({ ROLE: 'api', DATA_DIR })
  const check = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(['media', 'check', '--json', ...args], {
      DATABASE_URL: service.databaseUrl,
      DATA_DIR,
    })
    expect(stderr).toBe('')
    return { code, ...JSON.parse(stdout) }
  }
  const candidate = await takeAssessment(service)
  const ids = [await candidate.beginAttempt(), await candidate.beginAttempt(), await candidate.beginAttempt()]
  const keys: string[] = []
  for (const [i, id] of ids.slice(0, 2).entries()) {
    const { key } = await service.db.mediaFile.update({ where: { id }, data: { state: 'ready', bytes: 1_000 + i } })
    await service.deps.media.put(fileOf(key), Buffer.alloc(1_000 + i))
    keys.push(fileOf(key))
  }
  expect((await candidate.putPart(ids[2]!, 0, 0, webmPart('x'.repeat(488)))).status).toBeLessThan(300)
  expect(await check()).toMatchObject({ code: 0, files: 2, parts: 1, bytes: 2_501, missing: [], wrong: [], strays: { files: 0 } })
  expect(await check('--sample', '50')).toMatchObject({ code: 0, files: 2, strays: null })

  const stray = `${candidate.organization.id}/${randomBytes(16).toString('hex')}/file`
  await service.deps.media.put(stray, Buffer.alloc(7))
  expect(await check()).toMatchObject({ code: 0, strays: { files: 1, bytes: 7 } })

  await service.deps.media.delete(keys[0]!)
  await appendFile(path.join(DATA_DIR, 'media', keys[1]!), 'more')
  await service.deps.media.deletePrefix(`${(await service.db.mediaFile.findUniqueOrThrow({ where: { id: ids[2]! } })).key}/`)
  const found = await check()
  expect(found.code).toBe(1)
  expect(found.missing).toEqual([
    { mediaId: ids[0], organizationId: candidate.organization.id, key: keys[0], expected: 1_000, found: null },
    expect.objectContaining({ mediaId: ids[2], expected: 500, found: null }),
  ])
  expect(found.wrong).toEqual([expect.objectContaining({ mediaId: ids[1], expected: 1_001, found: 1_005 })])
  expect(await check('--sample', '50')).toMatchObject({
    code: 1,
    parts: 0,
    missing: [{ mediaId: ids[0] }],
    wrong: [{ mediaId: ids[1] }],
  })
  const said = await runCli(['media', 'check'], { DATABASE_URL: service.databaseUrl, DATA_DIR })
  expect(said.stdout).toContain('2 files and 1 parts looked for')
  expect(said.stdout).toContain(`missing: ${keys[0]}, 1000 bytes`)
})
