import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_REQUIREMENTS } from '../support/candidate.ts'
import { makeOpenLink } from '../support/open-links.ts'
import { CHROMIUM, type Driven, OTHER_BROWSERS, pressIn, see } from '../support/other-browsers.ts'
import { signInAs } from '../support/portal.ts'
import { type Service, startService } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
let origin: string
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await service?.close()
  await smtp?.close()
})

/** Sets a field's value, with the events that the page's scripts expect. */
const fill = (browser: Driven, selector: string, value: string) =>
  waitUntil(
    `the field ${selector}`,
    async () =>
      (await browser.evaluate(`(() => {
      const field = document.querySelector(${JSON.stringify(selector)})
      if (!field) return false
      field.focus()
      field.value = ${JSON.stringify(value)}
      for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
      return true
    })()`)) || undefined,
  )

describe.each(Object.entries({ chromium: CHROMIUM, ...OTHER_BROWSERS }))('an open link in %s', (name, { isInstalled, start }) => {
  let browser: Driven
  beforeAll(async () => {
    if (isInstalled) browser = await start()
  })
  afterAll(() => browser?.close())

  it.skipIf(!isInstalled)(
    'leads a visitor to a submission, and a grader to its result (skipped where it is not installed)',
    async () => {
      const link = await makeOpenLink(service, { assessment: NO_REQUIREMENTS })
      await service.db.question.updateMany({ where: { assessmentId: link.assessment.id }, data: { points: 5 } })
      const address = `${name}.${service.deps.newId()}@example.com`
      await browser.open(`${origin}/healthz`)
      await browser.evaluate(
        `document.body.innerHTML = ${JSON.stringify(`<a id="advertisement" href="${origin}${link.path}">Apply</a>`)}`,
      )
      await browser.click('#advertisement')
      await see(browser, /Send me the link/)
      await fill(browser, '#name', 'Amara Duarte')
      await fill(browser, '#email', address)
      await pressIn(browser, 'Send me the link')
      await see(browser, /We have sent you a link/)
      expect(await link.registrations()).toMatchObject([{ email: address, proof: expect.stringMatching(/^[\da-f]{32}$/) }])

      const mail = await waitUntil('the mail', () => smtp.mails.find(({ envelope }) => envelope.to.includes(address)))
      const mailed = new URL(/https?:\S+\/open\/begin\/\S+/.exec(mail.parsed.text!)![0]).pathname
      await browser.open(origin + mailed)
      await pressIn(browser, 'Begin')
      await pressIn(browser, 'I agree')
      await pressIn(browser, 'Start')
      await pressIn(browser, 'Open question 1')
      await fill(browser, 'textarea', 'Good morning, what can I do for you?')
      await browser.click('button[value=next], [data-leave]')
      await pressIn(browser, 'Finish')
      await see(browser, /You have completed this assessment/)
      const [invite] = await link.invites()
      expect(invite).toMatchObject({ source: 'open', status: 'completed', recipientEmail: address })

      const { id: submissionId } = await service.db.submission.findFirstOrThrow({ where: { inviteId: invite!.id } })
      const admin = await signInAs(service, link.organization.id, ['admin'])
      const [cookie, value] = admin.cookie()!.split('=') as [string, string]
      await browser.setCookie({ name: cookie, value, domain: '127.0.0.1' })
      // Grades must be newer than the submission.
      service.clock.advance(1_000)
      await browser.open(`${origin}${admin.home}grading/${submissionId}`)
      await see(browser, /Good morning, what can I do for you\?/)
      await fill(browser, '#points-1', '1')
      await see(browser, /Saved\./)
      await browser.open(`${origin}${admin.home}grading/${submissionId}/release`)
      await pressIn(browser, 'Release result')
      await waitUntil(
        'the result to be released',
        async () => (await service.db.submission.findUnique({ where: { id: submissionId } }))?.state === 'released' || undefined,
      )
    },
  )
})
