import { candidateOf, consent, NO_REQUIREMENTS } from './candidate.ts'
import type { Service } from './service.ts'

type Question = Parameters<Service['make']['question']>[1]
export type Taken = {
  /** Seconds for the whole assessment. */
  timeLimit?: number
  /** Host to which the organization's recordings are sent for transcription. */
  transcriptionHost?: string
  questions?: Question[]
} & Parameters<Service['make']['invite']>[1]

/** Creates an accepted invite and its candidate. By default, the invite requires no checks, photos, or monitoring. */
export async function makeAccepted(
  service: Service,
  { timeLimit = 0, transcriptionHost, questions = [{}, {}], ...data }: Taken = {},
) {
  const { db } = service
  const organization = await service.make.organization()
  const organizationId = organization.id
  if (transcriptionHost) await db.organization.update({ where: { id: organizationId }, data: { transcriptionHost } })
  const assessment = await service.make.assessment(organizationId, { timeLimit })
  for (const [i, question] of questions.entries()) {
    await service.make.question(assessment, { order: i + 1, script: `What is ${i + 1}?`, ...question })
  }
  const invite = await service.make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS, ...data })
  return {
    organization,
    assessment,
    invite,
    candidate: candidateOf(service, invite),
    stored: () => db.invite.findUniqueOrThrow({ where: { id: invite.id } }),
    submission: () => db.submission.findFirstOrThrow({ where: { inviteId: invite.id }, orderBy: { id: 'desc' } }),
    paper: () => db.submissionQuestion.findMany({ where: { organizationId }, orderBy: { number: 'asc' } }),
    /** Returns the stored text answers, in the order of their questions. */
    texts: async () => {
      const takes = await db.answerAttempt.findMany({
        where: { organizationId, kind: 'text' },
        orderBy: { questionNumber: 'asc' },
      })
      return takes.map(({ text }) => text)
    },
  }
}

/** Creates an accepted invite like {@link makeAccepted}, starts the assessment, and opens a tab. */
export async function makeTaking(service: Service, of: Taken = {}) {
  const made = await makeAccepted(service, of)
  const { candidate } = made
  await consent(candidate)
  await candidate.press('start')
  const tab = await openTab(service, candidate)
  return { ...made, tab }
}

/** Opens another tab, which becomes the active one. @returns its id. */
export async function openTab(service: Service, candidate: ReturnType<typeof candidateOf>): Promise<string> {
  const tab = service.deps.newId()
  await candidate.session('post', '/tab', { body: { tab } })
  return tab
}
