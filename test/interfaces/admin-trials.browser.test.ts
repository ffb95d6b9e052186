import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { desktop, isBrowserInstalled, overflow, startBrowser, watch } from '../support/browser.ts'
import { watchHand } from '../support/hand.ts'
import { joinAs, PASSWORD } from '../support/portal.ts'
import { scaled } from '../support/scale.ts'
import { startServiceForFile } from '../support/service.ts'
import { PATIENT } from '../support/wait-until.ts'

/** Folder for screenshots. None are taken if it is unset. */
const FOLDER = process.env.ADMIN_TRIALS
/** CSV with German headings and semicolons, as Excel in Western Europe saves it. */
const rows = (people: number[], domain: string) =>
  ['Vorname;Nachname;E-Mail', ...people.map((n) => `Anna${n};Muster${n};person${n}@${domain}`)].join('\r\n')
/** Number of people in each list. The counted presses do not depend on it. */
const LIST_SIZE = scaled(40, 200)
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

const service = await startServiceForFile()

describe.skipIf(!isBrowserInstalled)('an admin (skipped where no chromium is installed)', () => {
  let browser: Browser
  let origin: string
  beforeAll(async () => {
    browser = await startBrowser()
    origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    if (FOLDER) await mkdir(FOLDER, { recursive: true })
  })
  afterAll(() => browser?.close())

  /** Creates an organization with an assessment, and signs in its admin, whose presses are counted. */
  async function start(trial: string) {
    const organization = await service.make.organization()
    await service.make.question(await service.make.assessment(organization.id, { name: 'Customer support' }))
    const { email } = await joinAs(service, organization)
    const page = await browser.newPage({ viewport: desktop, baseURL: origin })
    const complaints = watch(page)
    let pictures = 0
    const hand = watchHand(page)
    const step = async () => {
      expect([page.url(), await overflow(page), complaints]).toEqual([page.url(), 0, []])
      const file = `${trial}-${String(++pictures).padStart(2, '0')}.png`
      if (FOLDER) await page.screenshot({ path: path.join(FOLDER, file), fullPage: true })
    }
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const link = (name: string) => page.getByRole('link', { name, exact: true }).first()
    const upload = async (name: string, text: string) => {
      hand.done.press += 4 // in the file dialog of the operating system
      await page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
    }
    const tell = (minutes: number, before = { press: 0 }) => {
      if (FOLDER) process.stdout.write(`${trial}: ${hand.done.press - before.press} presses, ${minutes.toFixed(1)} minutes\n`)
    }
    await page.goto('/portal')
    await hand.type('Email address', email)
    await hand.type('Password', PASSWORD)
    await hand.press(button('Sign in'))
    await step()
    return { organization, page, hand, step, button, link, upload, tell }
  }
  const countMails = (organizationId: string, kind: string) => () =>
    service.db.inviteEmail.count({ where: { organizationId, kind } })

  it('invites 50 people from a spreadsheet for the first time in less than 4 minutes', async () => {
    const { organization, page, hand, step, button, link, upload, tell } = await start('spreadsheet')
    await hand.press(link('Invites'))
    await hand.press(link('Import candidates'))
    await step()
    hand.think()
    hand.done.press++
    await page.getByLabel('Assessment').selectOption({ label: 'Customer support' })
    await upload('people.csv', rows(numbers(50), 'example.com'))
    await hand.press(button('Preview list'))
    await step()
    hand.think()
    await hand.press(button('Invite 50 candidates'))
    await page.getByRole('heading', { name: 'Outcome' }).waitFor()
    await step()
    const needed = hand.minutes()
    await expect.poll(countMails(organization.id, 'invitation'), PATIENT).toBe(50)
    const invites = await service.db.invite.findMany({ where: { organizationId: organization.id } })
    expect(invites.map(({ recipientName }) => recipientName)).toEqual(
      expect.arrayContaining(numbers(50).map((n) => `Anna${n} Muster${n}`)),
    )
    tell(needed)
    expect(needed).toBeLessThan(4)
  })

  it('replaces a wrong list in less than 7 minutes: revokes with an apology, erases, and invites the right one', async () => {
    const { organization, page, hand, step, button, link, upload, tell } = await start('wrong-list')
    const invite = async (name: string, list: string, count: number) => {
      hand.done.press++
      await page.getByLabel('Assessment').selectOption({ label: 'Customer support' })
      await upload(name, list)
      await hand.press(button('Preview list'))
      await step()
      await hand.press(button(`Invite ${count} candidates`))
      await page.getByRole('heading', { name: 'Outcome' }).waitFor(PATIENT)
      await step()
    }
    const earlier = await service.make.assessment(organization.id, { name: 'Last year' })
    for (const n of [1, 2, 3]) await service.make.invite(earlier, { recipientEmail: `person${n}@wrong.example` })
    await hand.press(link('Invites'))
    await hand.press(link('Import candidates'))
    await invite('last-year.csv', rows(numbers(LIST_SIZE), 'wrong.example'), LIST_SIZE)
    const countUnsent = () => service.db.inviteEmail.count({ where: { organizationId: organization.id, state: 'queued' } })
    await expect.poll(countUnsent, PATIENT).toBe(0)
    // The mistake is noticed later, so the admin has to find the list again.
    await page.goto(`/portal/${organization.id}/`)
    const before = { ...hand.done }
    const startedAt = hand.minutes()
    await hand.press(link('Invites'))
    await hand.press(link('Imported lists'))
    await step()
    await hand.press(link('last-year.csv'))
    await step()
    hand.think()
    await hand.press(link('Revoke and send an apology'))
    await step()
    await hand.type('Your text in this email', 'We are sorry: this invitation was not meant for you.')
    await hand.press(button('Revoke'))
    await page.getByText('finished', { exact: true }).first().waitFor(PATIENT)
    await step()
    await hand.press(link('Back to the list'))
    await expect.poll(countMails(organization.id, 'withdrawn'), PATIENT).toBe(LIST_SIZE)
    await expect.poll(countUnsent, PATIENT).toBe(0)
    await hand.press(link('Erase these people'))
    await step()
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(
      expect.arrayContaining([`Will be erased: ${LIST_SIZE - 3} people`, 'Have other invites, and are kept: 3 people']),
    )
    hand.think()
    await hand.check(page.getByLabel('Erase these people for good'))
    await hand.press(button('Erase these people'))
    await page.getByText('Erased people disappear from this page.').waitFor()
    await step()
    // The erasure continues in the background.
    await hand.press(link('Back to the list'))
    await step()
    await hand.press(link('Import candidates'))
    // One of the erased list's people was kept, and is also on the right list.
    await invite(
      'this-year.csv',
      `${rows(numbers(LIST_SIZE), 'right.example')}\r\nAnna1;Muster1;person1@wrong.example`,
      LIST_SIZE,
    )
    await hand.press(link('Reactivate 1 invite'))
    await step()
    await hand.press(button('Reactivate'))
    await page.getByText('finished', { exact: true }).first().waitFor(PATIENT)
    await step()
    const needed = hand.minutes() - startedAt
    const countByStatus = async () => {
      const where = { organizationId: organization.id, assessmentId: { not: earlier.id } }
      const counts = await service.db.invite.groupBy({ by: ['status'], where, _count: true, orderBy: { status: 'asc' } })
      return counts.map(({ status, _count }) => `${_count} ${status}`)
    }
    await expect.poll(countByStatus, PATIENT).toEqual([`${LIST_SIZE + 1} pending`, '2 revoked'])
    tell(needed, before)
    expect(needed).toBeLessThan(7)
  })
})
