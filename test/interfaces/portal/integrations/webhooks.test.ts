import { describe, expect, it } from 'vitest'
import { deleteExpiredEvents } from '../../../../src/domain/events/delete-expired-events.ts'
import { waitForNumbering } from '../../../support/events.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { factsOf, mistakesIn, rowsOf } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { answerWith, startReceiver, verify } from '../../../support/receiver.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'
import { makeIntegrator, TO_LOOPBACK } from '../../../support/webhooks.ts'

const HOSTILE = `=1+1"'><script>alert(1)</script>&amp;{{7*7}}\u202e`
const SHOWN = '=1+1&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;{{7*7}}\u202e'
const URL = 'https://hr.example.com/hooks?token=hush'

const service = await startServiceForFile(TO_LOOPBACK)

/** Signs in an admin who manages webhooks of an organization whose key creates invites. */
async function openWebhooks() {
  const integrator = await makeIntegrator(service)
  const admin = await signInAs(service, integrator.id, ['admin'])
  const path = `${admin.home}settings/webhooks`
  const make = (fields: Record<string, string | string[]> = {}) => admin.post(path, { url: URL, ...fields })
  /** Creates a webhook. @returns the address of its page, and its secret. */
  const made = async (fields: Record<string, string | string[]> = {}) => {
    const { text } = await make(fields)
    return {
      own: /href="([^"]+)">Go to the webhook/.exec(text)![1]!,
      secret: secretIn(text),
    }
  }
  /** Facts on the webhook's page: the URL below the heading, and the list. */
  const facts = async (own: string): Promise<Record<string, string | undefined>> => {
    const { text } = await admin.get(own)
    return { URL: /<h1[^>]*>.*?<p[^>]*>([^<]*)<\/p>/s.exec(text)?.[1], ...factsOf(text) }
  }
  const audited = async () => {
    const where = { organizationId: integrator.id, targetKind: 'webhook' }
    const entries = await service.db.auditEntry.findMany({ where, orderBy: [{ at: 'asc' }, { id: 'asc' }] })
    return entries.map(({ actorId, action, details }) => ({ actorId, action, details }))
  }
  return { ...integrator, ...admin, path, make, made, facts, audited }
}

const secretIn = (text: string): string => /id="secret">([^<]+)</.exec(text)![1]!

/** Waits until the page contains the words. @returns its text. */
const waitForPage = (get: (path: string) => PromiseLike<{ text: string }>, address: string, words: string) =>
  waitUntil(words, async () => {
    const { text } = await get(address)
    return text.includes(words) ? text : undefined
  })

