import { afterAll, describe, expect, it } from 'vitest'
import { deleteAssessment } from '../../../src/domain/assessments/edit-assessments.ts'
import { requestErasure } from '../../../src/domain/erasure/request-erasure.ts'
import { createInvite } from '../../../src/domain/invites/create-invite.ts'
import { changeOpenLink, replaceOpenLink } from '../../../src/domain/open-links/open-links.ts'
import { queueRegistrations } from '../../../src/domain/open-links/queue-registrations.ts'
import { candidateOf, expectPage, NO_REQUIREMENTS } from '../../support/candidate.ts'
import { readFeed } from '../../support/events.ts'
import { makeOpenLink, NETWORKS, newNetwork, readerOf } from '../../support/open-links.ts'
import { runSweep } from '../../support/run-sweep.ts'
import { startServiceForFile } from '../../support/service.ts'
import { startSmtpListener } from '../../support/smtp.ts'
import { waitUntil } from '../../support/wait-until.ts'

const smtp = await startSmtpListener()
afterAll(smtp.close)
const service = await startServiceForFile({ ...NETWORKS, SMTP_URL: smtp.url })
const mailsTo = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to.includes(address))
let addresses = 0
const newAddress = () => `visitor${++addresses}.${service.deps.newId().slice(-8)}@example.com`
const HOUR_MS = 3_600_000

