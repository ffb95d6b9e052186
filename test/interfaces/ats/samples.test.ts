import { expect, it } from 'vitest'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { listenAsAshby } from '../../support/ats/ashby.ts'
import { type Connected, connect, TO_FAKES } from '../../support/ats/connect.ts'
import { basic, startGreenhouse } from '../../support/ats/greenhouse.ts'
import { bearer, listenAsRecruitee } from '../../support/ats/recruitee.ts'
import { DAY_MS } from '../../support/factories.ts'
import type { Received } from '../../support/receiver.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

// Writes docs/ats-samples.md from real calls: `npx vitest run test/interfaces/ats/samples.test.ts --update`.

const [ashbyHost, recruiteeHost] = [await listenAsAshby(), await listenAsRecruitee()]
const recruiteeEnv = { ATS_RECRUITEE: recruiteeHost.url, ATS_RECRUITEE_SECRET: 'the-partner-secret' }
const service = await startServiceForFile({ ...TO_FAKES, ...recruiteeEnv, ATS_GREENHOUSE: 'on', ATS_ASHBY: ashbyHost.url })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })

const ORDER_ID = '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e80'
const SECOND_ORDER_ID = '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e81'

/** Values that differ in each run, and their replacements in the document. */
type Replacements = Map<string, string>

const fence = (kind: string, text: string) => `\`\`\`${kind}\n${text}\n\`\`\``
const toJson = (body: unknown) => JSON.stringify(body, null, 2)

/** Begins the document's section about one system. */
async function startPart(ats: 'greenhouse' | 'ashby' | 'recruitee') {
  service.clock.set(Date.parse('2026-11-20T09:12:00Z'))
  const own = await connect(service, ats)
  await service.db.assessment.update({ where: { id: own.assessment.id }, data: { name: 'Support, first call' } })
  const replacements: Replacements = new Map([
    [own.key, 'ak_live_KEY_OF_THE_ATS'],
    [own.theirKey, 'KEY_OF_ASHBY'],
    [own.organization.key, 'ak_live_AN_API_KEY'],
    [own.organization.id, '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e70'],
    [own.assessment.id, '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71'],
  ])
  const lines: string[] = []
  const add = (...texts: string[]) => lines.push(...texts.flatMap((text) => [text, '']))

  async function call(title: string, method: string, path: string, authorization: string, body?: unknown) {
    const headers = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${url}/ats/${ats}/${path}`, { method, headers, ...sent })
    // biome-ignore lint/suspicious/noExplicitAny: an answer of the service
    const answered: any = await answer.json()
    const request = `${method} /ats/${ats}/${path}\nAuthorization: ${showAuthorization(authorization)}`
    add(`### ${title}`, fence('http', body === undefined ? request : `${request}\n\n${toJson(body)}`))
    add(`Answer: ${answer.status}`, fence('json', toJson(answered)))
    return answered
  }

  function showReceived(title: string, { method, path, headers, body }: Pick<Received, 'method' | 'path' | 'headers' | 'body'>) {
    const { authorization, accept } = headers
    const secret = headers['rt-partner-secret']
    const shown = [
      `${method} ${path}`,
      ...(authorization ? [`Authorization: ${showAuthorization(authorization)}`] : []),
      ...(accept ? [`Accept: ${accept}`] : []),
      ...(secret ? [`rt-partner-secret: ${secret}`] : []),
    ].join('\n')
    add(`### ${title}`, fence('http', body === '' ? shown : `${shown}\n\n${toJson(JSON.parse(body))}`))
  }

  const print = () => [...replacements].reduce((text, [from, to]) => text.replaceAll(from, to), lines.join('\n'))
  /** Replaces the ids of an invite and its submission with fixed ones. */
  async function nameInvite(inviteId: string) {
    replacements.set(inviteId, '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e73')
    const { assessmentSession } = await own.inviteOf(inviteId)
    if (assessmentSession) replacements.set(assessmentSession, '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e74')
  }
  return { ...own, replacements, call, showReceived, print, nameInvite }
}

/** Shows the decoded content of Basic authorization, so that readers need not decode it. */
function showAuthorization(authorization: string): string {
  const [, encoded] = /^Basic (.+)$/.exec(authorization) ?? []
  return encoded ? `Basic base64("${Buffer.from(encoded, 'base64').toString()}")` : authorization
}

/** Starts the assessment at 09:20, finishes it at 09:58, and grades it at 12:00. */
async function takeAndGrade({ candidate, release, allReported }: Connected, inviteId: string): Promise<void> {
  const sam = await candidate(inviteId)
  service.clock.set(Date.parse('2026-11-20T09:20:00Z'))
  await sam.start()
  service.clock.set(Date.parse('2026-11-20T09:58:00Z'))
  await sam.finish()
  await allReported()
  service.clock.set(Date.parse('2026-11-20T12:00:00Z'))
  await release(inviteId, [4.5, 1])
  await allReported()
}

