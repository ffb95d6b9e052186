import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { describeDemo, loadDemo } from '../../../src/demo/load-demo.ts'
import { MAX_EXPORT_BYTES } from '../../../src/domain/archives/request-archive.ts'
import { EVENT_TYPES, inviteEvents } from '../../../src/domain/events/event.ts'
import { recordEvents } from '../../../src/domain/events/record-events.ts'
import { renameUser } from '../../../src/domain/sign-in/rename-user.ts'
import { releaseResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { saveGrade } from '../../../src/domain/submissions/grading/save-grade.ts'
import {
  desktop,
  expectAccessible,
  expectContrast,
  goTo,
  heading,
  isBrowserInstalled,
  looksOf,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../../support/browser.ts'
import { findFreePort } from '../../support/free-port.ts'
import { asMember } from '../../support/grading.ts'
import { joinPath, PASSWORD, signInAs } from '../../support/portal.ts'
import { startReceiver, verify } from '../../support/receiver.ts'
import { makeArchiveRow, makeAtsOrder, makeErasure, makeWebhook } from '../../support/sample-organization.ts'
import { type Service, startService, startServiceForTest } from '../../support/service.ts'
import { jpeg, submitRows } from '../../support/submissions.ts'
import { PATIENT } from '../../support/wait-until.ts'
import { TO_LOOPBACK } from '../../support/webhooks.ts'

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'

let service: Service
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!isBrowserInstalled) return
  // Ashby's key can be entered, but nothing is sent, because the host does not exist.
  service = await startService({ ATS_GREENHOUSE: 'on', ATS_ASHBY: 'https://ashby.invalid' })
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser('--host-resolver-rules=MAP portal.test 127.0.0.1')
})
afterAll(async () => {
  await browser?.close()
  await service?.close()
})

async function openContext(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  return context
}

/** Opens a browser page with a member's session. */
async function signInBrowser(
  context: BrowserContext,
  organizationId: string,
  { roles = ['admin'], at = service, there = origin } = {},
) {
  const { cookie, home, member } = await signInAs(at, organizationId, roles)
  const [name, value] = cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: there, httpOnly: true, sameSite: 'Lax' }])
  return { home: there + home, member }
}