describe('an open link', () => {
  it('leads through its form and a mail to an accepted invite', async () => {
    const link = await makeOpenLink(service, { settings: { inviteDays: 7 } })
    const tag = await service.make.tag(link.organization.id)
    await link.change({ tagIds: [tag.id] })
    const form = await link.open()
    expectPage(form, 200)
    expect(form.text).toContain(link.assessment.name)
    const email = newAddress()
    const sent = await link.send({ email, solution: await link.prove() })
    expectPage(sent, 200)
    expect(sent.text).toContain('We have sent you a link')
    expect(await link.invites()).toEqual([])

    const mail = await waitUntil('the mail', () => mailsTo(email)[0])
    expect(mail.parsed.subject).toBe(`Your link to ${link.assessment.name} (${link.organization.name})`)
    const path = new URL(/https?:\S+\/open\/begin\/\S+/.exec(mail.parsed.text!)![0]).pathname
    const page = await service.http().get(path)
    expectPage(page, 200)
    expect(page.text).toContain('This wasn’t me')
    const [registration] = await link.registrations(email)
    const begun = await readerOf(service, registration!).press('begin')
    expect(begun.status).toBe(303)
    const [invite] = await link.invites()
    expect(invite).toMatchObject({
      status: 'accepted',
      source: 'open',
      mode: 'live',
      recipientEmail: email,
      recipientName: 'Amara Duarte',
      language: 'en',
      createdById: null,
    })
    expect(invite!.expiresAt.getTime() - invite!.createdAt.getTime()).toBe(7 * 24 * HOUR_MS)
    expect(begun.headers.location).toBe(candidateOf(service, invite!).path)
    expect(await service.db.inviteTag.findMany({ where: { inviteId: invite!.id } })).toMatchObject([{ tagId: tag.id }])
    const { events } = await readFeed(service, link.organization.key)
    expect(events.map(({ type, actor, data }) => [type, actor.type, data.status])).toEqual([
      ['invite.created', 'candidate', 'pending'],
      ['invite.accepted', 'candidate', 'accepted'],
    ])
    expect(events[0]!.data).toMatchObject({ source: 'open' })
    expect((await service.http().get(path)).headers.location).toBe(begun.headers.location)
    expect(await service.db.inviteEmail.count({ where: { inviteId: invite!.id } })).toBe(0)
    expect(mailsTo(email)).toHaveLength(1)
    expect(await service.db.openLink.findFirst({ where: { id: link.id } })).toMatchObject({ invitesCreated: 1 })
  })

  it.each([
    ['is off', { isOn: false }, {}],
    ['belongs to an assessment by invitation', {}, { audience: 'invite_only' as const }],
  ])('is not found if it %s', async (_, settings, assessment) => {
    const link = await makeOpenLink(service, { settings, assessment })
    const unknown = await link.open('/open/AAAAAAAAAAAAAAAAAAAAAA')
    expectPage(unknown, 404)
    expect((await link.open()).text).toBe(unknown.text)
    const { status, text } = await link.send()
    expect([status, text]).toEqual([404, unknown.text])
    expect(await link.registrations()).toEqual([])
  })

  it('is not found while its organization is suspended, and its mails are not sent', async () => {
    const link = await makeOpenLink(service)
    const email = newAddress()
    const registration = await link.register(email)
    const now = service.clock.now()
    await service.db.organizationSuspension.create({
      data: {
        id: service.deps.newId(),
        organizationId: link.organization.id,
        actorKind: 'operator',
        requestedAt: now,
        erasesAt: now,
      },
    })
    expect((await link.open()).status).toBe(404)
    expect((await link.send()).status).toBe(404)
    const reader = readerOf(service, registration)
    expect([(await reader.open()).status, (await reader.press('begin')).status]).toEqual([404, 404])
    expect(await link.invites()).toEqual([])
  })

  it.each([
    ['closed', () => ({ closesAt: service.clock.now() }), 'This assessment is closed'],
    ['not open yet', () => ({ opensAt: new Date(service.clock.now().getTime() + HOUR_MS) }), 'This assessment is not open yet'],
  ])('explains that it is %s, on its form and on the page of the mailed link', async (_, settings, heading) => {
    const link = await makeOpenLink(service)
    const registration = await link.register(newAddress())
    await link.change(settings())
    for (const { status, text } of [await link.open(), await link.send()])
      expect([status, text.includes(heading), text.includes('name="email"')]).toEqual([200, true, false])
    const reader = readerOf(service, registration)
    expect((await reader.open()).text).toContain(heading)
    const begun = await reader.press('begin')
    expect([begun.status, begun.text.includes(heading)]).toEqual([200, true])
    expect(await link.invites()).toEqual([])
  })

  it('creates no more invites than its limits in total and per day', async () => {
    const link = await makeOpenLink(service, { settings: { dailyInvites: 1, maxInvites: 2 } })
    const readers = []
    for (let i = 0; i < 3; i++) readers.push(readerOf(service, await link.register(newAddress())))
    expect((await readers[0]!.press('begin')).status).toBe(303)
    expect((await readers[1]!.press('begin')).text).toContain('No more places today')
    const form = await link.open()
    expect([form.headers['retry-after'], form.text.includes('No more places today')]).toEqual([String(24 * 3_600), true])
    service.clock.advance(24 * HOUR_MS)
    expect((await readers[1]!.press('begin')).status).toBe(303)
    expect((await readers[2]!.press('begin')).text).toContain('All places are taken')
    expect((await link.open()).text).toContain('All places are taken')
    expect(await link.invites()).toHaveLength(2)
  })

  it('stays within its limit when all readers begin at once', async () => {
    const link = await makeOpenLink(service, { settings: { maxInvites: 2 } })
    const readers = []
    for (let i = 0; i < 5; i++) readers.push(readerOf(service, await link.register(newAddress())))
    const answers = await Promise.all(readers.map((reader) => reader.press('begin')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 303, 303])
    expect(await link.invites()).toHaveLength(2)
    expect(await service.db.openLink.findFirst({ where: { id: link.id } })).toMatchObject({ invitesCreated: 2 })
  })

  it('shows when it opens and until when it is open', async () => {
    const at = (hours: number) => new Date(service.clock.now().getTime() + hours * HOUR_MS)
    const link = await makeOpenLink(service, { settings: { opensAt: at(-1), closesAt: at(48) } })
    const until = `<time datetime="${at(48).toISOString()}"`
    const reader = readerOf(service, await link.register(newAddress()))
    for (const { text } of [await link.open(), await reader.open()])
      expect([text.includes('Open until'), text.includes(until)]).toEqual([true, true])
    await link.change({ opensAt: at(24) })
    const { text } = await link.open()
    expect([text.includes(`<time datetime="${at(24).toISOString()}"`), text.includes(until)]).toEqual([true, true])
  })

  it('stops working at once when it is replaced, and so do the mails it has sent', async () => {
    const link = await makeOpenLink(service)
    const [waiting, begun] = [await link.register(newAddress()), await link.register(newAddress())]
    await readerOf(service, begun).press('begin')
    const { url } = await replaceOpenLink(link.ctx, link.assessment.id)
    expect((await link.open()).status).toBe(404)
    expect((await link.send()).status).toBe(404)
    expect((await link.open(new URL(url!).pathname)).status).toBe(200)
    const reader = readerOf(service, waiting)
    expect([(await reader.open()).status, (await reader.press('begin')).status]).toEqual([404, 404])
    expect((await readerOf(service, begun).open()).status).toBe(303)
    expect(await link.invites()).toHaveLength(1)
  })

  it('is a separate one for test data, and its mails are captured', async () => {
    const link = await makeOpenLink(service, { mode: 'test' })
    const email = newAddress()
    const registration = await link.register(email)
    expect(registration.state).toBe('captured')
    expect((await readerOf(service, registration).press('begin')).status).toBe(303)
    expect(await link.invites()).toMatchObject([{ mode: 'test', source: 'open' }])
    expect(mailsTo(email)).toEqual([])
  })

  it('rejects forms from other sites', async () => {
    const link = await makeOpenLink(service)
    expect((await link.send().set('sec-fetch-site', 'cross-site')).status).toBe(400)
    expect(await link.registrations()).toEqual([])
  })

  it('shows its form in the language of its URL, otherwise in the browser’s', async () => {
    const link = await makeOpenLink(service)
    await service.db.organization.update({
      where: { id: link.organization.id },
      data: { languagesOffered: ['en', 'de', 'ar'] },
    })
    expect((await link.open().set('accept-language', 'de')).text).toContain('Wohin sollen wir Ihren Link senden?')
    expect((await link.open(`${link.path}?language=ar`).set('accept-language', 'de')).text).toContain('dir="rtl"')
    const email = newAddress()
    await link.register(email, { language: 'de' })
    const mail = await waitUntil('the mail', () => mailsTo(email)[0])
    expect(mail.parsed.subject).toContain('Ihr Link zu')
  })
})

