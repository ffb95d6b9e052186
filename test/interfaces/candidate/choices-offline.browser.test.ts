import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { signInvitation } from '../../../src/domain/secrets/invitation-tokens.ts'
import { isBrowserInstalled, press, startBrowser } from '../../support/browser.ts'
import { NO_REQUIREMENTS } from '../../support/candidate.ts'
import { findFreePort } from '../../support/free-port.ts'
import { openTestDatabase, startProcess, type TestDatabase } from '../../support/processes.ts'
import { SECRET_KEY } from '../../support/service.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

const OPTIONS = ['Oslo', 'Bergen', 'Trondheim'].map((text, i) => ({ id: String.fromCharCode(97 + i).repeat(8), text }))
const [oslo, bergen] = OPTIONS.map(({ id }) => id) as [string, string]
const ONE = {
  responseType: 'single_choice',
  spec: { options: OPTIONS, shuffle: true },
  key: { policy: 'exact', right: [bergen] },
}
const SEVERAL = {
  responseType: 'multiple_choice',
  spec: { options: OPTIONS, shuffle: true },
  key: { policy: 'balanced', right: [oslo, bergen] },
}

let database: TestDatabase
let browser: Browser
beforeAll(async () => {
  if (!isBrowserInstalled) return
  database = await openTestDatabase()
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await database?.db.$disconnect()
})

/** Creates an assessment with one such question, and an invite to it. */
async function makeInvite(definition: typeof ONE | typeof SEVERAL) {
  const { make, db } = database
  const organization = await make.organization()
  const assessment = await make.assessment(organization.id)
  const question = await make.question(assessment, { points: 10 })
  const { responseType, spec, key } = definition
  const of = { organizationId: organization.id, createdAt: new Date() }
  const versionId = crypto.randomUUID()
  await db.questionVersion.create({ data: { ...of, id: versionId, responseType, spec } })
  await db.answerKey.create({ data: { ...of, versionId, number: 1, key } })
  await db.question.updateMany({ where: { id: question.id }, data: { versionId, responseType } })
  const invite = await make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS })
  const path = `/i/${signInvitation([SECRET_KEY], { inviteId: invite.id, linkVersion: invite.linkVersion })}`
  const where = { organizationId: organization.id }
  return {
    path,
    texts: async () => (await db.answerAttempt.findMany({ where })).map(({ text }) => text),
    points: async () => (await db.questionScore.findMany({ where })).map(({ points }) => Number(points)),
  }
}

const option = (page: Page, name: string) => page.getByLabel(name, { exact: true })

describe.skipIf(!isBrowserInstalled)('choices (skipped where no chromium is installed)', () => {
  it.each([
    ['one', ONE, ['Oslo', 'Trondheim', 'Bergen'], 'Bergen'],
    ['several', SEVERAL, ['Oslo', 'Bergen'], 'Oslo\nBergen'],
  ] as const)(
    'keep %s clicked offline for a minute when the tab is killed and the service restarts',
    async (_, definition, clicks, kept) => {
      const invite = await makeInvite(definition)
      const port = await findFreePort()
      const launch = () => startProcess({ DATABASE_URL: database.url, PORT: String(port) })
      const first = await launch()
      const context = await browser.newContext()
      onTestFinished(() => context.close())
      const page = await context.newPage()
      await page.clock.install()
      const link = `http://127.0.0.1:${port}${invite.path}`
      await page.goto(link)
      await press(page, 'I agree')
      await press(page, 'Start')
      await press(page, 'Open question 1')
      await option(page, 'Oslo').waitFor()
      await page.waitForLoadState('networkidle') // the script has loaded and read its state

      await context.setOffline(true)
      for (const name of clicks) {
        await option(page, name).click()
        await page.clock.fastForward(60_000 / clicks.length)
      }
      // The request fails in real time, but the page retries in the time of the fake clock.
      await expect
        .poll(async () => {
          await page.clock.fastForward(1_000)
          return page.getByText('not saved yet, but kept on this device').isVisible()
        }, PATIENT)
        .toBe(true)
      expect(await invite.texts()).toEqual([])
      const cdp = await context.newCDPSession(page)
      const crashed = page.waitForEvent('crash')
      void cdp.send('Page.crash').catch(() => {}) // the crashed page never responds
      await crashed
      await page.close() // closes the crashed page
      first.kill('SIGKILL')
      await first.exited
      await launch()

      await context.setOffline(false)
      const again = await context.newPage()
      await again.goto(link)
      await waitUntil('the choice to be saved', async () => ((await invite.texts())[0] === kept ? true : undefined))
      for (const { text } of OPTIONS)
        expect([text, await option(again, text).isChecked()]).toEqual([text, kept.split('\n').includes(text)])
      await press(again, 'Save and go to the end')
      await press(again, 'Finish')
      await waitUntil('the score', async () => ((await invite.points()).length > 0 ? true : undefined))
      expect(await invite.points()).toEqual([10])
    },
  )
})
