import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { INVITE_STATUSES } from '../../../src/domain/invites/invites.ts'
import { expectAccessible, isBrowserInstalled, overflow, startBrowser } from '../../support/browser.ts'
import { candidateOf } from '../../support/candidate.ts'
import { linkIn } from '../../support/mail.ts'
import { type Service, startService } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'

const desktop = { width: 1280, height: 900 }
const phone = { width: 360, height: 740 }

let service: Service
let smtp: SmtpListener
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!isBrowserInstalled) return
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service?.close()
  await smtp?.close()
})

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'

/** Creates an assessment that fills everything its pages can show, with some texts too long for a line on a phone. */
async function makeAssessment() {
  const { id: organizationId, key } = await service.make.organization()
  const contact = await service.make.member(organizationId, {
    firstName: 'Maya',
    lastName: LONG,
    email: `${LONG.slice(0, 40)}-${organizationId}@example.com`.replace('ä', 'ae'),
  })
  const instruction = await service.db.instruction.create({
    data: { id: service.deps.newId(), organizationId, title: 'Before you start', body: `Find a quiet room.\n${LONG}${LONG}` },
  })
  const assessment = await service.make.assessment(organizationId, {
    name: `Customer support, ${LONG}`,
    timeLimit: 1_800,
    instructionId: instruction.id,
  })
  const audioUrl = 'https://media.example.com/question.mp3'
  await service.make.question(assessment, {
    script: 'Please introduce yourself.',
    responseType: 'text',
    timeLimit: 90,
    points: 5,
  })
  await service.make.question(assessment, { script: LONG + LONG, audioUrl, responseType: 'text', points: 1 })
  return { key, contact, assessment }
}

/** Settings that require nothing except answers. */
const ASKED_BY_V1 = {
  facePhotoRequired: false,
  proctoringSettings: { screenRecording: false, webcamMonitoring: false, requireIdCapture: false },
}

/** Invites a candidate over HTTP. @returns the address in the mail that arrives. */
async function receiveLink(recipientEmail: string) {
  const { key, assessment } = await makeAssessment()
  const body = {
    assessmentId: assessment.id,
    recipientEmail,
    recipientName: 'Sam Rivera',
    customMessage: `Good luck!\n${LONG}`,
    ...ASKED_BY_V1,
  }
  const answer = await service.v1(key).post('/invites').send(body)
  for (let count = smtp.mails.length; ; count++) {
    const mail = smtp.mails.find(({ envelope }) => envelope.to[0] === recipientEmail)
    if (mail) return { link: origin + linkIn(mail), key, inviteId: answer.body.invite.id as string, assessment }
    await smtp.waitFor(count + 1)
  }
}

async function openPage(url: string, options: Parameters<Browser['newContext']>[0]): Promise<Page> {
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(url)
  return page
}

type Reached = { presses: string[]; shows: string }
/** Pages that are reached from a status by pressing buttons, and a text that shows their arrival: scripts send forms by fetch. */
const REACHED: Record<string, Reached> = {
  'accepted, with consent': { presses: ['I agree'], shows: 'Before you start' },
  'accepted, refused': { presses: ['I agree', 'Start'], shows: 'Something is still missing' },
  'started, without consent': { presses: ['Continue'], shows: 'What you agree to' },
  'started, before a question': { presses: ['Continue', 'I agree'], shows: 'from when you open it' },
  'started, at a question': { presses: ['Continue', 'I agree', 'Open question 1'], shows: 'Please introduce yourself.' },
  'started, at the end': {
    presses: [
      ...['Continue', 'I agree', 'Open question 1', 'Next question', 'Leave it'],
      ...['Open question 2', 'Save and go to the end', 'Leave it'],
    ],
    shows: 'You have not answered any question.',
  },
}