describe('the mailed link', () => {
  it('changes nothing when it is opened', async () => {
    const link = await makeOpenLink(service)
    const registration = await link.register(newAddress())
    const reader = readerOf(service, registration)
    for (const method of ['get', 'head', 'options'] as const)
      for (const path of ['', '/begin', '/refuse']) await service.http()[method](reader.path + path)
    expect(await link.registrations()).toEqual([registration])
    expect(await link.invites()).toEqual([])
  })

  it('creates one invite for two tabs, a double click, and a repeated form', async () => {
    const link = await makeOpenLink(service)
    const email = newAddress()
    const reader = readerOf(service, await link.register(email))
    service.clock.advance(61_000)
    const other = readerOf(service, await link.register(email))
    const answers = await Promise.all([reader, reader, reader, other, other].map((one) => one.press('begin')))
    answers.push(await reader.press('begin'), await other.press('begin'))
    const [invite, ...more] = await link.invites(email)
    expect(more).toEqual([])
    for (const { status, headers } of answers)
      expect([status, headers.location]).toEqual([303, candidateOf(service, invite!).path])
    const { events } = await readFeed(service, link.organization.key)
    expect(events.map(({ type }) => type)).toEqual(['invite.created', 'invite.accepted'])
  })

  it('leads to the existing invite of its address, in any status', async () => {
    const link = await makeOpenLink(service)
    for (const status of ['pending', 'started', 'completed', 'expired', 'revoked'] as const) {
      const email = newAddress()
      const invite = await service.make.invite(link.assessment, {
        recipientEmail: email.toUpperCase(),
        status,
        completedAt: status === 'completed' ? service.clock.now() : null,
      })
      const begun = await readerOf(service, await link.register(email)).press('begin')
      expect([status, begun.headers.location]).toEqual([status, candidateOf(service, invite).path])
      expect(await service.db.invite.findUnique({ where: { id: invite.id } })).toEqual(invite)
      if (status === 'completed')
        expect((await service.http().get(begun.headers.location!)).text).toContain('You have completed this assessment')
    }
    expect(await service.db.openLink.findFirst({ where: { id: link.id } })).toMatchObject({ invitesCreated: 0 })
  })

  it('either begins or deletes if both buttons are pressed at once', async () => {
    const link = await makeOpenLink(service)
    for (let i = 0; i < 5; i++) {
      const email = newAddress()
      const reader = readerOf(service, await link.register(email))
      const [begun, refused] = await Promise.all([reader.press('begin'), reader.press('refuse')])
      const counts = [(await link.invites(email)).length, (await link.registrations(email)).length]
      expect([200, 303]).toContain(refused.status)
      expect([begun.status, counts]).toEqual(counts[0] === 1 ? [303, [1, 1]] : [404, [0, 0]])
    }
  })

  it('answers 404 once its assessment is deleted', async () => {
    const link = await makeOpenLink(service)
    const reader = readerOf(service, await link.register(newAddress()))
    await deleteAssessment(link.ctx, link.assessment.id)
    expect([(await reader.open()).status, (await reader.press('begin')).status]).toEqual([404, 404])
  })

  it('does not block the organization’s own invite before the candidate begins', async () => {
    const link = await makeOpenLink(service)
    const email = newAddress()
    const registration = await link.register(email)
    const invite = { assessmentId: link.assessment.id, recipientEmail: email }
    const [made, begun] = await Promise.all([
      service.v1(link.organization.key).post('/invites').send(invite),
      readerOf(service, registration).press('begin'),
    ])
    // The second request finds the first one's invite, and the API reports it like any duplicate.
    expect([201, 409]).toContain(made.status)
    expect(begun.status).toBe(303)
    expect(await link.invites(email)).toHaveLength(1)
    const another = newAddress()
    await link.register(another)
    await service
      .v1(link.organization.key)
      .post('/invites')
      .send({ ...invite, recipientEmail: another })
      .expect(201)
  })

  it('expires 48 hours after its mail was sent, unless the candidate has begun', async () => {
    const link = await makeOpenLink(service)
    const [left, begun] = [await link.register(newAddress()), await link.register(newAddress())]
    await readerOf(service, begun).press('begin')
    service.clock.advance(48 * HOUR_MS)
    expect((await readerOf(service, left).open()).status).toBe(404)
    expect((await readerOf(service, left).press('begin')).status).toBe(404)
    await runSweep(service, ['delete_expired_registrations'])
    await waitUntil('the registration to be deleted', async () => (await link.registrations()).length === 1 || undefined)
    expect((await readerOf(service, begun).open()).status).toBe(303)
  })

  it('deletes the typed data on “This wasn’t me”, and sends the address no more mails for this link', async () => {
    const [link, elsewhere] = [await makeOpenLink(service), await makeOpenLink(service)]
    const email = newAddress()
    const reader = readerOf(service, await link.register(email))
    const refused = await reader.press('refuse')
    expect([refused.status, refused.text.includes('Your address is deleted')]).toEqual([200, true])
    expect(await link.registrations()).toEqual([])
    expect((await reader.press('begin')).status).toBe(404)
    service.clock.advance(61_000)
    await link.send({ email: email.toUpperCase(), solution: await link.prove() })
    await queueRegistrations(service.system, link.organization.id)
    await waitUntil('the registration to end', async () => (await link.registrations())[0]?.state === 'failed' || undefined)
    expect(mailsTo(email)).toHaveLength(1)
    await elsewhere.register(email)
    expect(mailsTo(email)).toHaveLength(2)
  })
})

