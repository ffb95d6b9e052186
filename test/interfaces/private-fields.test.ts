import { expect, it } from 'vitest'
import { makeAnswers } from '../support/answers.ts'
import { candidateOf } from '../support/candidate.ts'
import { signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { makeSharedResult } from '../support/shared-results.ts'

const service = await startServiceForFile()
const { db, deps } = service
/** Text in comments, notes, decisions, messages, and in names that only members who read everything may see. */
const CANARY = 'zzprivate'

type Get = (path: string) => Promise<{ status: number; text?: string; headers: Record<string, string> }>

const MAX_PAGES = 300

/** Opens every page that links, images, and forms lead to. @returns the texts found, each with its page, and the number of opened pages. */
async function crawl(get: Get, start: string, texts: string[], most = MAX_PAGES) {
  const seen = new Set([start])
  const hits: string[] = []
  let opened = 0
  for (const address of seen) {
    if (opened++ === most) break
    const { text = '', headers } = await get(address)
    const page = text.toLowerCase()
    hits.push(...texts.filter((one) => page.includes(one.toLowerCase())).map((one) => `${one} at ${address}`))
    if (!headers['content-type']?.startsWith('text/html')) continue
    for (const [, link] of text.matchAll(/(?:href|src|action)="(\/[^"#]*)/g)) seen.add(link!.replaceAll('&amp;', '&'))
  }
  return { hits, pages: seen.size }
}

/**
 * Creates an organization whose private fields all contain the canary: a submission that two graders grade blindly, and three released
 * results, of which a link shares two.
 */
async function setUp() {
  const made = await makeAnswers(service, ['An answer to grade'], { secondGrader: true })
  const organizationId = made.organization.id
  const admin = await signInAs(service, organizationId, ['admin'])
  const [grader, second] = [
    await signInAs(service, organizationId, ['grader']),
    await signInAs(service, organizationId, ['grader']),
  ]
  const [{ id: submissionId, inviteId }] = made.submissions as [{ id: string; inviteId: string }]
  await db.assessment.update({ where: { id: made.assessment.id }, data: { name: 'Internal', blindGrading: true } })
  const email = () => `${CANARY}-${deps.newId()}@example.com`
  await db.invite.update({
    where: { id: inviteId },
    data: {
      assessmentSession: submissionId,
      assignedGraderId: grader.member.id,
      recipientName: CANARY,
      recipientEmail: email(),
      externalId: CANARY,
    },
  })
  const decision = { decision: 'hold', decisionNote: CANARY, decidedAt: deps.clock(), decidedById: admin.member.id }
  await db.submission.update({ where: { id: submissionId }, data: { secondGraderId: second.member.id, ...decision } })
  const times = { createdAt: deps.clock(), updatedAt: deps.clock() }
  await db.grade.create({
    data: {
      ...{ id: deps.newId(), organizationId, submissionId, questionNumber: 1, graderId: second.member.id, round: 2 },
      ...{ points: 3, comment: CANARY, ...times },
    },
  })

  const support = await service.make.assessment(organizationId, { name: 'Support' })
  const people: { inviteId: string; submissionId: string }[] = []
  for (const recipientName of ['Ann Archer', 'Bea Baker', `${CANARY} third`]) {
    const invite = await service.make.invite(support, { recipientName, recipientEmail: email(), status: 'completed' })
    const of = { assessmentId: support.id, inviteId: invite.id, memberId: second.member.id, text: CANARY }
    const { id, mediaId } = await makeSharedResult(service, organizationId, of)
    const session = { assessmentSession: id, assignedGraderId: second.member.id }
    await db.invite.update({ where: { id: invite.id }, data: session })
    const note = { questionNumber: 2, mediaId, graderId: second.member.id, round: 1, startMs: 0, category: '', text: CANARY }
    await db.gradingNote.create({
      data: { id: deps.newId(), organizationId, submissionId: id, ...note, createdAt: deps.clock() },
    })
    // Clients may read the comment on the whole result, so it has no canary.
    await db.release.updateMany({ where: { submissionId: id }, data: { comment: 'A comment for clients' } })
    people.push({ inviteId: invite.id, submissionId: id })
  }
  const client = await signInAs(service, organizationId, ['client'])
  await db.assessmentClient.create({
    data: { organizationId, assessmentId: support.id, memberId: client.member.id, position: 0 },
  })
  await db.assessment.update({ where: { id: support.id }, data: { clientSees: ['answers', 'recordings', 'transcripts'] } })
  await admin.post(`${admin.home}settings/sharing`, { isOn: 'yes' })
  const id = people.slice(0, 2).map((person) => person.submissionId)
  const shared = await admin.post(`${admin.home}shares`, { id, receiver: 'Tom', days: '7', shows: ['answers', 'recordings'] })
  const sharePath = new URL(deps.links.shareUrl(shared.headers.location!.split('/').at(-1)!)).pathname
  const ann = await db.invite.findUniqueOrThrow({ where: { id: people[0]!.inviteId } })
  return { admin, grader, client, sharePath, candidatePath: candidateOf(service, ann).path }
}

it('shows private fields on no page that a grader, a client, the recipient of a link, or a candidate reaches', async () => {
  const { admin, grader, client, sharePath, candidatePath } = await setUp()
  const anybody: Get = (path) => service.http().get(path)
  const names = ['Ann Archer', 'Bea Baker']
  const transcript = 'Words that were said'

  // The crawl works: an admin, who reads everything, finds every private text.
  const all = await crawl(admin.get, `${admin.home}results`, [CANARY, ...names], 3)
  for (const text of [CANARY, ...names])
    expect(
      all.hits.some((hit) => hit.startsWith(text)),
      text,
    ).toBe(true)

  const byGrader = await crawl(grader.get, grader.home, [CANARY, ...names, 'My written answer', transcript])
  const byClient = await crawl(client.get, client.home, [CANARY, ...names, 'Internal', transcript])
  const byLink = await crawl(anybody, sharePath, [CANARY, ...names, 'Internal', transcript])
  const byCandidate = await crawl(anybody, candidatePath, [CANARY, 'Bea Baker', 'Internal', transcript])
  expect({ grader: byGrader.hits, client: byClient.hits, link: byLink.hits, candidate: byCandidate.hits }).toEqual({
    grader: [],
    client: [],
    link: [],
    candidate: [],
  })
  const pages = { admin: all, grader: byGrader, client: byClient, link: byLink, candidate: byCandidate }
  process.stdout.write(
    `pages: ${Object.entries(pages)
      .map(([who, one]) => `${who} ${one.pages}`)
      .join(', ')}\n`,
  )
  expect((await grader.get(`${grader.home}grading?queue=mine`)).text).toContain('Internal')
  expect(byClient.pages).toBeLessThan(MAX_PAGES)
  expect(Math.min(byGrader.pages, byClient.pages, byLink.pages)).toBeGreaterThan(4)
})