async function reach(page: Page, { presses, shows }: Reached): Promise<void> {
  for (const name of presses) {
    const button = page.getByRole('button', { name, exact: true })
    // While something is missing, the button ignores the mouse, but a key press explains what is missing.
    if (name === 'Start') await page.locator('.step').first().waitFor()
    await (name === 'Start' ? button.press('Enter') : button.click())
  }
  await page.getByText(shows).first().waitFor()
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()

describe.skipIf(!isBrowserInstalled)('the candidate pages (skipped where no chromium is installed)', () => {
  it.each([
    ['a desktop', desktop],
    ['a phone', phone],
  ] as const)("lead from the mail's link to completed without JavaScript, on %s", async (device, viewport) => {
    const { link, key, inviteId, assessment } = await receiveLink(`${device.replace(' ', '-')}@example.com`)
    const page = await openPage(link, { viewport, javaScriptEnabled: false })
    const status = async () => (await service.v1(key).get(`/invites/${inviteId}`)).body.status
    type Step = { text: string; status: string; press: string | undefined; answer?: string; exact?: string; heads?: true }
    const steps: Step[] = [
      { text: 'Sam Rivera, you are invited', status: 'pending', press: 'Accept the invitation' },
      { text: 'What you agree to', status: 'accepted', press: 'I agree' },
      { text: 'Before you start', status: 'accepted', press: 'Start', exact: 'h2#prepare-heading' },
      { text: 'Question 1 of 2', status: 'started', press: 'Open question 1' },
      { text: 'Please introduce yourself.', status: 'started', answer: 'I am Sam.', press: 'Next question' },
      { text: 'Question 2 of 2', status: 'started', press: 'Open question 2' },
      { text: 'Listen to the question', status: 'started', answer: LONG + LONG, press: 'Save and go to the end' },
      { text: 'You have answered every question.', status: 'started', press: 'Finish' },
      { text: 'You have completed this assessment', status: 'completed', press: undefined, heads: true },
    ]
    for (const step of steps) {
      await (step.exact ? page.locator(step.exact) : page.getByText(step.text)).waitFor()
      expect([await heading(page), await status(), page.url()]).toEqual([
        step.heads ? step.text : assessment.name,
        step.status,
        link,
      ])
      expect(await overflow(page)).toBe(0)
      if (step.answer) await page.getByLabel('Your answer').fill(step.answer)
      if (step.press) await page.getByRole('button', { name: step.press, exact: true }).click()
    }
    expect(await page.getByRole('button').count()).toBe(0)
    // Going back and reloading sends nothing again.
    await page.goBack()
    await page.reload()
    expect(await page.getByText('You have completed this assessment').count()).toBe(1)
  })

  it('let a candidate decline, but not by one careless click', async () => {
    const { link, key, inviteId } = await receiveLink('declining@example.com')
    const page = await openPage(link, { viewport: phone, javaScriptEnabled: false })
    const decline = page.getByRole('button', { name: 'Decline the invitation' })
    expect(await decline.isVisible()).toBe(false)
    await page.getByText('I do not want to take part').click()
    await decline.click()
    await page.getByText('You have declined this invitation').waitFor()
    expect((await service.v1(key).get(`/invites/${inviteId}`)).body.status).toBe('revoked')
  })

  describe('on each page', () => {
    let page: Page
    let made: Awaited<ReturnType<typeof makeAssessment>>
    beforeAll(async () => {
      page = await (await browser.newContext()).newPage()
      made = await makeAssessment()
    })

    async function open(name: string): Promise<void> {
      const status = INVITE_STATUSES.find((status) => status === name.split(',')[0]) ?? 'pending'
      const texts = { recipientName: LONG, customMessage: LONG }
      // A candidate cannot open a question while a required screen recording is not shared.
      const screenRecording = !name.startsWith('started, at')
      const data = { status, ...texts, screenRecording, createdById: made.contact.id, completedAt: service.clock.now() }
      const { path } = candidateOf(service, await service.make.invite(made.assessment, data))
      await page.goto(name === 'unknown' ? `${origin}/i/unknown` : origin + path)
      if (REACHED[name]) await reach(page, REACHED[name])
      if (name === 'refused') {
        await page
          .locator('form[action$="/accept"] input[name=proof]')
          .first()
          .evaluate((input) => input.setAttribute('value', 'another'))
        await page.getByRole('button', { name: 'Accept the invitation' }).click()
        await page.getByText('This did not work').waitFor()
      }
      for (const summary of await page.locator('summary').all()) await summary.click() // folded content is checked, too
    }

    it.each([...INVITE_STATUSES, ...Object.keys(REACHED), 'unknown', 'refused'])(
      'are accessible on wide and narrow screens, and never scroll sideways: %s',
      async (name) => {
        await open(name)
        for (const viewport of [desktop, phone]) {
          await page.setViewportSize(viewport)
          await expectAccessible(page)
          expect(await overflow(page)).toBe(0)
        }
      },
    )
  })
})