describe.skipIf(!isBrowserInstalled)('the portal in a browser (skipped where no chromium is installed)', () => {
  it.each([
    ['a desktop', desktop, true],
    ['a phone, without scripts', phone, false],
  ] as const)('leads from the printed link to a working key, on %s', async (_device, viewport, javaScriptEnabled) => {
    const fresh = await startServiceForTest()
    const there = await fresh.app.listen({ port: 0, host: '127.0.0.1' })
    const demo = (await loadDemo(fresh.system))!
    const [printed] = /http:\S+\/portal\/join\/\S+/.exec(describeDemo(there, demo))!
    const page = await (await openContext({ viewport, javaScriptEnabled })).newPage()
    const complaints = watch(page)
    await page.goto(there + new URL(printed).pathname)
    expect(await heading(page)).toBe('Join Northwind Talent')
    await page.getByLabel('Password').fill('too short')
    await press(page, 'Join')
    await page.getByRole('link', { name: 'The password needs at least 15 characters.' }).waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Join')
    await goTo(page, 'Integrations')
    await press(page, 'New API key')
    await page.getByLabel('Name', { exact: true }).fill('My own system')
    await press(page, 'Generate API Key')
    const key = (await page.locator('#key').textContent())!
    expect((await fresh.v1(key).get('/tags')).status).toBe(200)
    expect(await overflow(page)).toBe(0)
    await page.getByRole('link', { name: 'Back to API keys' }).click()
    await page.getByRole('rowheader', { name: 'My own system' }).waitFor()
    if (await page.locator('label.btn[for=menu]').isVisible()) await page.locator('label.btn[for=menu]').click()
    await press(page, 'Sign out')
    expect(await heading(page)).toBe('Sign in')
    await page.goBack()
    await page.reload()
    await page.getByLabel('Email address').fill(demo.portalLink.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Sign in')
    expect(await heading(page)).toBe('Integrations')
    // The browser itself logs an error for a rejected form.
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([])
  })

  it.each([
    ['a desktop', desktop],
    ['a phone', phone],
  ] as const)('supports an invite and a list of candidates without scripts, on %s', async (_device, viewport) => {
    const { id } = await service.make.organization()
    await service.make.question(await service.make.assessment(id, { name: 'French' }))
    const context = await openContext({ viewport, javaScriptEnabled: false })
    const { home } = await signInBrowser(context, id)
    const page = await context.newPage()
    const complaints = watch(page)
    await page.goto(home)
    await goTo(page, 'Invites')
    await page.getByRole('link', { name: 'Invite a candidate' }).first().click() // an empty list repeats the link
    await page.getByLabel('Assessment').selectOption('French')
    await page.getByLabel('Email address').fill('sam@example.com')
    await press(page, 'Invite')
    expect(await heading(page)).toBe('sam@example.com')
    await page.getByText('More', { exact: true }).click()
    await press(page, 'Revoke')
    await page.getByRole('heading', { name: 'Revoke the invite?' }).waitFor()
    await press(page, 'Revoke')
    await page.getByText('The invite is revoked').waitFor()
    await press(page, 'Reactivate')
    await press(page, 'Reactivate with a new link')
    await page.getByText('The invite is pending again').waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Invites' }).click()
    await page.getByRole('link', { name: 'Import candidates' }).click()
    const buffer = Buffer.from('email,name\nada@example.com,Ada\nsam@example.com,Sam\nnobody,\n')
    await page.getByLabel('Assessment').selectOption('French')
    await page.getByLabel('CSV file').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
    await press(page, 'Preview list')
    expect(await heading(page)).toBe('list.csv')
    await expect.poll(() => page.getByRole('rowheader').count(), PATIENT).toBe(3)
    await press(page, 'Invite 1 candidate')
    await page.getByRole('heading', { name: 'Outcome' }).waitFor() // the page reloads automatically
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export all rows as CSV' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toContain('1,ada@example.com,Ada,invited,')
    expect(await overflow(page)).toBe(0)
    expect(complaints).toEqual([])
  })

  it.each([
    ['a desktop', desktop],
    ['a phone', phone],
  ] as const)('supports a webhook without scripts, on %s', async (_device, viewport) => {
    const fresh = await startServiceForTest(TO_LOOPBACK)
    const there = await fresh.app.listen({ port: 0, host: '127.0.0.1' })
    const receiver = await startReceiver()
    const context = await openContext({ viewport, javaScriptEnabled: false })
    const { home } = await signInBrowser(context, (await fresh.make.organization()).id, { at: fresh, there })
    const page = await context.newPage()
    const complaints = watch(page)
    await page.goto(home)
    await goTo(page, 'Integrations')
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await press(page, 'New webhook')
    await page.getByLabel('URL').fill(receiver.url)
    await page.getByLabel('The candidate was invited').check()
    await press(page, 'Create webhook')
    const secret = (await page.locator('#secret').textContent())!
    await page.getByRole('link', { name: 'Go to the webhook' }).click()
    await press(page, 'Send a test')
    await page.getByRole('heading', { name: 'Attempt 1' }).waitFor() // the page reloads automatically
    expect(() => verify(secret, receiver.received[0]!)).not.toThrow()
    await page.getByRole('link', { name: 'Deliveries' }).click()
    await page.getByRole('rowheader', { name: 'Test event' }).waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: '127.0.0.1' }).click()
    await page.getByText('More', { exact: true }).click()
    await press(page, 'Disable')
    await page.getByRole('heading', { name: 'Disable the webhook?' }).waitFor()
    await press(page, 'Disable')
    await page.getByText('The webhook is disabled').waitFor()
    await press(page, 'Enable')
    await page.getByText('The webhook is enabled').waitFor()
    await page.getByText('More', { exact: true }).click()
    await press(page, 'Delete')
    await page.getByRole('heading', { name: 'Delete the webhook?' }).waitFor()
    await press(page, 'Delete')
    await page.getByText('The webhook is deleted').waitFor()
    expect(await overflow(page)).toBe(0)
    expect(complaints).toEqual([])
  })

  it('shows the menu next to the page on a desktop, and behind a button on a phone, even without scripts', async () => {
    const { id } = await service.make.organization()
    const context = await openContext({ viewport: desktop, javaScriptEnabled: false })
    const { home } = await signInBrowser(context, id)
    const page = await context.newPage()
    await page.goto(home)
    const menu = page.getByRole('navigation', { name: 'Portal' })
    const [beside, main] = [(await menu.boundingBox())!, (await page.getByRole('main').boundingBox())!]
    expect([main.x >= beside.x + beside.width, main.y]).toEqual([true, 0])
    await page.setViewportSize(phone)
    await menu.waitFor({ state: 'hidden' })
    await goTo(page, 'Members')
    expect(await heading(page)).toBe('Members')
  })

  it("copies a key, and shows times in the reader's time zone with its name", async () => {
    const { id } = await service.make.organization()
    const context = await openContext({ timezoneId: 'Asia/Tokyo', permissions: ['clipboard-read', 'clipboard-write'] })
    const { home } = await signInBrowser(context, id)
    const page = await context.newPage()
    await page.goto(`${home}settings/integrations`)
    await page.getByRole('rowheader').getByRole('link').click()
    const time = page.locator('dl time').first()
    const { createdAt } = await service.db.apiKey.findFirstOrThrow({ where: { organizationId: id } })
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Tokyo', dateStyle: 'medium', timeStyle: 'short' })
    expect(await time.textContent()).toBe(`${format.format(createdAt)} GMT+9`)
    expect(await time.getAttribute('title')).toBe(createdAt.toISOString())
    await page.goto(`${home}settings/integrations`)
    await press(page, 'New API key')
    await page.getByLabel('Name', { exact: true }).fill('Copied')
    await press(page, 'Generate API Key')
    await press(page, 'Copy')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.locator('#key').textContent())
  })

  it('sends a form once, even if its button is clicked several times', async () => {
    const { id } = await service.make.organization()
    const context = await openContext({ javaScriptEnabled: true })
    const { home } = await signInBrowser(context, id)
    const page = await context.newPage()
    await page.goto(`${home}assessments/new`)
    await page.getByLabel('Name', { exact: true }).fill('Once')
    let sent = 0
    page.on('request', (request) => void (request.method() === 'POST' && sent++))
    await page.evaluate(
      '{ const click = () => document.querySelector("main form button").click(); click(); setTimeout(click, 10) }',
    )
    await page.getByText('The assessment is created.').waitFor()
    expect(sent).toBe(1)
  })

  it('focuses the summary of mistakes, which links to the fields', async () => {
    const { id } = await service.make.organization()
    const context = await openContext({ javaScriptEnabled: true })
    const { home } = await signInBrowser(context, id)
    const page = await context.newPage()
    await page.goto(`${home}settings/integrations`)
    await press(page, 'New API key')
    await page.getByLabel('Name', { exact: true }).fill('Test')
    await press(page, 'Generate API Key')
    const summary = page.getByRole('group', { name: 'Please check the following' })
    await summary.waitFor()
    const isFocused = () => page.evaluate('document.activeElement.getAttribute("aria-labelledby")')
    await expect.poll(isFocused, PATIENT).toBe('mistakes') // the script that sets the focus loads after the page
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Test')
    await page.getByRole('link', { name: 'The name is already taken.' }).click()
    await expect.poll(() => page.evaluate('document.activeElement.id'), PATIENT).toBe('name')
  })

  it('rejects requests from pages of other origins despite the cookie', async () => {
    const { id } = await service.make.organization()
    const context = await openContext()
    const { home, member } = await signInBrowser(context, id)
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<form method="post" action="${home}account/name"><input name="firstName" value="Mallory"><input name="lastName" value="M">
        <button>Win a prize</button></form>`)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void evil.close())
    await once(evil, 'listening')
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}`)
    const sent = page.waitForRequest(`${home}account/name`)
    await press(page, 'Win a prize')
    expect((await (await sent).allHeaders()).cookie).toContain('session=')
    expect(await heading(page)).toBe('This did not work')
    expect((await service.db.user.findUniqueOrThrow({ where: { id: member.userId } })).firstName).toBe('Ada')
  })

  it('works without HTTPS under an internal host name', async () => {
    const port = await findFreePort()
    const named = await startServiceForTest({ PUBLIC_URL: `http://portal.test:${port}` })
    await named.app.listen({ port, host: '127.0.0.1' })
    const path = await joinPath(named, await named.make.organization(), 'colleague@example.com')
    const page = await (await openContext()).newPage()
    await page.goto(`http://portal.test:${port}${path}`)
    await page.getByLabel('First name').fill('Ada')
    await page.getByLabel('Last name').fill('Lovelace')
    await page.getByLabel('Password').fill(PASSWORD)
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await press(page, 'Join')
    const headers = await (await sent).allHeaders()
    expect([headers['sec-fetch-site'], headers.origin]).toEqual([undefined, `http://portal.test:${port}`])
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })

  describe('on each page', () => {
    // All tests share a window, because opening one takes longer than most pages.
    let page: Page
    let complaints: string[]
    beforeAll(async () => {
      page = await (await browser.newContext()).newPage()
      complaints = watch(page)
    })
    beforeEach(async () => {
      await page.goto('about:blank')
      await page.context().clearCookies()
      await page.setViewportSize(desktop)
    })

    /** Creates an assessment whose texts are too long for a line. */
    async function makeAssessment(home: string) {
      const organizationId = home.split('/').at(-2)!
      const { id: instructionId } = await service.db.instruction.create({
        data: { id: service.deps.newId(), organizationId, title: LONG, body: `${LONG}\n\n${LONG}` },
      })
      const data = { name: LONG.repeat(3), skillTypes: [LONG, LONG], instructionId, timeLimit: 5_400 }
      const assessment = await service.make.assessment(organizationId, data)
      const { id: questionId } = await service.make.question(assessment, {
        script: LONG.repeat(2),
        inputType: LONG,
        points: 5,
        timeLimit: 90,
      })
      await service.make.question(assessment, { audioUrl: 'https://media.example.com/2.mp3' })
      return { id: assessment.id, questionId }
    }

    /** Creates a failing webhook whose texts and responses are too long for a line. */
    async function makeFailing(home: string) {
      const organizationId = home.split('/').at(-2)!
      const { webhook, delivery } = await makeWebhook(service, organizationId, `${LONG} ${LONG}`)
      const now = service.clock.now()
      const url = `https://${'long-label.'.repeat(9)}example.com/${LONG.repeat(4)}`
      const data = { url, types: [...EVENT_TYPES], failingSince: now }
      await service.db.webhookEndpoint.update({ where: { id: webhook.id }, data })
      const attempt = { organizationId, endpointId: webhook.id, eventId: delivery.id, createdAt: now, milliseconds: 15_000 }
      await service.db.webhookAttempt.createMany({
        data: [
          { ...attempt, number: 1, error: LONG, answer: '' },
          { ...attempt, number: 2, status: 500, error: '', answer: `${LONG.repeat(9)}\n<html>\n\n${LONG}` },
        ],
      })
      return { id: webhook.id, own: `${home}settings/webhooks/${webhook.id}`, deliveryId: delivery.id }
    }

    /** Creates a connection with an order and calls whose texts are too long for a line. @returns its id. */
    async function connectAts(home: string): Promise<string> {
      const organizationId = home.split('/').at(-2)!
      await service.db.atsConnection.deleteMany({ where: { organizationId } }) // left by the previous page
      const assessment = await service.make.assessment(organizationId, { name: LONG.repeat(3) })
      const { connectionId, orderId } = await makeAtsOrder(service, (await service.make.invite(assessment)).id)
      await service.db.atsOrder.update({
        where: { id: orderId },
        data: { lastError: LONG.repeat(9), profileUrl: 'https://a.example' },
      })
      const call = { organizationId, connectionId, orderId, milliseconds: 10_000, createdAt: service.clock.now() }
      await service.db.atsCall.createMany({
        data: [
          { ...call, id: service.deps.newId(), isInbound: true, name: 'send_test', status: 422, error: 'invite_declined' },
          { ...call, id: service.deps.newId(), isInbound: false, name: 'in_review', error: LONG, answer: LONG.repeat(9) },
        ],
      })
      return connectionId
    }

    const open: Record<string, (home: string, page: Page) => Promise<unknown>> = {
      home: (home, page) => page.goto(home),
      account: (home, page) => page.goto(`${home}account?done=name`),
      members: (home, page) => page.goto(`${home}members`),
      'inviting a member': async (home, page) => {
        await page.goto(`${home}members/invite`)
        await page.getByLabel('Email address').fill(`${service.deps.newId()}@example.com`)
        await press(page, 'Send invitation')
        await page.getByText('Choose at least one role.').first().waitFor()
      },
      'a member': async (home, page) => {
        await page.goto(`${home}members?search=${LONG}`)
        await page.getByRole('rowheader').getByRole('link').click()
      },
      settings: (home, page) => page.goto(`${home}settings`),
      'organization settings': (home, page) => page.goto(`${home}settings/organization?done=saved`),
      'single sign-on': (home, page) => page.goto(`${home}settings/sign-in?done=saved`),
      'setting up single sign-on': (home, page) => page.goto(`${home}settings/sign-in/new`),
      'security settings': (home, page) => page.goto(`${home}settings/security?done=saved`),
      'addresses that are not written to': (home, page) => page.goto(`${home}settings/suppressions`),
      erasures: (home, page) => page.goto(`${home}settings/erasures`),
      'for how long invites are kept': (home, page) => page.goto(`${home}settings/retention?done=saved`),
      'erasing a candidate': async (home, page) => {
        const { id } = await makeAssessment(home)
        const organizationId = home.split('/').at(-2)!
        const recipientEmail = `${'long-label.'.repeat(9)}x@example.com`
        const invite = await service.make.invite({ id, organizationId }, { recipientEmail, recipientName: LONG })
        await page.goto(`${home}candidates/${invite.id}`)
        await page.getByRole('link', { name: 'Erase' }).click()
        await page.getByRole('heading', { name: 'Data to erase' }).waitFor()
      },
      'the receipt of an erasure': async (home, page) =>
        void (await page.goto(`${home}settings/erasures/${await makeErasure(service, home.split('/').at(-2)!)}`)),
      archives: (home, page) => page.goto(`${home}archives`),
      'asking for an archive': async (home, page) => {
        const { id } = await makeAssessment(home)
        const invite = await service.make.invite({ id, organizationId: home.split('/').at(-2)! }, { recipientName: LONG })
        await page.goto(`${home}candidates/${invite.id}`)
        await page.getByRole('link', { name: 'Download all data' }).click()
        await page.getByRole('heading', { name: 'Contents' }).waitFor()
      },
      'an archive': async (home, page) => {
        // The page of an unfinished archive reloads every few seconds, even during a check.
        const id = await makeArchiveRow(service, home.split('/').at(-2)!, { finishedAt: service.clock.now() })
        await page.goto(`${home}archives/${id}`)
      },
      'asking for one’s own archive': (home, page) => page.goto(`${home}account/archive`),
      'asking for an export of the organization': (home, page) => page.goto(`${home}settings/export`),
      'an organization too large for a download': async (home, page) => {
        const counted = { organizationId: home.split('/').at(-2)!, slot: 1 }
        await service.db.organizationMediaBytes.create({ data: { ...counted, bytes: BigInt(MAX_EXPORT_BYTES) + 1n } })
        await page.goto(`${home}settings/export`)
        await page.getByRole('heading', { name: 'Too large for a download' }).waitFor()
        await service.db.organizationMediaBytes.delete({ where: { organizationId_slot: counted } })
      },
      'language settings': (home, page) => page.goto(`${home}settings/languages?done=saved`),
      'reminders and notices': (home, page) => page.goto(`${home}settings/reminders?done=saved`),
      'colors and logo': (home, page) => page.goto(`${home}settings/brand?primaryColor=%23ffd400&backgroundColor=%23102a43`),
      'links and consent': (home, page) => page.goto(`${home}settings/links?language=ar`),
      'words of invitations': (home, page) => page.goto(`${home}settings/words?done=saved`),
      'words of a receipt': (home, page) => page.goto(`${home}settings/words?kind=submitted&language=ar`),
      'audit log': (home, page) => page.goto(`${home}settings/audit-log`),
      tags: (home, page) => page.goto(`${home}tags`),
      'a tag': async (home, page) => {
        await page.goto(`${home}tags`)
        await page.getByRole('rowheader').getByRole('link').first().click()
      },
      integrations: (home, page) => page.goto(`${home}settings/integrations?done=revoked`),
      'what a key may do': async (home, page) => {
        await page.goto(`${home}settings/integrations`)
        await page.getByRole('rowheader').getByRole('link').first().click()
      },
      webhooks: async (home, page) => {
        await makeFailing(home)
        await page.goto(`${home}settings/webhooks?done=deleted`)
      },
      'a webhook that is refused': async (home, page) => {
        await page.goto(`${home}settings/webhooks`)
        await press(page, 'New webhook')
        await page.getByLabel('URL').fill('http://10.0.0.1')
        await page.getByLabel('Description').fill(LONG.repeat(20))
        await press(page, 'Create webhook')
        await page.getByText('Please check the following').waitFor()
      },
      'the secret of a webhook': async (home, page) => {
        await page.goto(`${home}settings/webhooks`)
        await press(page, 'New webhook')
        await page.getByLabel('URL').fill(`https://example.com/${LONG}`)
        await press(page, 'Create webhook')
        await page.locator('#secret').waitFor()
      },
      'a webhook': async (home, page) => page.goto((await makeFailing(home)).own),
      'a webhook that has missed something': async (home, page) => {
        const { id, own } = await makeFailing(home)
        await service.db.webhookEndpoint.update({ where: { id }, data: { missedFrom: -1 } })
        await page.goto(`${own}?done=enabled`)
      },
      deliveries: async (home, page) => page.goto(`${(await makeFailing(home)).own}/deliveries`),
      'a delivery': async (home, page) => {
        const { own, deliveryId } = await makeFailing(home)
        await page.goto(`${own}/deliveries/${deliveryId}`)
      },
      'recruiting systems': async (home, page) => {
        await connectAts(home)
        await page.goto(`${home}settings/ats?done=entered`)
      },
      'a key for a recruiting system': async (home, page) => {
        await page.goto(`${home}settings/ats`)
        await page.getByRole('button', { name: 'Generate a live key' }).first().click()
        await page.locator('#key').waitFor()
      },
      'a connection to a recruiting system': async (home, page) =>
        page.goto(`${home}settings/ats/connections/${await connectAts(home)}?done=tested`),
      assessments: async (home, page) => {
        const { id } = await makeAssessment(home)
        await service.db.assessment.update({ where: { id }, data: { createdAt: new Date(0) } })
        for (let i = 0; i < 20; i++) await service.make.assessment(home.split('/').at(-2)!)
        await page.goto(`${home}assessments?page=2&done=deleted`)
      },
      'no assessments': (home, page) => page.goto(`${home}assessments?search=${LONG}`),
      'a new assessment': (home, page) => page.goto(`${home}assessments/new`),
      'an assessment': async (home, page) => page.goto(`${home}assessments/${(await makeAssessment(home)).id}?done=saved`),
      'an assessment that is refused': async (home, page) => {
        await page.goto(`${home}assessments/${(await makeAssessment(home)).id}/edit`)
        await page.getByLabel('Name', { exact: true }).fill(LONG.repeat(4))
        await page.getByLabel('Tags').fill(LONG)
        await press(page, 'Save')
        await page.getByText('Please check the following').waitFor()
      },
      'the preview of an assessment': async (home, page) =>
        page.goto(`${home}assessments/${(await makeAssessment(home)).id}/preview`),
      'a new question': async (home, page) => page.goto(`${home}assessments/${(await makeAssessment(home)).id}/questions/new`),
      'a question': async (home, page) => {
        const { id, questionId } = await makeAssessment(home)
        await page.goto(`${home}assessments/${id}/questions/${questionId}`)
      },
      'a mistake': async (home, page) => {
        await page.goto(`${home}settings/integrations`)
        await press(page, 'New API key')
        await page.getByLabel('Name', { exact: true }).fill(LONG.repeat(4))
        await press(page, 'Generate API Key')
        await page.getByText('Please check the following').waitFor()
      },
      'a key': async (home, page) => {
        await page.goto(`${home}settings/integrations`)
        await press(page, 'New API key')
        await page.getByLabel('Name', { exact: true }).fill(service.make.unique(LONG))
        await press(page, 'Generate API Key')
        await page.locator('#key').waitFor()
      },
      invites: (home, page) => page.goto(`${home}invites?search=x`),
      'all invites': (home, page) => page.goto(`${home}invites`),
      'an invite': async (home, page) => {
        await page.goto(`${home}invites`)
        await page.locator('tbody th a').first().click()
      },
      'what a candidate has sent in': async (home, page) => {
        const id = await toGrade(home)
        const { inviteId } = await service.db.submission.findUniqueOrThrow({ where: { id } })
        await page.goto(`${home}invites/${inviteId}/submission`)
      },
      'the queue of what is to be graded': async (home, page) => {
        await toGrade(home)
        await page.goto(`${home}grading?queue=nobody`)
      },
      'the sheet of a submission': async (home, page) => {
        await page.goto(`${home}grading/${await toGrade(home)}`)
        await page.locator('#saved-1').waitFor()
        await page.locator('#comment-1').fill(LONG.repeat(4))
        await page.getByText(/Grades so far/).waitFor()
      },
      'a grade that is refused': async (home, page) => {
        await page.goto(`${home}grading/${await toGrade(home)}`)
        await page.locator('#points-1').fill('1000')
        await page.locator('#saved-1', { hasText: 'Not saved: The points must be' }).waitFor()
      },
      'the grades of a question': async (home, page) => page.goto(`${home}grading/${await toGrade(home)}/questions/1`),
      'a result to release': async (home, page) => page.goto(`${home}grading/${await toGrade(home)}/release`),
      'the sheet of two graders who differ': async (home, page) => {
        const id = await toDecide(home)
        await page.goto(`${home}grading/${id}`)
        await page.getByText('an admin has to decide').waitFor()
        await page.getByLabel('Second grader').waitFor()
      },
      'the queue, with a difference to be decided': async (home, page) => {
        await toDecide(home)
        await page.goto(`${home}grading?done=handed-on`)
        await page.getByText('an admin has to decide').waitFor()
      },
      'the sheet of a released result': async (home, page) => {
        const { id } = await released(home)
        await page.goto(`${home}grading/${id}`)
        await page.getByText('your organization and the candidate see it').waitFor()
      },
      results: async (home, page) => {
        await released(home)
        await page.goto(`${home}results`)
      },
      'a result': async (home, page) => page.goto(`${home}results/${(await released(home)).id}`),
      'the report on an assessment': async (home, page) => {
        const { assessmentId } = await released(home)
        await page.goto(`${home}results/assessments/${assessmentId}`)
        await page.getByText('Points by question').waitFor()
      },
      'a new invite': (home, page) => page.goto(`${home}invites/new`),
      'a new invite with mistakes': async (home, page) => {
        await page.goto(`${home}invites/new`)
        await page.getByLabel('Email address').fill('nobody@nowhere')
        await page.getByLabel('Days until it expires').fill('0')
        await press(page, 'Invite')
        await page.getByText('Please check the following').waitFor()
      },
      'many invites': (home, page) => page.goto(`${home}invites/batches`),
      'a list of candidates': async (home, page) => {
        const { id } = await makeAssessment(home)
        await page.goto(`${home}invites/batches`)
        await page.getByLabel('Assessment').selectOption(id)
        await page.getByLabel('Or paste the rows').fill(`email,name,${LONG}\n${LONG}\na@example.com,${LONG}\na@example.com,`)
        await press(page, 'Preview list')
        await page.getByRole('heading', { name: 'Preview' }).waitFor()
      },
      organizations: (_home, page) => page.goto(`${origin}/portal`),
      'sign in': (_home, page) => page.goto(`${origin}/portal/sign-in?done=reset`),
      forgot: (_home, page) => page.goto(`${origin}/portal/forgot`),
      'a dead link': (_home, page) => page.goto(`${origin}/portal/join/x`),
      'an unknown page': (_home, page) => page.goto(`${origin}/portal/x/nowhere`),
      'first steps': async (_home, page) => {
        const { home } = await signInBrowser(page.context(), (await service.make.organization()).id)
        await page.goto(home)
      },
      join: async (_home, page) => {
        const path = await joinPath(service, await service.make.organization(), `${service.deps.newId()}@example.com`)
        await page.goto(origin + path)
      },
    }

    /** Submits texts, a recording, and webcam pictures for the organization's invite. @returns the id of the submission. */
    async function toGrade(home: string): Promise<string> {
      const where = { organizationId: home.split('/').at(-2)! }
      const { id: inviteId, organizationId, assessmentId } = await service.db.invite.findFirstOrThrow({ where })
      await submitRows(service, { organizationId, assessmentId, inviteId }, LONG.repeat(3))
      const { id: submissionId } = await service.db.submission.findFirstOrThrow({ where, orderBy: { id: 'desc' } })
      for (let i = 0; i < 12; i++) {
        const [id, createdAt] = [service.deps.newId(), service.clock.now()]
        const still = {
          kind: 'webcam_still',
          state: 'ready',
          contentType: 'image/jpeg',
          bytes: jpeg().length,
          createdAt,
        } as const
        await service.deps.media.put(`${organizationId}/${id}/file`, jpeg())
        await service.db.mediaFile.create({
          data: { id, key: `${organizationId}/${id}`, organizationId, submissionId, ...still },
        })
      }
      return submissionId
    }

    /** Creates a submission with two grades that are far apart. @returns its id. */
    async function toDecide(home: string): Promise<string> {
      const submissionId = await toGrade(home)
      const where = { id: submissionId }
      const { organizationId, assessmentId } = await service.db.submission.findUniqueOrThrow({ where })
      await service.db.assessment.update({ where: { id: assessmentId }, data: { secondGrader: true } })
      const now = service.clock.now()
      for (const round of [1, 2]) {
        const { id: graderId } = await service.make.member(organizationId)
        const given = { graderId, round, points: round - 1, comment: LONG.repeat(2), createdAt: now, updatedAt: now }
        await service.db.grade.create({
          data: { id: service.deps.newId(), organizationId, submissionId, questionNumber: 1, ...given },
        })
      }
      return submissionId
    }

    /** Creates a submission with a released result. */
    async function released(home: string) {
      const submissionId = await toGrade(home)
      const submission = await service.db.submission.findUniqueOrThrow({ where: { id: submissionId } })
      const { organizationId } = submission
      const organization = await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
      const admin = await service.db.member.findFirstOrThrow({ where: { organizationId, roles: { has: 'admin' } } })
      const ctx = asMember(service, organization, admin)
      await saveGrade(ctx, { submissionId, number: 1, points: 0.5, comment: LONG, seen: service.clock.now() })
      await releaseResult(ctx, { submissionId, comment: LONG.repeat(3), message: LONG.repeat(3), toCandidate: true })
      return submission
    }

    /** Creates an organization with every text that can be too long for a line. */
    async function setUp(context: BrowserContext) {
      const { id } = await service.make.organization()
      await service.db.organization.update({ where: { id }, data: { name: `${LONG} ${id}` } })
      const { home, member } = await signInBrowser(context, id, { roles: ['admin', 'grader', 'client'] })
      await renameUser(service.system, member.userId, { firstName: LONG, lastName: LONG })
      const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: member.id } })
      const assessment = await service.make.assessment(id, { name: `${LONG} ${LONG}` })
      const tag = await service.make.tag(id, { name: LONG, description: LONG.repeat(9) })
      await service.make.tag(id)
      const { id: inviteId } = await service.make.invite(assessment, {
        recipientEmail: `${LONG.slice(0, 30)}.${LONG.slice(30, 50)}@${'long-domain.'.repeat(9)}example.com`
          .replace('ä', 'a')
          .replace('ü', 'u'),
        recipientName: LONG,
        customMessage: `${LONG}\n${LONG}${LONG}`,
        createdById: member.id,
      })
      await service.db.inviteTag.create({ data: { organizationId: id, inviteId, tagId: tag.id, position: 0 } })
      const now = service.clock.now()
      const failed = { state: 'failed', reason: LONG.repeat(3), createdAt: now, updatedAt: now } as const
      const email = { id: service.deps.newId(), organizationId: id, inviteId, linkVersion: 1, ...failed }
      await service.db.inviteEmail.create({ data: email })
      const { id: keyId } = await service.db.apiKey.findFirstOrThrow({ where: { organizationId: id } })
      await service.db.apiKey.update({ where: { id: keyId }, data: { name: LONG.repeat(2) } })
      const actor = { kind: 'apiKey', id: keyId, mode: 'live', createdById: null } as const
      const invite = await service.db.invite.findUniqueOrThrow({ where: { id: inviteId } })
      await recordEvents({ ...service.system, actor }, [inviteEvents.extended(invite)])
      const other = await service.make.organization()
      await service.make.member(other.id, { credentialId, roles: ['admin'] })
      return home
    }

    it.each(Object.keys(open).map((name, index) => [name, index] as const))(
      'is accessible, dark and light, wide and narrow, keeps its policy, and never scrolls sideways: %s',
      async (name, index) => {
        complaints.length = 0
        await open[name]!(await setUp(page.context()), page)
        expect(complaints.filter((text) => !/status of (404|422)/.test(text))).toEqual([])
        await page.evaluate('for (const folded of document.querySelectorAll("details")) folded.open = true') // folded content is checked, too
        for (const { viewport, colorScheme } of looksOf(index)) {
          await page.setViewportSize(viewport)
          await page.emulateMedia({ colorScheme })
          // On a phone with all rules. For the desktop, test/interfaces/look.browser.test.ts checks them on every page.
          await (viewport === phone ? expectAccessible(page) : expectContrast(page))
          expect([viewport.width, await overflow(page)]).toEqual([viewport.width, 0])
        }
      },
    )
  })
})