describe('a webhook', () => {
  it('is created with its settings; its secret is shown once, never cached, and signs deliveries', async () => {
    const { make, get, path, invite, audited, member } = await openWebhooks()
    const receiver = await startReceiver()
    expect((await get(path)).text).toContain('There are no webhooks yet.')
    const answer = await make({ url: ` ${receiver.url} `, types: ['invite.created', 'email.failed'], description: ' Into HR ' })
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    const secret = secretIn(answer.text)
    expect(answer.text).toContain('hidden data-copy="secret" type="button">')
    const list = await get(path)
    expect(rowsOf(list.text)).toEqual([
      expect.stringMatching(
        /^http:\S+\/hook \| active since .* UTC \| none yet \| invite.created, email.failed \| live \| Into HR$/,
      ),
    ])
    expect(list.text).not.toContain(secret.slice('whsec_'.length))
    const inviteId = await invite()
    const [message] = await receiver.waitFor(1)
    expect(() => verify(secret, message!)).not.toThrow()
    expect(message!.event.data.inviteId).toBe(inviteId)
    await waitUntil('the delivery', async () => rowsOf((await get(path)).text)[0]!.includes('| 1 delivered |') || undefined)
    const host = `127.0.0.1:${receiver.port}`
    expect(await audited()).toEqual([{ actorId: member.id, action: 'created_webhook', details: { host } }])
  })

  it('gets every event by default', async () => {
    const { made, facts } = await openWebhooks()
    const { own } = await made({ mode: 'all' })
    expect(await facts(own)).toMatchObject({ Events: 'all', Mode: 'Live and test invites', 'Recent deliveries': 'none yet' })
  })

  it.each([
    ['', 'Enter the URL.'],
    ['example.com', 'The URL is not a web address.'],
    ['http://example.com', 'The URL must begin with https://.'],
    ['javascript:alert(1)', 'The URL is not a web address.'],
    ['https://a:b@example.com', 'The URL must not contain a user name or a password.'],
    ['https://example.com:22', 'The port of the URL must be 80, 443, or above 1023.'],
    [
      'https://169.254.169.254',
      'The URL must not point to a private network. The operator of this service can allow it with the setting WEBHOOK_ALLOW.',
    ],
    [`https://example.com/${'x'.repeat(2_048)}`, 'The URL has more than 2048 characters.'],
  ])('is rejected on creation and change, keeping the typed text, for the URL: %s', async (url, words) => {
    const { make, made, post, facts, id } = await openWebhooks()
    const typed = { url, types: ['invite.created'], mode: 'all', description: HOSTILE }
    const refused = await make(typed)
    const { own } = await made()
    for (const answer of [refused, await post(own, typed)]) {
      expect([answer.status, mistakesIn(answer)]).toEqual([422, [words]])
      expect(answer.text).toContain(SHOWN)
      expect(answer.text).toMatch(/value="invite.created" checked/)
      expect(answer.text).toMatch(/value="all" selected/)
    }
    expect((await facts(own)).URL).toBe(URL)
    expect(await service.db.webhookEndpoint.count({ where: { organizationId: id } })).toBe(1)
  })

  it('has a description of at most 1000 characters', async () => {
    const { make } = await openWebhooks()
    expect(mistakesIn(await make({ description: 'x'.repeat(1_001) }))).toEqual(['The description has more than 1000 characters.'])
  })

  it('is limited to 20, as the page explains before and after the form is sent', async () => {
    const { make, get, path } = await openWebhooks()
    for (let i = 0; i < 20; i++) expect((await make()).status).toBe(200)
    const { text } = await get(path)
    expect(text).toContain('You have 20 webhooks, which is the limit.')
    expect(text).not.toContain('name="url"')
    const answer = await make()
    expect([answer.status, mistakesIn(answer)]).toEqual([
      422,
      ['You have 20 webhooks, which is the limit. Delete one to create another.'],
    ])
  })

  it('is changed, and deleted after a confirmation', async () => {
    const { made, post, get, path, facts, audited } = await openWebhooks()
    const { own } = await made({ types: ['invite.created'], description: 'Old' })
    const change = { url: 'https://example.com/new', types: ['invite.expired'], mode: 'all', description: 'New' }
    expect((await post(own, change)).headers.location).toBe(`${own}?done=saved`)
    expect(await facts(own)).toMatchObject({ URL: change.url, Events: 'invite.expired', Description: 'New' })
    expect((await post(own, { ...change, types: [] })).status).toBe(303)
    expect((await facts(own)).Events).toBe('all')
    expect((await post(`${own}/delete`)).headers.location).toBe(`${path}?done=deleted`)
    expect((await get(`${path}?done=deleted`)).text).toContain('There are no webhooks yet.')
    for (const gone of [own, `${own}/deliveries`]) expect((await get(gone)).status).toBe(404)
    expect((await audited()).map(({ action }) => action)).toEqual([
      'created_webhook',
      'changed_webhook',
      'changed_webhook',
      'deleted_webhook',
    ])
  })

  it('gets a new secret, shown once; the previous one signs for 24 more hours', async () => {
    const { made, post, get, facts, invite } = await openWebhooks()
    const receiver = await startReceiver()
    const { own, secret } = await made({ url: receiver.url })
    const { text, headers } = await post(`${own}/rotate-secret`)
    expect(headers['cache-control']).toBe('no-store')
    expect(text).toContain('The previous secret also signs until')
    expect((await facts(own)).Secret).toMatch(/^The previous secret also signs until .* UTC\.$/)
    await invite()
    const [message] = await receiver.waitFor(1)
    for (const good of [secret, secretIn(text)]) expect(() => verify(good, message!)).not.toThrow()
    expect((await get(own)).text).not.toContain('whsec_')
    for (let i = 0; i < 3; i++) {
      service.clock.advance(DAY_MS / 3)
      expect((await get(own)).status).toBe(200) // keeps the session alive
    }
    expect(await facts(own)).not.toHaveProperty('Secret')
  })

  it('gets missed events after it is enabled again, if requested; the offer is shown once', async () => {
    const { made, post, get, facts, invite, audited } = await openWebhooks()
    const receiver = await startReceiver()
    const { own } = await made({ url: receiver.url })
    expect((await post(`${own}/disable`)).headers.location).toBe(`${own}?done=disabled`)
    expect((await facts(own)).Status).toMatch(/^disabled since .* UTC, by a member$/)
    const missed = await invite()
    await waitForNumbering(service)
    expect((await post(`${own}/test`)).text).toContain('The webhook is disabled. Enable it first.')
    expect((await get(own)).text).not.toContain('Send missed events')
    expect((await post(`${own}/enable`)).headers.location).toBe(`${own}?done=enabled`)
    expect((await get(`${own}?done=enabled`)).text).toContain('Send missed events')
    expect(receiver.received).toEqual([])
    expect((await post(`${own}/replay`)).headers.location).toBe(`${own}?done=replayed`)
    const [message] = await receiver.waitFor(1)
    expect(message!.event.data.inviteId).toBe(missed)
    expect((await get(own)).text).not.toContain('Send missed events')
    expect((await post(`${own}/replay`)).status).toBe(303)
    expect((await audited()).map(({ action }) => action)).toEqual([
      'created_webhook',
      'disabled_webhook',
      'enabled_webhook',
      'replayed_webhook',
    ])
  })

  it('offers no replay without missed events, or once they are deleted', async () => {
    const { made, post, get, invite } = await openWebhooks()
    const { own } = await made()
    await post(`${own}/disable`)
    await post(`${own}/enable`)
    expect((await get(own)).text).not.toContain('Send missed events')
    await post(`${own}/disable`)
    await invite()
    await waitForNumbering(service)
    await post(`${own}/enable`)
    expect((await get(own)).text).toContain('Send missed events')
    service.clock.advance(1)
    await deleteExpiredEvents(service.system, 0)
    const answer = await post(`${own}/replay`)
    expect([answer.status, mistakesIn(answer)]).toEqual([422, [expect.stringContaining('no longer kept')]])
  })
})

