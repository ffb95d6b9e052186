import { pino } from 'pino'
import { expect, it } from 'vitest'
import { loadConfig } from '../../src/runtime/config.ts'
import { createDependencies } from '../../src/runtime/dependencies.ts'
import { runCliProcess } from '../cli/run-cli.ts'
import { copyDatabase } from '../support/copy-database.ts'
import { launchService } from '../support/processes.ts'

const [FIRST, SECOND] = ['first'.repeat(8), 'second'.repeat(8)]
const ADVICE = /^SECRET_KEY: is not the one .* SECRET_KEY=new,earlier.* npm run cli -- secret replace$/

/** Opens the database with these keys, like each command. @returns the problems. */
async function openWith(DATABASE_URL: string, ...keys: string[]): Promise<string[]> {
  const config = loadConfig({ DATABASE_URL, SECRET_KEY: keys.join(',') })
  try {
    await (await createDependencies(config, pino({ level: 'silent' }), { serves: false })).dispose()
    return []
  } catch (error) {
    return (error as { problems: string[] }).problems
  }
}

it("rejects a SECRET_KEY other than the database's, in the service, in commands, and in doctor", async () => {
  const DATABASE_URL = await copyDatabase()
  expect(await openWith(DATABASE_URL, FIRST)).toEqual([])
  const wrong = { DATABASE_URL, SECRET_KEY: SECOND }

  const service = launchService(wrong)
  expect((await service.exited).code).toBe(78)
  const complaints = service.log().filter(({ level }) => level === 'fatal')
  expect(complaints.map(({ msg }) => msg)).toEqual([expect.stringMatching(ADVICE)])
  expect(service.output()).not.toContain(SECOND)

  const doctor = await runCliProcess(['doctor', '--json'], wrong)
  const found = JSON.parse(doctor.stdout).checks.find(({ name }: { name: string }) => name === 'secret key')
  expect([doctor.code, found]).toEqual([1, { name: 'secret key', problem: true, message: expect.stringMatching(ADVICE) }])

  expect(await openWith(DATABASE_URL, FIRST)).toEqual([])
})

it('accepts a key rotation by list, then the new key alone, and rejects the old one', async () => {
  const url = await copyDatabase()
  expect(await openWith(url, FIRST)).toEqual([])
  expect(await openWith(url, FIRST, SECOND)).toEqual([])
  expect(await openWith(url, SECOND, FIRST)).toEqual([])
  expect(await openWith(url, FIRST, SECOND)).toEqual([]) // a process that still has the earlier list
  expect(await openWith(url, SECOND, FIRST)).toEqual([])
  expect(await openWith(url, SECOND)).toEqual([])
  expect(await openWith(url, FIRST)).toEqual([expect.stringMatching(ADVICE)])
})

it('lets an operator who has lost the key continue with another', async () => {
  const DATABASE_URL = await copyDatabase()
  expect(await openWith(DATABASE_URL, FIRST)).toEqual([])
  const { code, stdout } = await runCliProcess(['secret', 'replace'], { DATABASE_URL, SECRET_KEY: SECOND })
  expect([code, stdout]).toEqual([0, expect.stringContaining('secrets of webhooks')])
  expect(await openWith(DATABASE_URL, SECOND)).toEqual([])
})
