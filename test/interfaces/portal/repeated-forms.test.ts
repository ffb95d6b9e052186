import { describe, expect, it } from 'vitest'
import { makeSubmitted } from '../../support/grading.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()
const { db } = service

async function setUp() {
  const organization = await service.make.organization()
  const person = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id)
  /** Submits a page's form twice at once and once more. @returns the responses. */
  const press = async (page: string, to: string, typed: Record<string, string> = {}) => {
    const { text } = await person.get(person.home + page)
    const once = /name="once" value="([^"]+)"/.exec(text.slice(text.indexOf(`/${to}"`)))![1]!
    const send = () => person.post(person.home + to, { ...typed, once })
    const answers = [...(await Promise.all([send(), send()])), await send()]
    return answers.map(({ status, headers, text }) => [status, headers.location ?? text])
  }
  const where = { organizationId: organization.id }
  return { person, assessment, press, where, organization }
}

/** Status of the first response, and the number of different responses. */
const summarize = (answers: unknown[][]) => [answers[0]![0], new Set(answers.map(String)).size]

describe('a form whose button is pressed twice', () => {
  it('creates one assessment, copy, question, tag, and invite, and leads to it each time', async () => {
    const { assessment, press, where } = await setUp()
    const { id } = assessment
    const name = 'Made once'
    const answers = [
      await press('assessments/new', 'assessments', {
        name,
        defaultQuestionFormat: 'text',
        defaultAnswerFormat: 'text',
        audience: 'public',
      }),
      await press(`assessments/${id}`, `assessments/${id}/duplicate`),
      await press(`assessments/${id}/questions/new`, `assessments/${id}/questions`, {
        inputType: 'text',
        responseType: 'text',
        script: name,
        points: '1',
      }),
      await press('tags', 'tags', { name, color: '#000000' }),
      await press('invites/new', 'invites', {
        assessmentId: id,
        recipientEmail: 'sam@example.com',
        questionReplayLimit: '1',
        answerRecordLimit: '1',
        expiresInDays: '7',
        sendEmail: 'yes',
      }),
    ]
    expect(answers.map(summarize)).toEqual(answers.map(() => [303, 1]))
    expect([
      await db.assessment.count({ where }),
      await db.question.count({ where: { assessmentId: id } }),
      await db.tag.count({ where }),
      await db.invite.count({ where }),
      await db.inviteEmail.count({ where }),
    ]).toEqual([3, 1, 1, 1, 1])
  })

  it('shows the same secret each time, and stores none in plain text', async () => {
    const { press, where } = await setUp()
    const answers = [
      await press('settings/integrations', 'settings/integrations', { name: 'Our system', mode: 'live', expiry: 'never' }),
      await press('settings/webhooks', 'settings/webhooks', { url: 'https://example.com/hook', mode: 'live' }),
      await press('members/invite', 'members/invite', { email: 'ada@example.com', roles: 'grader' }),
    ]
    expect(answers.map(summarize)).toEqual(answers.map(() => [200, 1]))
    expect([await db.apiKey.count({ where }), await db.webhookEndpoint.count({ where })]).toEqual([2, 1]) // one of the keys existed before
    const mails = await db.memberEmail.findMany({ where, select: { kind: true }, orderBy: { kind: 'asc' } })
    expect(mails).toEqual([{ kind: 'join' }, { kind: 'key_made' }])
    const key = /ak_live_\w+/.exec(String(answers[0]![0]![1]))![0]
    const kept = await db.idempotencyRecord.findMany({ where })
    expect(kept.map(({ encryptedFor }) => encryptedFor?.split(' ')[0])).toEqual(['member', 'member', 'member'])
    expect(JSON.stringify(kept)).not.toContain(key)
    const { id } = await db.apiKey.findFirstOrThrow({ where: { ...where, name: 'Our system' } })
    expect(summarize(await press('settings/integrations', `settings/integrations/${id}/rotate`))).toEqual([200, 1])
  })

  it('releases and reopens a result once, with the same response', async () => {
    const made = await makeSubmitted(service)
    const person = await signInAs(service, made.organization.id, ['admin', 'grader'])
    const { ctx } = await made.join(['admin'])
    await made.grade(ctx, 1, 5)
    await made.grade(ctx, 2, 3)
    const sheet = `${person.home}grading/${made.submissionId}`
    const fieldsOf = async (page: string, to: string) => {
      const { text } = await person.get(page)
      const form = text.slice(text.indexOf(to))
      return Object.fromEntries(
        ['once', 'seen'].map((name) => [name, new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? '']),
      )
    }
    for (const [page, to, done] of [
      [`${sheet}/release`, `${sheet}/release`, 'released'],
      [sheet, `${sheet}/reopen`, 'reopened'],
    ] as const) {
      const fields = await fieldsOf(page, to)
      const answers = await Promise.all([person.post(to, fields), person.post(to, fields)])
      answers.push(await person.post(to, fields))
      expect(answers.map(({ status, headers }) => [status, headers.location])).toEqual(
        Array(3).fill([303, expect.stringContaining(`done=${done}`)]),
      )
    }
    expect(await made.releases()).toHaveLength(1)
    const actions = ['released_result', 'reopened_result']
    const entries = { organizationId: made.organization.id, action: { in: actions } }
    expect(await db.auditEntry.count({ where: entries })).toBe(2)
  })

  it('sends one invitation, one webhook, and one test mail', async () => {
    const { assessment, press, where } = await setUp()
    const { id } = await service.make.invite(assessment)
    expect(summarize(await press(`invites/${id}`, `invites/${id}/resend`))).toEqual([303, 1])
    expect(await db.inviteEmail.count({ where: { inviteId: id } })).toBe(1)
    await press('settings/webhooks', 'settings/webhooks', { url: 'https://example.com/hook', mode: 'live' })
    const webhook = await db.webhookEndpoint.findFirstOrThrow({ where })
    const page = `settings/webhooks/${webhook.id}`
    expect(summarize(await press(page, `${page}/test`))).toEqual([303, 1])
    expect(await db.event.count({ where: { ...where, type: 'webhook.test' } })).toBe(1)
    const own = { language: 'en', who: 'plain', subject: 'Hello', body: 'Hello\n\n{{ link }}' }
    expect(summarize(await press('settings/words', 'settings/words/test', own))).toEqual([200, 1])
    expect(await db.memberEmail.count({ where: { ...where, kind: 'text_test' } })).toBe(1)
    // A page that is loaded again sends another test.
    await press(page, `${page}/test`)
    expect(await db.event.count({ where: { ...where, type: 'webhook.test' } })).toBe(2)
  })

  it('acts again after it was changed, or after a mistake', async () => {
    const { person, where } = await setUp()
    const tags = `${person.home}tags`
    const once = /name="once" value="([^"]+)"/.exec((await person.get(tags)).text)![1]!
    const send = async (name: string, color = '#000000') => (await person.post(tags, { name, color, once })).status
    expect([await send('One', 'none'), await send('One'), await send('Other'), await send('One')]).toEqual([422, 303, 303, 303])
    expect((await db.tag.findMany({ where, orderBy: { name: 'asc' } })).map(({ name }) => name)).toEqual(['One', 'Other'])
    expect((await person.post(tags, { name: 'One', color: '#000000' })).status).toBe(422)
    expect((await person.post(tags, { name: 'Odd', color: '#000000', once: 'x' })).status).toBe(303)
  })

  it("never gets another member's response, nor its own after a role was lost", async () => {
    const { person, organization, where } = await setUp()
    const other = await signInAs(service, organization.id, ['admin'])
    const fields = { name: 'Our system', mode: 'live', expiry: 'never', once: service.deps.newId() }
    const statusOf = async ({ post }: typeof person) => (await post(`${person.home}settings/integrations`, fields)).status
    expect([await statusOf(person), await statusOf(person), await statusOf(other)]).toEqual([200, 200, 422])
    expect(await db.apiKey.count({ where })).toBe(2)
    await db.member.updateMany({ where: { ...where, id: { not: other.member.id } }, data: { roles: ['grader'] } })
    expect(await statusOf(person)).toBe(404)
  })
})