describe('a delivery', () => {
  it("shows a test's time, duration, status, and the start of the response, escaped", async () => {
    const { made, post, get, audited } = await openWebhooks()
    const receiver = await startReceiver(answerWith(418, { 'content-type': 'text/html' }, HOSTILE))
    const { own } = await made({ url: receiver.url, types: ['invite.expired'], description: HOSTILE })
    const { status, headers } = await post(`${own}/test`)
    expect([status, headers.location]).toEqual([303, expect.stringMatching(/\/deliveries\/[0-9a-f-]{36}$/)])
    const text = await waitForPage(get, headers.location!, 'Attempt 1')
    expect(factsOf(text)).toMatchObject({
      To: receiver.url,
      Status: 'to be retried',
      Type: 'webhook.test',
      Duration: expect.stringMatching(/^\d+ ms$/),
      'HTTP status': '418',
      Response: SHOWN,
    })
    expect(text).not.toContain('<script>alert')
    expect((await audited()).at(-1)!.action).toBe('tested_webhook')
  })

  it('is filtered by status, and sent again', async () => {
    const { made, post, get, invite, audited } = await openWebhooks()
    const receiver = await startReceiver()
    const { own } = await made({ url: receiver.url })
    await invite()
    const [first] = await receiver.waitFor(1)
    const list = async (query = '') => rowsOf((await get(`${own}/deliveries${query}`)).text)
    await waitUntil('the delivery', async () => (await list('?state=delivered')).length === 1 || undefined)
    expect(await list()).toEqual([expect.stringMatching(/^The candidate was invited \| delivered \| .* UTC \| 1 \| $/)])
    for (const state of ['waiting', 'failed']) expect(await list(`?state=${state}`)).toEqual([])
    for (const query of ['?state=lost', '?page=0', '?page=x', `?state=${encodeURIComponent(HOSTILE)}`])
      expect(await list(query)).toHaveLength(1)
    expect(await list('?page=9')).toEqual([])
    const { headers } = await post(`${own}/deliveries/${first!.id}/replay`)
    expect(headers.location).toBe(`${own}/deliveries/${first!.id}`)
    const [, second] = await receiver.waitFor(2)
    expect(second!.id).toBe(first!.id)
    await waitForPage(get, headers.location!, 'Attempt 2')
    expect((await audited()).at(-1)).toMatchObject({ action: 'replayed_webhook', details: { event: first!.id } })
  })

  it('is not sent again by a disabled webhook, and explains it', async () => {
    const { made, post, get, invite } = await openWebhooks()
    const receiver = await startReceiver()
    const { own } = await made({ url: receiver.url })
    await invite()
    const [message] = await receiver.waitFor(1)
    await post(`${own}/disable`)
    const page = `${own}/deliveries/${message!.id}`
    expect((await get(page)).text).not.toContain('Send again')
    const answer = await post(`${page}/replay`)
    expect([answer.status, mistakesIn(answer)]).toEqual([422, ['The webhook is disabled. Enable it first.']])
  })

  it('reloads its page while an attempt is due, and not while it waits for hours', async () => {
    const { made, post, get, facts } = await openWebhooks()
    const receiver = await startReceiver(answerWith(503, { 'retry-after': '3600' }))
    const { own } = await made({ url: receiver.url })
    const { location } = (await post(`${own}/test`)).headers
    const text = await waitForPage(get, location!, 'Attempt 1')
    expect((await facts(own))['Recent deliveries']).toBe('1 to be retried')
    expect(factsOf(text)['Next attempt']).toMatch(/ UTC$/)
    expect((await get(location!)).headers).not.toHaveProperty('refresh')
    await service.db.webhookDelivery.updateMany({
      where: { eventId: location!.split('/').at(-1)! },
      data: { nextAttemptAt: service.clock.now(), leasedUntil: new Date('2100-01-01') },
    })
    expect((await get(location!)).headers.refresh).toBe('3')
  })
})