async function sampleGreenhouse(): Promise<string> {
  const own = await startPart('greenhouse')
  const { call, showReceived, print, replacements, assessment, key } = own
  const greenhouse = await startGreenhouse({ url, key })
  replacements.set(`http://127.0.0.1:${greenhouse.receiver.port}`, 'https://app.greenhouse.io')
  const order = {
    partner_test_id: assessment.id,
    candidate: {
      ...{ first_name: 'Sam', last_name: 'Rivera', preferred_name: null, email: 'sam@example.com' },
      greenhouse_profile_url: 'https://app.greenhouse.io/people/17?application_id=26',
    },
    sent_by: 'recruiter@example.com',
    url: greenhouse.callback('4711'),
  }
  await call('The menu of tests', 'GET', 'list_tests', basic(key))
  const { partner_interview_id: inviteId } = await call('An order', 'POST', 'send_test', basic(key), order)
  await call('Its status, once it was sent', 'GET', `test_status?partner_interview_id=${inviteId}`, basic(key))
  await takeAndGrade(own, inviteId)
  showReceived('We say that something has changed', greenhouse.patched.at(-1)!)
  await call('Its status, once the result is released', 'GET', `test_status?partner_interview_id=${inviteId}`, basic(key))
  const unknown = { ...order, partner_test_id: '0197a3f2-6c1e-7b52-9d0a-000000000000', url: greenhouse.callback('4712') }
  await call('A refusal', 'POST', 'send_test', basic(key), unknown)
  await call('An API key where the key of Greenhouse belongs', 'GET', 'list_tests', basic(own.organization.key))
  const complaint = { api_call: 'test_status', errors: ['partner_profile_url is missing'], partner_interview_id: inviteId }
  await call('Greenhouse finds an answer wrong', 'POST', 'response_error', basic(key), complaint)
  await own.nameInvite(inviteId)
  return print()
}

async function sampleAshby(): Promise<string> {
  const own = await startPart('ashby')
  const { call, showReceived, print, assessment, key, theirKey } = own
  const { updates } = ashbyHost.customer(theirKey)
  const start = (application: string) => ({
    assessment_type_id: assessment.id,
    candidate: {
      ...{ ashby_id: 'c-17', first_name: 'Sam', last_name: 'Rivera', email: 'sam@example.com' },
      ashby_profile_url: 'https://app.ashbyhq.com/candidates/17',
    },
    application: { ashby_id: application, status: 'Active' },
    job: { ashby_id: 'j-3', name: 'Support engineer', ashby_job_url: 'https://app.ashbyhq.com/jobs/3' },
  })
  const show = (title: string, update: (typeof updates)[number]) => showReceived(title, { ...update, body: toJson(update.event) })
  await call('The menu of assessments', 'POST', 'assessment.list', basic(key), {})
  const { results } = await call('An order', 'POST', 'assessment.start', basic(key), start('a-1'))
  const inviteId: string = results.assessment_id
  await call('The same candidate for another application: refused', 'POST', 'assessment.start', basic(key), start('a-2'))
  await takeAndGrade(own, inviteId)
  show('The candidate has started', updates[1]!)
  show('The result is released', updates.at(-1)!)
  await call('The same candidate after the release: refused', 'POST', 'assessment.start', basic(key), start('a-3'))
  await call('A cancellation', 'POST', 'assessment.cancel', basic(key), { assessment_id: inviteId })
  await call('An API key where the key for Ashby belongs', 'POST', 'assessment.list', basic(own.organization.key), {})
  await own.nameInvite(inviteId)
  return print()
}

async function sampleRecruitee(): Promise<string> {
  const own = await startPart('recruitee')
  const { call, showReceived, print, assessment, key } = own
  const changesOf = (reportId: string) => recruiteeHost.receiver.received.filter(({ path }) => path.endsWith(reportId))
  const order = { report_id: ORDER_ID, test_id: assessment.id, first_name: 'Sam', last_name: 'Rivera', email: 'sam@example.com' }
  await call('The menu of tests', 'GET', 'tests', bearer(key))
  await call('An order', 'POST', 'send_candidate', bearer(key), order)
  await call('The same candidate with another report: refused', 'POST', 'send_candidate', bearer(key), {
    ...order,
    report_id: SECOND_ORDER_ID,
  })
  await call('A refusal', 'POST', 'send_candidate', bearer(key), { ...order, report_id: SECOND_ORDER_ID, email: null })
  const { inviteId } = await service.db.atsOrder.findFirstOrThrow({ where: { naturalKey: ORDER_ID } })
  await takeAndGrade(own, inviteId!)
  const [completed, scored] = changesOf(ORDER_ID)
  showReceived('The candidate has submitted', completed!)
  showReceived('The result is released', scored!)
  await own.nameInvite(inviteId!)
  const late = { ...order, report_id: SECOND_ORDER_ID, email: 'kim@example.com', first_name: 'Kim' }
  await fetch(`${url}/ats/recruitee/send_candidate`, {
    method: 'POST',
    headers: { authorization: bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify(late),
  })
  service.clock.advance(31 * DAY_MS)
  await expireAllDueInvites(service.system)
  const canceled = await waitUntil('the report on the second order', () => changesOf(SECOND_ORDER_ID)[0])
  showReceived('An invite expires', canceled)
  await call('An API key where the key for Recruitee belongs', 'GET', 'tests', bearer(own.organization.key))
  return print()
}

const INTRODUCTION = `# Samples of calls by applicant tracking systems

What [each system](ats.md) sends to the service, what it answers, and what it sends to the system. A test makes these calls against a fake of each
system and writes this page, so it shows what the service does. Keys, ids, and hosts are replaced.
`

it('keeps docs/ats-samples.md in sync with the calls of each system', async () => {
  const parts: [string, string][] = [
    ['Greenhouse', await sampleGreenhouse()],
    ['Ashby', await sampleAshby()],
    ['Recruitee', await sampleRecruitee()],
  ]
  const page = [INTRODUCTION, ...parts.map(([name, part]) => `## ${name}\n\n${part}`)].join('\n')
  await expect(`${page.trimEnd()}\n`).toMatchFileSnapshot('../../../docs/ats-samples.md')
})
