import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { desktop, isBrowserInstalled, overflow, startBrowser, watch } from '../support/browser.ts'
import { watchHand } from '../support/hand.ts'
import { joinAs, PASSWORD } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { PATIENT, waitUntil } from '../support/wait-until.ts'

/** Folder of the pictures. Usually none are taken. */
const FOLDER = process.env.ADMIN_TRIALS
/** A spreadsheet as a program of the West of Europe saves it. */
const rows = (people: number[], domain: string) =>
  ['Vorname;Nachname;E-Mail', ...people.map((n) => `Anna${n};Muster${n};person${n}@${domain}`)].join('\r\n')
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

  /** An organization with an assessment, and its admin, whose presses are counted. */
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
      hand.done.press += 4 // in the system's window of files
      await page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
    }
    const tell = (minutes: number) => {
      if (FOLDER) process.stdout.write(`${trial}: ${JSON.stringify(hand.done)}, ${minutes.toFixed(1)} minutes\n`)
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
    await hand.press(button('Check list'))
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

  it('revokes the wrong list with an apology and invites the right one in less than 6 minutes', async () => {
    const { organization, page, hand, step, button, link, upload, tell } = await start('wrong-list')
    const invite = async (name: string, domain: string) => {
      await hand.press(link('Invites'))
      await hand.press(link('Import candidates'))
      hand.done.press++
      await page.getByLabel('Assessment').selectOption({ label: 'Customer support' })
      await upload(name, rows(numbers(40), domain))
      await hand.press(button('Check list'))
      await step()
      await hand.press(button('Invite 40 candidates'))
      await page.getByRole('heading', { name: 'Outcome' }).waitFor()
      await step()
    }
    await invite('last-year.csv', 'wrong.example')
    await waitUntil('the mails', async () => {
      const sent = { organizationId: organization.id, state: 'captured' as const }
      return (await service.db.inviteEmail.count({ where: sent })) === 40 || undefined
    })
    // Noticed later: the list has to be found again.
    await page.goto(`/portal/${organization.id}/`)
    const before = hand.minutes()
    await hand.press(link('Invites'))
    await hand.press(link('Import candidates'))
    await step()
    await hand.press(link('last-year.csv'))
    await step()
    hand.think()
    await hand.press(link('Revoke and send an apology'))
    await step()
    await hand.type('Your text in this email', 'We are sorry: this invitation was not meant for you.')
    await hand.press(button('Revoke'))
    await page.getByText('finished').first().waitFor()
    await step()
    await invite('this-year.csv', 'right.example')
    const needed = hand.minutes() - before
    const states = await service.db.invite.groupBy({
      by: ['status'],
      where: { organizationId: organization.id },
      _count: true,
      orderBy: { status: 'asc' },
    })
    expect(states.map(({ status, _count }) => [status, _count])).toEqual([
      ['pending', 40],
      ['revoked', 40],
    ])
    await expect.poll(countMails(organization.id, 'withdrawn'), PATIENT).toBe(40)
    tell(needed)
    expect(needed).toBeLessThan(6)
  })
})