describe('a failing webhook', () => {
  const pages = ['', 'settings/organization', 'settings/integrations', 'settings/webhooks', 'settings/audit-log']

  it('is reported on Home and in Settings until it succeeds', async () => {
    const { made, post, get, home, id } = await openWebhooks()
    const receiver = await startReceiver(answerWith(500))
    const { own } = await made({ url: receiver.url })
    for (const page of pages) expect((await get(home + page)).text).not.toContain('notice bad')
    await post(`${own}/test`)
    await waitForPage(get, home, 'has been failing since')
    for (const page of pages) expect((await get(home + page)).text).toContain(`The webhook to <a href="${own}">127.0.0.1:`)
    for (const page of ['tags', 'account']) expect((await get(home + page)).text).not.toContain('has been failing since')
    for (const role of ['client', 'grader']) {
      const other = await signInAs(service, id, [role])
      expect((await other.get(other.home)).text).not.toContain('has been failing since')
    }
    const elsewhere = await signInAs(service, (await service.make.organization()).id, ['admin'])
    expect((await elsewhere.get(elsewhere.home)).text).not.toContain('has been failing since')
    receiver.behave(answerWith(204))
    await post(`${own}/test`)
    await waitUntil('the webhook to succeed', async () => !(await get(home)).text.includes('has been failing since') || undefined)
  })

  it('is reported with the reason if it was disabled for failing, unless a member disabled it', async () => {
    const { made, post, get, home, facts, audited } = await openWebhooks()
    const receiver = await startReceiver(answerWith(410))
    const { own } = await made({ url: receiver.url })
    await post(`${own}/test`)
    await waitForPage(get, home, 'because it kept failing')
    expect((await facts(own)).Status).toMatch(/^disabled since .* UTC, because it answered 410 \(Gone\)$/)
    expect((await audited()).at(-1)).toEqual({
      actorId: null,
      action: 'disabled_webhook',
      details: { host: `127.0.0.1:${receiver.port}`, reason: 'gone' },
    })
    await post(`${own}/enable`)
    expect((await get(home)).text).not.toContain('because it kept failing')
    await post(`${own}/disable`)
    expect((await get(home)).text).not.toContain('because it kept failing')
  })
})

it('escapes foreign text on every page', async () => {
  const { made, get, path } = await openWebhooks()
  const { own } = await made({ url: `https://example.com/?q=${HOSTILE}`, description: HOSTILE })
  for (const page of [path, own, `${own}/deliveries`]) {
    const { status, text } = await get(page)
    expect(status).toBe(200)
    expect(text).not.toContain('<script>alert')
    expect(text).toContain(SHOWN)
  }
})