describe('the form', () => {
  const long = 'x'.repeat(10_000)
  const NAME = 'Enter your name.'
  const LIKE_LINK = 'Your name looks like a web address.'
  const UNPRINTABLE = 'Your name has characters that can’t be shown'
  const ADDRESS = 'This is not a complete email address.'
  it.each<[string, string, 'name' | 'email' | 'language', string]>([
    ['nothing', '', 'name', NAME],
    ['spaces', '   ', 'name', NAME],
    ['no-break spaces', '\u00a0\u2003', 'name', NAME],
    ['a character without width', '\u200b', 'name', NAME],
    ['10,000 characters', long, 'name', 'Shorten your name: 80 characters at most.'],
    ['81 characters', 'x'.repeat(81), 'name', 'Shorten your name'],
    ['a URL', 'Win https://evil.example', 'name', LIKE_LINK],
    ['a web address', 'www.evil', 'name', LIKE_LINK],
    ['a domain', 'evil.com', 'name', LIKE_LINK],
    ['a domain in words', 'Amara see evil.com/x now', 'name', LIKE_LINK],
    ['an email address', 'amara@example.com', 'name', LIKE_LINK],
    ['a full-width @', 'amara＠example', 'name', LIKE_LINK],
    ['an ideographic full stop', 'evil。com', 'name', LIKE_LINK],
    ['a line break', 'Amara\nBcc: all', 'name', UNPRINTABLE],
    ['a carriage return', 'Amara\rx', 'name', UNPRINTABLE],
    ['NUL', 'Amara\0x', 'name', UNPRINTABLE],
    ['a mark of direction', 'Amara\u202eevil', 'name', UNPRINTABLE],
    ['a line separator', 'Amara\u2028x', 'name', UNPRINTABLE],
    ['nothing', '', 'email', 'Enter your email address.'],
    ['spaces', '  ', 'email', 'Enter your email address.'],
    ['no @', 'amara', 'email', ADDRESS],
    ['no dot', 'amara@example', 'email', ADDRESS],
    ['two @', 'a@b@example.com', 'email', ADDRESS],
    ['a quoted local part', '"a b"@example.com', 'email', ADDRESS],
    ['a name in brackets', 'Amara <a@example.com>', 'email', ADDRESS],
    ['several addresses', 'a@example.com, b@example.com', 'email', ADDRESS],
    ['a line break', 'a@example.com\nBcc: b@example.com', 'email', ADDRESS],
    ['a long local part', `${'x'.repeat(65)}@example.com`, 'email', ADDRESS],
    ['10,000 characters', `${long}@example.com`, 'email', ADDRESS],
    ['an IP address', 'a@[127.0.0.1]', 'email', ADDRESS],
    ['an unknown language', 'tlh', 'language', 'Choose one of the languages.'],
    ['no language', '', 'language', 'Choose one of the languages.'],
  ])('rejects %s with a message beside the field (case %#)', async (_, value, field, message) => {
    const link = await makeOpenLink(service)
    await service.db.organization.update({ where: { id: link.organization.id }, data: { languagesOffered: ['en', 'de'] } })
    const { status, text } = await link.send({ [field]: value })
    expect([status, text.includes(`id="${field}-mistake">${message}`)]).toEqual([422, true])
    expect(text).toContain(`href="#${field}"`)
    expect(text.match(/class="mistake"/g)).toHaveLength(1)
    expect(await link.registrations()).toEqual([])
  })

  it.each([
    ['an international domain', 'amara@bücher.example', 'amara@xn--bcher-kva.example'],
    ['a plus sign', 'amara+job@example.com', 'amara+job@example.com'],
    ['spaces around it', '  amara@example.com ', 'amara@example.com'],
    ['a name with other letters', 'Ámara@example.com', 'ámara@example.com'],
  ])('accepts an address with %s', async (_, email, stored) => {
    const link = await makeOpenLink(service)
    expect((await link.send({ email, name: "Zoë O'Neill-Şahin Jr." })).status).toBe(200)
    expect(await link.registrations()).toMatchObject([{ email: stored, name: "Zoë O'Neill-Şahin Jr." }])
  })

  it('accepts only addresses of the allowed domains', async () => {
    const link = await makeOpenLink(service, { settings: { emailDomains: ['@Example.com', 'bücher.example'] } })
    const foreign = await link.send({ email: 'a@example.org' })
    expect([foreign.status, foreign.text.includes('Use an address of one of these domains: example.com')]).toEqual([422, true])
    expect((await link.send({ email: 'a@EXAMPLE.com' })).status).toBe(200)
    expect((await link.send({ email: 'a@bücher.example' })).status).toBe(200)
  })

  it('gets byte for byte the same response for new, known, completed, suppressed, refused, and erased addresses', async () => {
    const link = await makeOpenLink(service)
    const email = (word: string) => `${word.padEnd(9, 'x')}@example.com`
    await createInvite(link.ctx, { assessmentId: link.assessment.id, recipientEmail: email('known'), sendEmail: false })
    await service.make.invite(link.assessment, {
      recipientEmail: email('completed'),
      status: 'completed',
      completedAt: service.clock.now(),
    })
    const suppressed = { organizationId: link.organization.id, mode: 'live' as const, address: email('supp'), reason: 'manual' }
    await service.db.suppression.create({ data: { id: service.deps.newId(), ...suppressed, since: service.clock.now() } })
    const refused = await link.register(email('refused'))
    await readerOf(service, refused).press('refuse')
    await service.make.invite(link.assessment, { recipientEmail: email('erased') })
    await requestErasure(link.ctx, { address: email('erased') })
    await waitUntil('the erasure', async () => (await link.invites(email('erased'))).length === 0 || undefined)
    const over = email('over')
    for (let i = 0; i < 3; i++) {
      await link.register(over)
      service.clock.advance(61_000)
    }
    const answers = []
    for (const word of ['new', 'known', 'completed', 'supp', 'refused', 'erased', 'over']) {
      const { status, text, headers } = await link.send({ email: email(word) })
      const { date: _, 'x-request-id': __, ...others } = headers
      answers.push(JSON.stringify([status, text.replaceAll(email(word), 'ADDRESS'), others]))
    }
    expect(new Set(answers).size).toBe(1)
    await waitUntil(
      'all to be judged',
      async () => (await link.registrations()).every(({ state }) => state !== 'waiting' && state !== 'queued') || undefined,
    )
    for (const word of ['supp', 'refused', 'over'])
      expect([word, mailsTo(email(word)).length]).toEqual([word, { supp: 0, refused: 1, over: 3 }[word]])
  })
})

