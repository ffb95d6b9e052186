import { unsubscribe } from '../../../src/domain/invites/unsubscribe.ts'
import { signUnsubscribeToken } from '../../../src/domain/secrets/unsubscribe-tokens.ts'
import { candidateOf, consent } from '../candidate.ts'
import { examplesOf, makeDefined } from '../kinds.ts'
import { makeOpenLink } from '../open-links.ts'
import type { Service } from '../service.ts'
import { makeAccepted, makeTaking } from '../taking.ts'
import { listPages, type ShownPage } from './shown.ts'

const PREPARED = {
  script: 'Describe a conflict at work, and how you resolved it.',
  responseType: 'audio',
  points: 5,
  timeLimit: 120,
  preparationTime: 30,
}
const QUESTIONS = [
  {
    script: 'A caller has been waiting for twenty minutes and is angry. What do you say first?',
    responseType: 'text',
    points: 5,
  },
  { script: 'Tell us of a time when you changed your mind.', responseType: 'audio', points: 5, timeLimit: 120 },
]

/** Lists the candidate's pages from the invitation to the end, including a dead link. */
export async function listCandidatePages(service: Service): Promise<ShownPage[]> {
  const shown = { recipientName: 'Sam Rivera', customMessage: 'We look forward to hearing you.' }
  const accepted = (more: object = {}) => makeAccepted(service, { questions: QUESTIONS, timeLimit: 1_200, ...shown, ...more })
  const taking = (more: object = {}) =>
    makeTaking(service, { questions: QUESTIONS.slice(0, 1), timeLimit: 1_200, waivedChecks: ['microphone'], ...shown, ...more })
  const pathOf = ({ candidate }: { candidate: { path: string } }) => candidate.path
  const stopPathOf = ({ invite }: { invite: { id: string } }) => `/u/${signUnsubscribeToken(service.site.secretKeys, invite.id)}`

  const proctored = { screenRecording: true, webcamMonitoring: true, requireIdCapture: true, facePhotoRequired: true }
  const checked = await accepted(proctored)
  await consent(checked.candidate)
  const ready = await accepted({ questions: QUESTIONS.slice(0, 1) })
  await consent(ready.candidate)
  const writing = await taking()
  await writing.candidate.press('open', { number: '1' })
  const speaking = await taking({ questions: QUESTIONS.slice(1) })
  await speaking.candidate.press('open', { number: '1' })
  const preparing = await taking({ questions: [PREPARED] })
  await preparing.candidate.press('open', { number: '1' })
  const answered = await taking()
  await answered.candidate.press('open', { number: '1' })
  await answered.candidate.answer(1, 'I would say that I am sorry, and ask what happened.', 'next')
  const done = await taking()
  await done.candidate.press('open', { number: '1' })
  await done.candidate.answer(1, 'I would say that I am sorry.', 'next')
  await done.candidate.press('finish')
  await unsubscribe(service.system, done.invite.id, 'reminders')
  const practiced = await makeDefined(service, examplesOf('matching'), shown)
  await service.db.assessment.update({ where: { id: practiced.assessment.id }, data: { practice: true } })
  const openLink = await makeOpenLink(service, { assessment: { ...proctored, timeLimit: 1_200 } })
  const now = service.clock.now()
  const pages = listPages('anybody', '', {
    'open-link': openLink.path,
    invitation: pathOf(await accepted({ status: 'pending' })),
    consent: pathOf(await accepted(proctored)),
    checks: pathOf(checked),
    ready: pathOf(ready),
    practice: `${pathOf(practiced)}/practice`,
    'before-question': pathOf(await taking()),
    'before-prepared-question': pathOf(await taking({ questions: [PREPARED] })),
    preparing: pathOf(preparing),
    'text-question': pathOf(writing),
    'audio-question': pathOf(speaking),
    'hand-in': pathOf(answered),
    completed: pathOf(done),
    expired: pathOf(await accepted({ status: 'expired', expiresAt: now })),
    revoked: pathOf(await accepted({ status: 'revoked', revokedAt: now })),
    'stop-mails': stopPathOf(ready),
    'mails-stopped': stopPathOf(done),
    'mail-test': new URL(service.deps.links.testUrl()).pathname,
    'candidate-dead-link': candidateOf(service, { id: service.deps.newId(), linkVersion: 1 }).path,
  })
  await nameAsReal(service)
  return pages
}

/** Names for organizations, which must be unique. */
const NAMES = 'Harbour,Juniper,Meadow,Linden,Orchard,Beacon,Cobalt,Summit,Willow,Amber,Cedar,Granite,Heron,Maple'.split(',')

/** Replaces the generated names of assessments and organizations with realistic ones. */
async function nameAsReal({ db }: Service): Promise<void> {
  await db.assessment.updateMany({ where: { name: { startsWith: 'Assessment ' } }, data: { name: 'Customer support' } })
  const organizations = await db.organization.findMany({ where: { name: { startsWith: 'Organization ' } } })
  for (const [i, { id }] of organizations.entries())
    await db.organization.update({ where: { id }, data: { name: `${NAMES[i]} Talent` } })
}