describe('limits of mails', () => {
  it('allow three mails a day to an address, a minute apart', async () => {
    const link = await makeOpenLink(service)
    const email = newAddress()
    const send = async () => {
      expect((await link.send({ email, solution: await link.prove() })).status).toBe(200)
      await waitUntil(
        'the registration to be judged',
        async () => (await link.registrations(email)).every(({ state }) => ['sent', 'failed'].includes(state)) || undefined,
      )
      return mailsTo(email).length
    }
    expect([await send(), await send()]).toEqual([1, 1])
    const counts = []
    for (let i = 0; i < 3; i++) {
      service.clock.advance(61_000)
      counts.push(await send())
    }
    expect(counts).toEqual([2, 3, 3])
    service.clock.advance(24 * HOUR_MS)
    expect(await send()).toBe(4)
  })

  it('cover the forms of a network, with a notice when to try again', async () => {
    const link = await makeOpenLink(service)
    const network = newNetwork()
    const statuses = []
    for (let i = 0; i < 50; i++) statuses.push((await link.send({ name: '' }, { network })).status)
    expect(new Set(statuses)).toEqual(new Set([422]))
    const refused = await link.send({}, { network })
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, String(15 * 60)])
    expect(refused.text).toContain('Please wait a little')
    expect((await link.send()).status).toBe(200)
    service.clock.advance(15 * 60_000)
    expect((await link.send({}, { network })).status).toBe(200)
  })

  it('allow 20 mails an hour per link to visitors without a proof of work', async () => {
    const link = await makeOpenLink(service)
    for (let i = 0; i < 22; i++) await link.send({ email: newAddress() })
    const waiting = async () => (await link.registrations()).filter(({ state }) => state === 'waiting').length
    await waitUntil(
      '20 mails',
      async () => (await link.registrations()).filter(({ sentAt }) => sentAt).length === 20 || undefined,
    )
    expect(await waiting()).toBe(2)
    await link.register(newAddress())
    expect(await waiting()).toBe(2)
    service.clock.advance(HOUR_MS)
    await queueRegistrations(service.system, link.organization.id)
    expect(await waiting()).toBe(0)
  })

  it('reject networks with waiting forms once too many forms wait, and serve all others', async () => {
    const link = await makeOpenLink(service)
    const network = newNetwork()
    const createdAt = service.clock.now()
    const waiting = {
      organizationId: link.organization.id,
      openLinkId: link.id,
      mode: 'live' as const,
      name: 'Bot',
      language: 'en',
    }
    await service.db.registration.createMany({
      data: Array.from({ length: 600 }, () => ({
        ...{ ...waiting, id: service.deps.newId(), email: newAddress(), network },
        ...{ createdAt, expiresAt: new Date(createdAt.getTime() + HOUR_MS) },
      })),
    })
    const refused = await link.send({ email: newAddress() }, { network })
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3600'])
    expect(refused.text).toContain('Too many people at the moment')
    expect((await link.send({ email: newAddress(), solution: await link.prove() }, { network })).status).toBe(200)
    expect((await link.send({ email: newAddress() })).status).toBe(200)
  })

  it('accept a proof of work once: the same form again is the same registration, and another form has none', async () => {
    const link = await makeOpenLink(service)
    const [email, other] = [newAddress(), newAddress()]
    const solution = await link.prove()
    for (let i = 0; i < 2; i++) expect((await link.send({ email, solution })).status).toBe(200)
    expect((await link.send({ email: other, solution })).status).toBe(200)
    const kept = await link.registrations()
    expect(kept.map((one) => [one.email, one.proof !== null])).toEqual([
      [email, true],
      [other, false],
    ])
  })

  it.each<[string, (link: Awaited<ReturnType<typeof makeOpenLink>>) => Promise<string>]>([
    [
      'is expired',
      async (link) => {
        const solution = await link.prove()
        service.clock.advance(600_000)
        return solution
      },
    ],
    ['is of another link', async () => (await makeOpenLink(service)).prove()],
    [
      'is altered',
      async (link) => (await link.prove()).replace(/"until":(\d)/, (_, digit) => `"until":${(Number(digit) + 1) % 10}`),
    ],
    ['is no JSON', async () => '{'],
    ['is null', async () => 'null'],
    ['has no parameters', async () => '{"challenge":{}}'],
    ['is long', async () => 'x'.repeat(10_000)],
  ])('ignore a proof of work that %s', async (_, make) => {
    const link = await makeOpenLink(service)
    expect((await link.send({ email: newAddress(), solution: await make(link) })).status).toBe(200)
    expect(await link.registrations()).toMatchObject([{ proof: null }])
  })
})

it('deletes an erased candidate’s registrations, and keeps those of others', async () => {
  const link = await makeOpenLink(service)
  const [email, other] = [newAddress(), newAddress()]
  await link.register(email)
  await link.register(other)
  await requestErasure(link.ctx, { address: email.toUpperCase() })
  await waitUntil('the erasure', async () => (await link.registrations()).length === 1 || undefined)
  expect(await link.registrations()).toMatchObject([{ email: other }])
})

it('deletes an assessment with an open link while nobody has begun', async () => {
  const link = await makeOpenLink(service)
  await link.register(newAddress())
  await deleteAssessment(link.ctx, link.assessment.id)
  expect(await link.registrations()).toEqual([])
})

it('applies the assessment’s requirements to its open link', async () => {
  const link = await makeOpenLink(service, { assessment: { ...NO_REQUIREMENTS, webcamMonitoring: true } })
  expect((await link.open()).text).toContain('Your webcam')
  await readerOf(service, await link.register(newAddress())).press('begin')
  expect(await link.invites()).toMatchObject([{ ...NO_REQUIREMENTS, webcamMonitoring: true }])
  await changeOpenLink(link.ctx, link.assessment.id, { isOn: false })
})
